"""Acme's chat model, embedder and reranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from auditor.canonical import Json
from auditor.model import (
    ChatModel,
    Completion,
    Embedder,
    Limits,
    Message,
    ModelTraits,
    Reranker,
    TransportOutcome,
    Wire,
)


class AcmeChatConfig(BaseModel):
    """``says``: the one reply."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    says: str = "hello"


class AcmeChat(ChatModel):
    """Says one thing."""

    config_model = AcmeChatConfig

    def __init__(self, config: AcmeChatConfig) -> None:
        self.config = config

    @property
    def traits(self) -> ModelTraits:
        """A family of its own."""
        return ModelTraits("acme")

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Json] | None, limits: Limits, wire: Wire
    ) -> Completion:
        """The canned reply."""
        with wire():
            return Completion(TransportOutcome.TEXT, self.config.says)


class AcmeVowels(Embedder):
    """Counts vowels."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Five counts a text."""
        return [[float(text.count(vowel)) for vowel in "aeiou"] for text in texts]


class AcmeShort(Reranker):
    """Prefers short passages."""

    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Minus the length."""
        return [-float(len(passage)) for passage in passages]
