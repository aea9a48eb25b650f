"""Systems that run in this process and need no key: a lexical pipeline under two policies, and a simulated memory."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_systems"]


@hookimpl
def auditor_systems() -> list[Offer]:
    """The kinds ``local-rag`` and ``simulated-memory``."""
    return [
        Offer("local-rag", "recursive chunks, BM25, an extractive reader", "auditor_local.system:LocalRag"),
        Offer("simulated-memory", "SIMULATION of a model that guesses", "auditor_local.memory:SimulatedMemory"),
    ]
