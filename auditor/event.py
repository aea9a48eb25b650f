"""Events: what observers are told while a run goes on. One frozen object a kind, so that fields can be added."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CallEnded",
    "Event",
    "RunEnded",
    "RunStarted",
    "StageEnded",
    "StageProgress",
    "StageStarted",
]


@dataclass(frozen=True, slots=True)
class Event:
    """Root of all events. ``run``: the run folder's name."""

    run: str


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """The protocol is frozen and the folder locked."""

    resumed: bool


@dataclass(frozen=True, slots=True)
class StageStarted(Event):
    """A stage (open, ask, label:<kind>, analyse, write) begins. ``total`` tasks, ``done`` of them already in the
    ledger.
    """

    stage: str
    total: int
    done: int


@dataclass(frozen=True, slots=True)
class StageProgress(Event):
    """Tasks ended so far. ``rate_per_s`` and ``remaining_s`` are None until there is something to measure."""

    stage: str
    done: int
    total: int
    failed: int
    rate_per_s: float | None
    remaining_s: float | None


@dataclass(frozen=True, slots=True)
class StageEnded(Event):
    """A stage is over."""

    stage: str
    done: int
    total: int
    failed: int


@dataclass(frozen=True, slots=True)
class CallEnded(Event):
    """One call to an endpoint ended. ``fault`` is empty on success."""

    key: str
    endpoint: str
    attempt: int
    fault: str
    latency_ms: float


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """Findings are written. ``complete``: no cell is left unasked."""

    complete: bool
