"""Chat models, embedders and rerankers: the contract of everything that completes, embeds or orders text.

A judge, a stance classifier, a generator, a verifier and a pipeline's reader all use ``ChatModel``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from auditor.canonical import Json
from auditor.errors import CallError, Fault, FaultReport

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "ChatModel",
    "Completion",
    "Embedder",
    "Limits",
    "Message",
    "ModelTraits",
    "Reranker",
    "Role",
    "TransportOutcome",
    "Usage",
    "Wire",
    "family_key",
]


class TransportOutcome(StrEnum):
    """What became of one call (METHODS §1). Only ``TEXT`` is ever labelled; none of the others is an abstention."""

    TEXT = "text"
    EMPTY = "empty"
    BLOCKED = "blocked"
    TRUNCATED = "truncated"
    FAILED = "failed"
    QUOTA_EXHAUSTED = "quota_exhausted"


class Role(StrEnum):
    """Who speaks in a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may use. ``output_tokens``: None where the vendor's own cap stands."""

    output_tokens: int | None = None
    deadline_s: float = 120.0
    temperature: Decimal | None = Decimal(0)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the vendor reports them; None is *not reported*, never 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    tool_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ModelTraits:
    """What a model declares. ``family`` is its lineage (``openai``, ``anthropic`` …; ``embedded:<method>``), not
    its host.
    """

    family: str
    hosts: tuple[str, ...] = ()
    endpoint: str | None = None  # what shares a rate limit; None: the configured name
    metadata: Mapping[str, str] = field(default_factory=dict)  # licence of the weights, parameters; in the protocol


def family_key(family: str) -> str:
    """One form of a family's name: ``OpenAI`` and `` openai`` are one lineage."""
    return " ".join(family.casefold().split())


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply of a chat model. ``sent`` is what went on the wire, dropped parameters named; ``model`` as the
    vendor says.
    """

    outcome: TransportOutcome
    text: str = ""
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None
    model: str | None = None
    request_id: str | None = None
    sent: Mapping[str, Json] = field(default_factory=dict)
    raw: bytes = b""
    finish_reason: str | None = None
    capped: bool = False


class Wire(Protocol):
    """Marks the answering call of a task, so that its latency excludes everything else the plugin does."""

    def __call__(self) -> AbstractContextManager[None]: ...


class ChatModel(ABC):
    """One configured chat model. Called from several threads at once; keeps no state of a call."""

    @property
    @abstractmethod
    def traits(self) -> ModelTraits:
        """Lineage and hosts."""

    @property
    def inputs(self) -> Mapping[str, str]:
        """Digests of files that replies depend on (weights), by name; hashed into the protocol."""
        return {}

    @abstractmethod
    def complete(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Json] | None,
        limits: Limits,
        wire: Wire,
    ) -> Completion:
        """One completion: no retry, no sleep, no print, no timing. Wrap the answering call in ``with wire():``."""

    def classify(self, error: BaseException) -> FaultReport:
        """The fault of an error that ``complete`` raised."""
        return FaultReport(Fault.INTERNAL, f"{type(error).__name__}: {error}")


class Embedder(ABC):
    """Turns texts into vectors of one length. Called from several threads at once; keeps no state of a call.

    ``config_model``: None for one that takes no configuration.
    """

    config_model: ClassVar[type[BaseModel] | None] = None

    def __init__(self, config: Any = None) -> None:
        self.config = config

    @property
    def inputs(self) -> Mapping[str, str]:
        """Digests of files that vectors depend on (weights), by name; hashed into the protocol."""
        return {}

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, in order."""

    def classify(self, error: BaseException) -> FaultReport:
        """The fault of an error that ``embed`` raised."""
        if isinstance(error, CallError):
            return error.report
        return FaultReport(Fault.INTERNAL, f"{type(error).__name__}: {error}")


class Reranker(ABC):
    """Orders passages by how well they answer a query."""

    @abstractmethod
    def rerank(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """One score a passage, in order; higher is better."""
