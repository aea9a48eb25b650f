"""Systems that run in this process: pipelines over the given documents, a model without any, and a simulated memory."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_embedders", "auditor_systems"]


@hookimpl
def auditor_systems() -> list[Offer]:
    """The kinds ``local-rag``, ``bare-model`` and ``simulated-memory``."""
    return [
        Offer("local-rag", "chunks, BM25 or vectors or both, a reader, a policy", "auditor_local.system:LocalRag"),
        Offer("bare-model", "a chat model without documents, as a baseline", "auditor_local.bare:BareModel"),
        Offer("simulated-memory", "SIMULATION of a model that guesses", "auditor_local.memory:SimulatedMemory"),
    ]


@hookimpl
def auditor_embedders() -> list[Offer]:
    """The embedder ``embeddings-endpoint``."""
    summary = "any endpoint that speaks the OpenAI embeddings API"
    return [Offer("embeddings-endpoint", summary, "auditor_local.endpoint:EmbeddingsEndpoint")]
