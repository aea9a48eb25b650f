"""Systems under audit: the contract between the core and a provider plugin.

A provider plugin is 60–150 lines: it opens a store, asks one question in a fresh session, says what came back, and
names
the fault of each error. It does not retry, sleep, print, time, or know of any other vendor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from auditor.canonical import Json
from auditor.corpus import Corpus
from auditor.errors import CallError, Fault, FaultReport
from auditor.model import Completion, Limits, Message, TransportOutcome, Usage, Wire

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "Chunk",
    "Citation",
    "EmbedderPort",
    "EvidenceSupport",
    "ModelPort",
    "Ports",
    "Recorded",
    "Reply",
    "Request",
    "Store",
    "System",
    "SystemTraits",
    "Work",
]


class EvidenceSupport(StrEnum):
    """What evidence a system can report at all."""

    CHUNKS = "chunks"
    DOCUMENTS = "documents"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SystemTraits:
    """What a configured system declares of itself.

    ``grounded``: promises to answer from the corpus; a no-retrieval baseline does not and is exempt from the canary
    rule.
    ``simulated``: set to a plain sentence where the system only imitates a product; printed wherever it is named.
    ``memory``: whether the system could know an answer that its documents do not hold (an extractive reader cannot).
    """

    grounded: bool
    evidence: EvidenceSupport
    family: str | None = None
    reports_usage: bool = False
    reports_cost: bool = False
    takes_system_prompt: bool = True
    takes_temperature: bool = False
    takes_output_cap: bool = False
    memory: bool = True
    simulated: str = ""
    hosts: tuple[str, ...] = ()
    house_phrases: tuple[str, ...] = ()  # phrases that would tell a judge whose answer it is; scrubbed, literal
    endpoint: str | None = None  # what shares a rate limit; None: the system's own name
    knowledge_cutoff: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)  # release month, model line, parameters, base model


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrieved passage. Each field is None where the vendor does not report it."""

    text: str | None
    document: str | None = None
    score: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A source that the answer itself points to."""

    document: str
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """Facts of a recorded answer: the replay's latency and time stand in for the engine's.

    ``labels`` are the recording's own (grades, reviews): shown to no labeller but the label kind that names them.
    """

    latency_ms: Decimal | None = None
    time: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer, as it came. ``chunks`` and ``citations``: None is *not reported*, an empty tuple is *reported,
    none*.
    """

    outcome: TransportOutcome
    text: str = ""
    chunks: tuple[Chunk, ...] | None = None
    citations: tuple[Citation, ...] | None = None
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None
    model: str | None = None
    request_id: str | None = None
    sent: Mapping[str, Json] = field(default_factory=dict)
    raw: bytes = b""
    finish_reason: str | None = None
    capped: bool = False
    recorded: Recorded | None = None


class ModelPort(Protocol):
    """A chat model as a pipeline sees it: each call is a subtask of the engine, with its own slot, retries and
    entries.
    """

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Json] | None = None,
        limits: Limits | None = None,
    ) -> Completion:
        """One completion. Raises ``CallError`` when the model fails for good, ``Abandoned`` when the caller was
        given up.
        """


class EmbedderPort(Protocol):
    """An embedder as a pipeline sees it."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The models that a pipeline was configured with, by the name that the spec gives them."""

    models: Mapping[str, ModelPort] = field(default_factory=dict)
    embedders: Mapping[str, EmbedderPort] = field(default_factory=dict)


def _no_wire() -> Any:
    from contextlib import nullcontext

    return nullcontext()


@dataclass(frozen=True, slots=True)
class Request:
    """All that a system is told. No id, reference, kind, proof, tag or expected code of the question is in it.

    ``text``: the question as it goes on the wire. ``prompt``: instructions, the same for all systems.
    ``settings``: the condition's tags (retrieval, k, thinking …). ``opaque_id`` derives from the run's key; it says
    nothing.
    """

    text: str
    prompt: str
    limits: Limits
    opaque_id: str
    attempt: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)
    ports: Ports = field(default_factory=Ports)
    wire: Wire = _no_wire


@dataclass(frozen=True, slots=True)
class Store:
    """What ``open`` hands back and ``ask`` is given.

    ``observed`` is what the world says of it (a listing, counts): an entry of the ledger, compared at each resume.
    ``handle`` is the plugin's own object; it never leaves the process.
    """

    id: str
    observed: Mapping[str, Json] = field(default_factory=dict)
    handle: Any = None


class Work(Protocol):
    """What ``open`` and ``close`` work with. The plugin neither sleeps nor retries: the engine does."""

    @property
    def store_name(self) -> str:
        """A name unique to this run, for what the plugin creates at the vendor."""

    @property
    def cache(self) -> Path:
        """A folder for files that can be made again (vectors), named by digest."""

    @property
    def earlier(self) -> Mapping[str, Json]:
        """Results of the steps of this store that are in the ledger, by step key."""

    @property
    def ports(self) -> Ports:
        """Models and embedders."""

    def call(self, key: str, fn: Callable[[], Json]) -> Json:
        """Run one step as a task of the engine (slot, rate, retry, ledger); an earlier result is returned as it
        stands.
        """

    def poll(self, key: str, fn: Callable[[], Json], *, deadline_s: float) -> Json:
        """Run ``fn`` until it returns other than None; past the deadline raises ``CallError`` with its last answer."""


class System(ABC):
    """One configured system. ``ask`` is called from several threads at once and keeps no state of a call."""

    config_model: ClassVar[type[BaseModel]]

    def __init__(self, config: Any) -> None:
        self.config = config

    @property
    @abstractmethod
    def traits(self) -> SystemTraits:
        """What this configuration declares."""

    @property
    def inputs(self) -> Mapping[str, str]:
        """Digests of files outside the corpus that answers depend on (a recording, a memory), by name; hashed into
        the protocol.
        """
        return {}

    @abstractmethod
    def open(self, corpus: Corpus, work: Work) -> Store:
        """Create the store, upload unchanged, wait, verify; or take an existing store as it stands."""

    @abstractmethod
    def ask(self, store: Store, request: Request) -> Reply:
        """One fresh session, one answer. Wrap the answering call in ``with request.wire():``."""

    def close(self, store: Store, work: Work) -> None:
        """Delete everything that ``open`` made."""
        return None

    def leftovers(self, work: Work) -> Sequence[str]:
        """Ids of stores at the vendor that carry this project's prefix."""
        return ()

    def delete(self, store_id: str, work: Work) -> None:
        """Delete one store by id."""
        return None

    def classify(self, error: BaseException) -> FaultReport:
        """The fault of an error that ``open``, ``ask`` or ``close`` raised; exactly one."""
        if isinstance(error, CallError):
            return error.report
        return FaultReport(Fault.INTERNAL, f"{type(error).__name__}: {error}")
