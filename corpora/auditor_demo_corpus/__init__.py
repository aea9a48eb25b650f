"""The demo: documents of a company that does not exist, questions, canaries with proofs, and the spec."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_bundled_specs"]


@hookimpl
def auditor_bundled_specs() -> list[Offer]:
    """The specs ``demo`` and ``demo-llm``."""
    return [
        Offer("demo", "local pipelines over documents; no key, no network", "auditor_demo_corpus.bundle:demo"),
        Offer("demo-llm", "a small language model on the same documents", "auditor_demo_corpus.bundle:demo_llm"),
    ]
