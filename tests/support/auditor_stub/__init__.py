"""A plugin for tests of whole runs: a system that does as its script says, three judges, a stance classifier."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl


@hookimpl
def auditor_systems() -> list[Offer]:
    return [Offer("stub", "does as its script says", "auditor_stub.system:StubSystem")]


@hookimpl
def auditor_judges() -> list[Offer]:
    return [Offer(f"stub-{seat}", "votes by exact match", f"auditor_stub.judge:Judge{seat.upper()}") for seat in "abc"]


@hookimpl
def auditor_stance_classifiers() -> list[Offer]:
    return [Offer("stub-stance", "reads the first words", "auditor_stub.judge:Stance")]


@hookimpl
def auditor_chat_models() -> list[Offer]:
    return [Offer("stub-chat", "votes by the words of the candidate", "auditor_stub.model:StubChat")]
