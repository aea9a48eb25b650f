"""A chat model that reads the candidate in its prompt and votes ``correct`` where the candidate says ``right``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from auditor.canonical import Json
from auditor.model import ChatModel, Completion, Limits, Message, ModelTraits, TransportOutcome, Wire


class StubChatConfig(BaseModel):
    """``family`` and a fixed reply."""

    family: str = "stub"
    reply: str | None = None


class StubChat(ChatModel):
    config_model = StubChatConfig

    def __init__(self, config: Any) -> None:
        self.config: StubChatConfig = config

    @property
    def traits(self) -> ModelTraits:
        return ModelTraits(self.config.family)

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Json] | None, limits: Limits, wire: Wire
    ) -> Completion:
        with wire():
            reply = self.config.reply
            if reply is None:
                reply = '{"verdict": "correct"}' if "right" in messages[-1].content else '{"verdict": "incorrect"}'
        return Completion(TransportOutcome.TEXT, reply, model=f"{self.config.family}-1")
