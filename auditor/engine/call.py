"""One attempt of one task, as the function that makes the call sees it.

Invariant: who claims an attempt decides it. The thread that makes the call and the timer that gives it up both claim;
the first wins, so an attempt has one outcome, and what the loser brings is late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from auditor.engine.endpoint import EndpointLimits
from auditor.engine.task import Encoded, Stored, Task, attempt_key
from auditor.errors import Abandoned, Fault, FaultReport

if TYPE_CHECKING:
    from auditor.engine.batch import Batch
    from auditor.engine.pool import Pool

__all__ = ["Call"]

T = TypeVar("T")


def _no_cost(value: Any) -> Decimal | None:
    return None


class Call:
    """One attempt. ``key`` is the task's, ``attempt`` counts from 1, ``deadline_s`` is what the whole attempt may take.

    The clock of an attempt stands still while it waits or retries in a port (``paused_s``), and so does that of the
    attempt that it is nested in.
    """

    __slots__ = (
        "_claims",
        "_ordinals",
        "_pool",
        "abandoned",
        "attempt",
        "batch",
        "deadline_s",
        "eligible_s",
        "excluded_s",
        "flown_s",
        "holds_slot",
        "key",
        "lane_name",
        "limits",
        "parent",
        "paused_s",
        "port_errors",
        "resend",
        "started_s",
        "task",
        "tries",
        "wire_depth",
        "wire_s",
        "wired",
    )

    def __init__(
        self,
        pool: Pool,
        task: Task[Any],
        *,
        batch: Batch | None,
        attempt: int,
        tries: int,
        resend: int,
        limits: EndpointLimits,
        eligible_s: float,
        parent: Call | None = None,
    ) -> None:
        self._pool, self.task, self.batch, self.parent = pool, task, batch, parent
        self.lane_name = task.endpoint
        self.key, self.attempt, self.tries, self.resend = task.key, attempt, tries, resend
        self.limits, self.deadline_s, self.eligible_s = limits, limits.deadline_s, eligible_s
        self.started_s = self.excluded_s = self.wire_s = self.flown_s = 0.0
        self.paused_s: float | None = None
        self.abandoned = self.holds_slot = self.wired = False
        self.wire_depth = 0
        self._claims = [None]
        self._ordinals: dict[str, int] | None = None
        self.port_errors: list[BaseException] | None = None

    @property
    def attempt_key(self) -> str:
        """The ledger key of this attempt."""
        return attempt_key(self.key, self.attempt)

    def claim(self) -> bool:
        """Whether the caller is the first to decide this attempt."""
        try:
            self._claims.pop()  # atomic: the engine's lock is not needed
        except IndexError:
            return False
        return True

    @contextmanager
    def wire(self) -> Iterator[None]:
        """Mark the answering call: latency is the time within. Marked twice in a row, the times add up."""
        self.wire_depth += 1
        now_s, excluded_s = self._pool.clock.monotonic(), self.excluded_s
        try:
            yield
        finally:
            self.wire_depth -= 1
            if self.wire_depth == 0:
                self.wired = True
                self.wire_s += self._pool.clock.monotonic() - now_s - (self.excluded_s - excluded_s)

    def elapsed_s(self, now_s: float) -> float:
        """Time used so far, without what it spent queued or retrying in ports."""
        return (now_s if self.paused_s is None else self.paused_s) - self.started_s - self.excluded_s

    def latency_s(self, now_s: float) -> float:
        """Time of the answering call, or of all of ``run`` where none was marked."""
        return self.wire_s if self.wired else self.elapsed_s(now_s)

    def next_ordinal(self, port: str) -> int:
        """How many calls this attempt made through ``port`` before."""
        if self._ordinals is None:
            self._ordinals = {}
        ordinal = self._ordinals.get(port, 0)
        self._ordinals[port] = ordinal + 1
        return ordinal

    def lineage(self) -> Iterator[Call]:
        """This attempt and those it is nested in."""
        call: Call | None = self
        while call is not None:
            yield call
            call = call.parent

    def pause(self, now_s: float) -> None:
        """Stop the clocks: what follows is queueing, not calling."""
        for call in self.lineage():
            if call.paused_s is None:
                call.paused_s = now_s

    def resume(self, now_s: float) -> None:
        """Let the clocks run again."""
        for call in self.lineage():
            if call.paused_s is not None:
                call.excluded_s += now_s - call.paused_s
                call.paused_s = None

    def exclude(self, seconds: float) -> None:
        """Take ``seconds`` off the clocks; below 0 they are put on."""
        for call in self.lineage():
            call.excluded_s += seconds

    def refuse_abandoned(self) -> None:
        """Raise ``Abandoned`` when this attempt, or one it is nested in, was given up."""
        if any(call.abandoned for call in self.lineage()):
            raise Abandoned(FaultReport(Fault.TIMEOUT, "the call was given up; its ports are closed"))

    def subtask(
        self,
        endpoint: str,
        port: str,
        input: str,
        run: Callable[[Call], T],
        encode: Callable[[T, str], Encoded],
        classify: Callable[[BaseException], FaultReport],
        decode: Callable[[Stored], T],
        *,
        cost_usd: Callable[[T], Decimal | None] = _no_cost,
        recorded_latency_ms: Callable[[T], Decimal | None] = _no_cost,
        tokens: int = 0,
    ) -> T:
        """Make a nested call in this thread, with its own slot, rate, retries and entries, while this one's slot is
        given back.

        Keyed by (this attempt, ``port``, ordinal). After a kill a call that the ledger holds under the same ``input``
        is not made again: ``decode`` turns its outcome into the value, and its recorded latency is counted.
        Raises ``CallError`` when it fails for good and ``Abandoned`` when this attempt was given up.
        """
        self.refuse_abandoned()
        from auditor.engine.nested import nest

        key = f"{self.attempt_key}/{port}/{self.next_ordinal(port)}"
        task = Task(
            key, endpoint, input, run, encode, classify,
            cost_usd=cost_usd, recorded_latency_ms=recorded_latency_ms, tokens=tokens,
        )  # fmt: skip
        return nest(self._pool, self, task, decode)
