"""The engine: every call of every feature goes through it, by the same rules for every endpoint.

Invariant: ``run`` returns only what is on the disk, each result under its own task's key.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from auditor.engine.batch import Batch
from auditor.engine.budget import Budget
from auditor.engine.call import Call
from auditor.engine.clock import Clock, SystemClock
from auditor.engine.endpoint import Endpoint
from auditor.engine.nested import park, sleep, unpark
from auditor.engine.pool import INTERRUPTED, SHUTDOWN, Pool, Writable
from auditor.engine.task import StageResult, Task
from auditor.errors import Abandoned, CallError, ConfigurationError, Fault, FaultReport
from auditor.event import Event, StageEnded, StageProgress, StageStarted

__all__ = ["Engine"]

T = TypeVar("T")
_LOOK_S = 0.1
_PROGRESS_S = 0.2
_SWITCH_S = 0.001


def _same(text: str) -> str:
    return text


class Engine:
    """One pool of daemon threads for all endpoints.

    :param seed: of the jitter in retry waits. :param budget: caps the known cost; no cap by default.
    :param observe: told of events, from the thread that runs the stage. :param run_deadline_s: counted from now; past
        it every call is given up and stays "perhaps sent". :param probe: called at "after-intent", "on-wire" and
        "before-outcome" with the attempt's key, for tests that kill the process there.
    :param redact: applied to vendors' error messages before they are written.

    Daemon threads do not end a process that a call holds up: after Ctrl-C call ``shutdown``, close the ledger and leave
    by ``os._exit``.
    """

    def __init__(
        self,
        ledger: Writable,
        endpoints: Mapping[str, Endpoint],
        *,
        clock: Clock | None = None,
        seed: int,
        budget: Budget | None = None,
        observe: Callable[[Event], None] | None = None,
        run_name: str = "",
        run_deadline_s: float | None = None,
        probe: Callable[[str, str], None] | None = None,
        redact: Callable[[str], str] = _same,
    ) -> None:
        self.clock = SystemClock() if clock is None else clock
        self.budget = Budget() if budget is None else budget
        self._ledger, self._observe, self._run_name = ledger, observe, run_name
        self._events: deque[Event] = deque()
        self._thread = threading.get_ident()
        self._pool = Pool(
            ledger,
            [Endpoint(name, endpoint.limits) for name, endpoint in endpoints.items()],
            self.clock,
            seed=seed,
            budget=self.budget,
            probe=probe,
            redact=redact,
            events=None if observe is None else self._events,
            run_name=run_name,
            run_deadline_s=run_deadline_s,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown(0.0 if kind is not None else 5.0)

    @property
    def busy(self) -> bool:
        """Whether a call is on the wire or its outcome on the way to the ledger."""
        return self._pool.busy

    @property
    def stop_reason(self) -> str:
        """Why no further call starts; empty while they do."""
        return self._pool.stop_reason

    @property
    def stopped(self) -> Mapping[str, str]:
        """Endpoints that are called no more, with the reason."""
        return {name: lane.stop_reason for name, lane in self._pool.lanes.items() if lane.stop_report is not None}

    def concurrency(self, endpoint: str) -> int:
        """How many calls the endpoint may have on the wire now: its slots, less what 429s took away."""
        return self._pool.lanes[endpoint].limit

    def run(self, stage: str, tasks: Sequence[Task[Any]], *, done: int = 0) -> StageResult:
        """Run tasks to their end. ``done``: how many more the ledger holds already, for progress.

        Call it from the run's own thread, also inside a running event loop, which it blocks. ``KeyboardInterrupt``
        comes through at once, whatever the calls are doing. Raises ``StorageError`` when the ledger takes no more.
        """
        self._check(tasks)
        batch, started_s = Batch(len(tasks)), time.perf_counter()
        total = len(tasks) + done
        self._emit(StageStarted(self._run_name, stage, total, done))
        # The ledger's thread gives the interpreter lock away at each statement, and at the default of 5 ms it waits
        # for quick calls longer than for the disk.
        interval_s = sys.getswitchinterval()
        sys.setswitchinterval(min(interval_s, _SWITCH_S))
        try:
            self._pool.offer(batch, tasks)
            shown_s, shown = started_s, 0
            while not self._over(batch, _LOOK_S):
                self._drain()
                now_s = time.perf_counter()
                if now_s - shown_s >= _PROGRESS_S and batch.done != shown:
                    shown_s, shown = now_s, batch.done
                    self._emit(self._progress(stage, batch, done, now_s - started_s))
            self.flush()
        except BaseException:
            self.stop(INTERRUPTED)
            raise
        finally:
            sys.setswitchinterval(interval_s)
            self._pool.withdraw(batch)
        self._drain()
        self._emit(StageEnded(self._run_name, stage, batch.done + done, total, batch.failed))
        return StageResult(dict(batch.ended), dict(batch.unasked), self.stopped)

    def call(self, task: Task[T]) -> T:
        """Run one task and wait for its value, from any thread. Raises ``CallError`` when it fails for good.

        From within another call (a step of a store that is opened as a task), that call's slot is given back and its
        clock stands still meanwhile. Raises ``Abandoned`` when the engine stops.
        """
        self._check([task])
        current = self._pool.current_call()
        batch = Batch(1)
        if current is not None:
            park(self._pool, current)
        try:
            self._pool.offer(batch, [task])
            while not self._over(batch, None):
                pass
        finally:
            self._pool.withdraw(batch)
            if current is not None:
                unpark(self._pool, current)
        self._raise_failure()
        if threading.get_ident() == self._thread and current is None:
            self._drain()
        return self._value(task, batch)

    def flush(self) -> None:
        """Wait until all outcomes so far are on the disk. Raises ``StorageError`` when the ledger takes no more."""
        self._raise_failure()
        self._ledger.flush()

    def current_call(self) -> Call | None:
        """The call that this thread is making, if any."""
        return self._pool.current_call()

    def sleep(self, seconds: float) -> None:
        """Wait on the engine's clock, holding no slot. Raises ``Abandoned`` when the engine stops meanwhile."""
        current = self._pool.current_call()
        if current is None:
            sleep(self._pool, seconds)
            return
        park(self._pool, current)
        try:
            sleep(self._pool, seconds)
        finally:
            unpark(self._pool, current)

    def stop(self, reason: str) -> None:
        """Start no further call; those in flight end and are recorded."""
        self._pool.stop(reason)

    def shutdown(self, timeout_s: float = 5.0) -> bool:
        """Stop, wait for calls in flight at most ``timeout_s``, and write nothing after that.

        Returns whether all had ended. What had not stays an open intent: "perhaps sent" for the next process. Call it
        before the ledger is sealed: a late reply would follow the seal.
        """
        self._pool.stop(SHUTDOWN)
        until_s = time.perf_counter() + timeout_s
        while self._pool.busy and time.perf_counter() < until_s:
            time.sleep(0.005)
        ended = not self._pool.busy
        self._pool.shut()
        return ended

    def _over(self, batch: Batch, timeout_s: float | None) -> bool:
        return batch.wait(timeout_s) or self._pool.failure is not None

    def _value(self, task: Task[T], batch: Batch) -> T:
        ended = batch.ended.get(task.key)
        if ended is None:
            report = self._pool.lanes[task.endpoint].stop_report
            if report is not None:
                raise CallError(report, provider=task.endpoint)
            raise Abandoned(FaultReport(Fault.TIMEOUT, f"not asked: {batch.unasked.get(task.key, 'stopped')}"))
        if ended.report is not None:
            raise CallError(ended.report, provider=task.endpoint, attempt=ended.attempt)
        return cast(T, ended.value)

    def _raise_failure(self) -> None:
        if self._pool.failure is not None:
            raise self._pool.failure

    def _check(self, tasks: Sequence[Task[Any]]) -> None:
        keys = {task.key for task in tasks}
        if len(keys) != len(tasks):
            raise ValueError("two tasks of one stage have the same key")
        for task in tasks:
            if task.endpoint not in self._pool.lanes:
                raise ConfigurationError(f"task {task.key}: there is no endpoint {task.endpoint!r}")

    def _progress(self, stage: str, batch: Batch, done: int, elapsed_s: float) -> StageProgress:
        rate = batch.done / elapsed_s if batch.done and elapsed_s > 0 else None
        left = batch.total - batch.done - len(batch.unasked)
        return StageProgress(
            self._run_name,
            stage,
            batch.done + done,
            batch.total + done,
            batch.failed,
            rate,
            None if rate is None else left / rate,
        )

    def _drain(self) -> None:
        while self._events:
            self._emit(self._events.popleft())

    def _emit(self, event: Event) -> None:
        if self._observe is not None:
            self._observe(event)
