"""A language model in this process: any GGUF file, no key, no network (extra ``llm``)."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_chat_models"]


@hookimpl
def auditor_chat_models() -> list[Offer]:
    """The chat model ``local-llm``."""
    return [Offer("local-llm", "a GGUF file, run in this process (extra llm)", "auditor_llm.model:LocalLlm")]
