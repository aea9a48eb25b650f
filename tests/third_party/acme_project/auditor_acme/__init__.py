"""A third party's plugin that implements every hook once. What it offers is imported when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.plugin import Offer, hookimpl

if TYPE_CHECKING:
    from auditor.event import Event

HEARD: list[Event] = []


@hookimpl
def auditor_systems() -> list[Offer]:
    """A system that looks the question's words up in the documents."""
    return [Offer("acme-search", "Acme search: the line that shares most words", "auditor_acme.system:AcmeSearch")]


@hookimpl
def auditor_chat_models() -> list[Offer]:
    """A chat model that says one thing."""
    return [Offer("acme-chat", "Acme chat: one canned reply", "auditor_acme.model:AcmeChat")]


@hookimpl
def auditor_embedders() -> list[Offer]:
    """An embedder that counts vowels."""
    return [Offer("acme-vowels", "Acme vowels: five counts a text", "auditor_acme.model:AcmeVowels")]


@hookimpl
def auditor_rerankers() -> list[Offer]:
    """A reranker that prefers short passages."""
    return [Offer("acme-short", "Acme short: the shorter, the better", "auditor_acme.model:AcmeShort")]


@hookimpl
def auditor_judges() -> list[Offer]:
    """A judge that looks for the reference in the candidate."""
    return [Offer("acme-contains", "Acme contains: is the reference in it?", "auditor_acme.label:AcmeJudge")]


@hookimpl
def auditor_stance_classifiers() -> list[Offer]:
    """A stance classifier that knows one sentence."""
    return [Offer("acme-stance", "Acme stance: knows one sentence", "auditor_acme.label:AcmeStance")]


@hookimpl
def auditor_label_kinds() -> list[Offer]:
    """A label: is the answer long?"""
    return [Offer("acme-length", "Acme length: short or long", "auditor_acme.label:AcmeLength")]


@hookimpl
def auditor_analyses() -> list[Offer]:
    """An analysis that counts states."""
    return [Offer("acme-states", "Acme states: trials by state", "auditor_acme.analysis:AcmeStates")]


@hookimpl
def auditor_corpus_sources() -> list[Offer]:
    """Documents written in the spec itself."""
    return [Offer("acme-inline", "Acme inline: documents in the spec", "auditor_acme.source:AcmeInline")]


@hookimpl
def auditor_question_sources() -> list[Offer]:
    """Questions written in the spec itself."""
    return [Offer("acme-asked", "Acme asked: questions in the spec", "auditor_acme.source:AcmeAsked")]


@hookimpl
def auditor_canary_builders() -> list[Offer]:
    """A prover that looks for the reference as it is written."""
    return [Offer("acme-prover", "Acme prover: exact text only", "auditor_acme.source:AcmeProver")]


@hookimpl
def auditor_report_writers() -> list[Offer]:
    """A writer of section titles."""
    return [Offer("acme-titles", "Acme titles: one line a section", "auditor_acme.writer:AcmeTitles")]


@hookimpl
def auditor_importers() -> list[Offer]:
    """An importer of tab-separated transcripts."""
    return [Offer("acme-tsv", "Acme TSV: question, tab, answer", "auditor_acme.source:AcmeImporter")]


@hookimpl
def auditor_bundled_specs() -> list[Offer]:
    """A spec of this package."""
    return [Offer("acme", "Acme search over two documents", "auditor_acme.source:spec_path")]


@hookimpl
def auditor_sandboxes() -> list[Offer]:
    """A twin that serves nothing."""
    return [Offer("acme-search", "Acme search has no service to imitate", "auditor_acme.source:AcmeSandbox")]


@hookimpl
def auditor_commands() -> list[Offer]:
    """A command that greets."""
    return [Offer("acme-hello", "Say hello from Acme", "auditor_acme.command:hello")]


@hookimpl
def auditor_on_event(event: Event) -> None:
    """Remember every event."""
    HEARD.append(event)
