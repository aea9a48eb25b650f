"""The demo: documents of a company that does not exist, questions, canaries with proofs, and the spec."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_bundled_specs"]


@hookimpl
def auditor_bundled_specs() -> list[Offer]:
    """The spec ``demo``."""
    summary = "three local systems on a small corpus; no key, no network"
    return [Offer("demo", summary, "auditor_demo_corpus.bundle:demo")]
