"""Tasks: what the engine is asked to do, what the ledger already says of it, and how it ended.

Invariant: a task's key names it in every process that works on the run, and its ``input`` is the digest of all that
the call depends on, so an outcome can never be read as that of another system or another question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from auditor.canonical import Json
from auditor.errors import FaultReport
from auditor.ledger import Entry, Row

if TYPE_CHECKING:
    from auditor.engine.call import Call

__all__ = ["Encoded", "Ended", "History", "Readable", "StageResult", "Stored", "Task", "attempt_key", "read_histories"]

T = TypeVar("T")


def attempt_key(task: str, attempt: int) -> str:
    """The ledger key of one attempt, counted from 1."""
    return f"{task}#{attempt}"


def _unknown(value: Any) -> Decimal | None:
    return None


class Readable(Protocol):
    """What is read of a ledger."""

    def get(self, kind: str, key: str) -> Row | None:
        """One row."""

    def rows(self, kind: str | None = None) -> Any:
        """Rows in their order."""


@dataclass(frozen=True, slots=True)
class History:
    """What the ledger says of a task.

    ``attempts``: highest attempt that has an intent. ``open_intent``: that attempt has no outcome, so it was perhaps
    sent. ``resends``: how often it was already sent again. ``spent``: attempts that count against the limit; those
    before the last seal do not, since whoever asks again under a new seal grants new ones. ``again``: the last
    outcome announced a further attempt. ``input``: of the last intent.
    """

    attempts: int = 0
    open_intent: bool = False
    resends: int = 0
    spent: int = 0
    again: bool = False
    fault: str | None = None
    input: str | None = None

    @property
    def ended(self) -> bool:
        """Whether the last attempt decides: it has an outcome, and no further attempt was due."""
        return self.attempts > 0 and not self.open_intent and not self.again


@dataclass(frozen=True, slots=True)
class Encoded:
    """A value as the ledger keeps it: its text entries, and the fields of its outcome. Decimals are text.

    A ``latency_ms`` in ``body`` stands in for the measured one (None: a recording that holds none).
    """

    entries: tuple[Entry, ...] = ()
    body: Mapping[str, Json] = field(default_factory=dict)
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """An outcome as it stands in the ledger, for those who turn it back into a value."""

    key: str
    body: Mapping[str, Json]
    ledger: Readable

    def entry(self, role: str) -> Row | None:
        """The text entry ``<attempt key>/<role>``."""
        return self.ledger.get("text", f"{self.key}/{role}")


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """One unit of work for one endpoint.

    ``run`` makes one call: it does not retry, sleep or time. ``encode(value, attempt key)`` and ``classify(error)``
    are pure. ``recorded_latency_ms``: the latency of a recording, which stands in for the measured one. ``tokens``:
    an estimate, for the endpoint's token rate.
    """

    key: str
    endpoint: str
    input: str
    run: Callable[[Call], T]
    encode: Callable[[T, str], Encoded]
    classify: Callable[[BaseException], FaultReport]
    history: History = History()
    cost_usd: Callable[[T], Decimal | None] = _unknown
    recorded_latency_ms: Callable[[T], Decimal | None] = _unknown
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Ended(Generic[T]):
    """How a task ended: exactly one of ``value`` and ``report`` says what came of its last attempt.

    ``latency_ms``: of the successful wire call alone; None for a failure. ``queued_ms``: from when the attempt could
    have gone until it went. ``resent``: an earlier process perhaps sent it already.
    """

    key: str
    attempt: int
    value: T | None
    report: FaultReport | None
    latency_ms: Decimal | None
    queued_ms: Decimal
    resent: bool = False


@dataclass(frozen=True, slots=True)
class StageResult:
    """``unasked``: reason by task key. ``stopped``: reason by endpoint. No task is in both, each is in one."""

    ended: Mapping[str, Ended[Any]]
    unasked: Mapping[str, str]
    stopped: Mapping[str, str]


def read_histories(ledger: Readable) -> Mapping[str, History]:
    """What the ledger says of every task in it, nested ones included, by task key."""
    sealed = max((row.sequence for row in ledger.rows("seal")), default=0)
    found: dict[str, dict[str, Any]] = {}
    for row in ledger.rows("intent"):
        task, _, number = row.key.rpartition("#")
        state = found.setdefault(task, {"spent": 0, "attempts": 0})
        state["spent"] += row.sequence > sealed
        if int(number) > state["attempts"]:
            body = row.body or {}
            state.update(attempts=int(number), open_intent=True, resends=0, input=body.get("input"))
    for row in ledger.rows("resend"):
        task, _, number = row.key.rpartition("#")
        attempt, _, times = number.partition(".")
        state = found[task]
        if int(attempt) == state["attempts"]:
            state["resends"] = max(state["resends"], int(times))
    for row in ledger.rows("outcome"):
        task, _, number = row.key.rpartition("#")
        if task in found and int(number) == found[task]["attempts"]:
            body = row.body or {}
            found[task].update(open_intent=False, again="retry_s" in body, fault=body.get("fault"))
    return {task: History(**state) for task, state in found.items()}
