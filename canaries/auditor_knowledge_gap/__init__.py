"""Proofs, without a model, that the answer of a question is nowhere in a corpus."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_canary_builders"]


@hookimpl
def auditor_canary_builders() -> list[Offer]:
    """The prover."""
    summary = "proves that an answer, or a made-up name, is nowhere in the corpus"
    return [Offer("knowledge-gap", summary, "auditor_knowledge_gap.builder:KnowledgeGap")]
