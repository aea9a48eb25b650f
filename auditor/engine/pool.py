"""The pool: daemon threads that make calls, one timer thread that waits, and the lock under which both decide.

Invariants:
- an attempt goes on the wire only after its intent (or its resend) is committed;
- a slot is held on the wire only: whoever sleeps, queues or waits for a port holds none;
- every attempt that was put on the wire is concluded once, by its own thread or by the timer.
The lock is never held while a task's own function runs, nor while the disk is waited for.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from auditor.engine.batch import Batch
from auditor.engine.budget import Budget
from auditor.engine.call import Call
from auditor.engine.clock import Clock
from auditor.engine.endpoint import Endpoint
from auditor.engine.lane import Lane
from auditor.engine.record import intent_entry, resend_entry, stopped_entry
from auditor.engine.settle import Flight, Settled, cut_off, late_entries, settle, time_out, timeout_report
from auditor.engine.task import History, Readable, Task
from auditor.engine.timer import Timer
from auditor.errors import STOPPING_FAULTS, AuditorError, CallError, Fault, FaultReport
from auditor.event import CallEnded, Event
from auditor.ledger import Entry, Ticket

__all__ = ["INTERRUPTED", "MAX_COST", "SHUTDOWN", "Pool", "Writable"]

MAX_COST = "max_cost"
RUN_DEADLINE = "run_deadline"
TOO_MANY_ABANDONED = "abandoned"
INTERRUPTED, SHUTDOWN, STORAGE = "interrupted", "shutdown", "storage"
_PASSING = frozenset({INTERRUPTED, SHUTDOWN, STORAGE})  # the next process goes on; nothing was decided
# A thread that is back at once takes the next call itself: to wake others costs more than it gains.
_QUICK_S = 0.0003
_SECOND_LOOK_S = 0.01
_Stops = tuple[list[tuple[Call, str]], list[Entry]]


class Writable(Readable, Protocol):
    """What the engine needs of a ledger."""

    def append(self, entries: Sequence[Entry]) -> Ticket:
        """Queue a group of entries."""

    def flush(self, timeout: float | None = None) -> None:
        """Wait until all is committed."""


class Pool:
    """Lanes, workers and timer of one engine. Its methods are for this package."""

    def __init__(
        self,
        ledger: Writable,
        endpoints: Iterable[Endpoint],
        clock: Clock,
        *,
        seed: int,
        budget: Budget,
        probe: Callable[[str, str], None] | None,
        redact: Callable[[str], str],
        events: deque[Event] | None,
        run_name: str,
        run_deadline_s: float | None,
    ) -> None:
        self.ledger, self.clock, self.budget = ledger, clock, budget
        self.lock = threading.Lock()
        self.lanes = {endpoint.name: Lane(endpoint, self.lock) for endpoint in endpoints}
        self.stop_reason = ""
        self.ports_closed = False  # whether even a nested call is refused
        self.failure: AuditorError | None = None
        self._seed, self._probe, self._redact, self._events, self._run_name = seed, probe, redact, events, run_name
        self._batches: set[Batch] = set()
        self._closed = self._door_shut = False
        self._writing: deque[None] = deque()  # groups that are being handed to the ledger; its length is the count
        self._local = threading.local()
        self.timer = Timer(
            self.lock,
            clock,
            self.lanes,
            give_up=self._give_up,
            advance=self.advance,
            run_over=lambda: self.abandon_all(RUN_DEADLINE),
            run_deadline_s=run_deadline_s,
        )
        self._stops = sum(1 for row in ledger.rows("stopped") if row.key.startswith("run/"))

    # -- what tasks come in by ---------------------------------------------------------------------------------------

    def offer(self, batch: Batch, tasks: Sequence[Task[Any]]) -> None:
        """Queue tasks, in their order on each endpoint."""
        now_s = self.clock.monotonic()
        calls = [self.first_call(task, task.history, batch=batch, eligible_s=now_s) for task in tasks]
        skipped: list[tuple[Call, str]] = []
        with self.lock:
            self._batches.add(batch)
            for call in calls:
                lane = self.lanes[call.lane_name]
                if self.stop_reason or lane.stop_reason:
                    skipped.append((call, self.stop_reason or lane.stop_reason))
                else:
                    lane.pending.append(call)
        for name in dict.fromkeys(task.endpoint for task in tasks):
            self._hire(self.lanes[name])
            self.advance(self.lanes[name])
        self._skip(skipped)

    def withdraw(self, batch: Batch) -> None:
        """Forget a batch whose waiter has left."""
        with self.lock:
            self._batches.discard(batch)

    def current_call(self) -> Call | None:
        """The call that this thread is making."""
        call: Call | None = getattr(self._local, "call", None)
        return call

    def stop(self, reason: str) -> None:
        """Start no further call."""
        with self.lock:
            dropped, entries = self._stop_run(reason)
        self.append(entries)
        self._skip(dropped)

    def abandon_all(self, reason: str) -> None:
        """Give up every call in flight without an outcome: its intent stays open, so it counts as perhaps sent."""
        self.stop(reason)
        given_up: list[tuple[Call, str]] = []
        with self.lock:
            for lane in self.lanes.values():
                for call in [call for call in lane.flying if call.claim()]:
                    call.abandoned = True
                    lane.finish(call)
                    lane.abandoned += 1
                    given_up.append((call, reason))
                for waiter in lane.waiters:
                    waiter.event.set()
                lane.waiters.clear()
        self._skip(given_up)

    def shut(self) -> None:
        """Let idle threads go, and write nothing more."""
        with self.lock:
            self._closed = self._door_shut = True
            self.timer.close()
            for lane in self.lanes.values():
                lane.condition.notify_all()

    @property
    def busy(self) -> bool:
        """Whether a call holds a slot or a group is on its way to the ledger."""
        return bool(self._writing) or any(lane.busy for lane in self.lanes.values())

    def fly(self, call: Call) -> Flight:
        """Run the task's function in this thread."""
        local, probe = self._local, self._probe
        outer = getattr(local, "call", None)
        local.call = call
        if probe is not None:
            probe("after-intent", call.attempt_key)
        flight = Flight(self.clock.now(), 0.0)
        began_s = self.clock.monotonic()
        try:
            flight.value = call.task.run(call)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included; classify says what it is
            flight.error = error
        flight.ended_s = self.clock.monotonic()
        call.flown_s = flight.ended_s - began_s
        local.call = outer
        if probe is not None:
            probe("on-wire", call.attempt_key)
        return flight

    def append(self, entries: Sequence[Entry]) -> Ticket | None:
        """Hand a group to the ledger; None when the door is shut or the ledger refuses, which ends the run."""
        if not entries or self._door_shut:
            return None
        try:
            return self.ledger.append(entries)
        except AuditorError as error:
            self.break_off(error)
            return None

    # -- workers --------------------------------------------------------------------------------------------------

    def _work(self, lane: Lane) -> None:
        call = self._next(lane, hired=True)
        while call is not None:
            flight = self.fly(call)
            if not call.claim():
                self.record_late(call, flight)
                return  # another thread stands in for this one
            if cut_off(call, flight.error):
                self._cut_off(call)
                call = None
            else:
                call = self.conclude(call, self.settle(call, flight), take=True)
            if call is None:
                call = self._next(lane, hired=False)

    def _next(self, lane: Lane, *, hired: bool) -> Call | None:
        """The next call of a lane, waiting for one; ``hired``: this thread has just started. None: the pool is shut."""
        with self.lock:
            lane.hired -= hired
            call = self._take(lane, self.clock.monotonic())
            while call is None:
                if self._closed:
                    return None
                lane.idle += 1
                lane.condition.wait()
                lane.idle -= 1
                lane.waking = False
                call = self._take(lane, self.clock.monotonic())
            calls = lane.refill(call.started_s) if lane.runs_low else []
        if calls:
            self._submit(lane, calls)
        return call

    def _take(self, lane: Lane, now_s: float) -> Call | None:
        call = None if self._crowded(lane, now_s) else lane.take(now_s)
        if call is not None:
            self._kick(lane, now_s)
            self.timer.nudge(now_s + call.deadline_s)
        return call

    def _kick(self, lane: Lane, now_s: float) -> None:
        """See to it that one more thread looks at the lane; it will see to the next."""
        if lane.waking or self._closed or now_s < lane.hold_until_s or not lane.may_start:
            return
        if self._crowded(lane, now_s):
            return
        if lane.idle:
            lane.waking = True
            lane.condition.notify()
        elif not lane.hired:
            lane.hired += 1
            self._spawn(lane)

    def _crowded(self, lane: Lane, now_s: float) -> bool:
        """Whether to leave what is ready to the threads that are about to return; the timer sees to it that they do."""
        if not lane.quick or not lane.ready or not lane.crew_is_full(now_s):
            return False
        lane.look_again(now_s + _SECOND_LOOK_S)
        self.timer.nudge(lane.wake_s)
        return True

    def _hire(self, lane: Lane) -> None:
        """Start the threads that the waiting calls can use: started one by one as calls become ready, they would cost
        a millisecond each.
        """
        with self.lock:
            wanted = min(lane.limit, len(lane.pending)) - lane.idle - lane.hired
            lane.hired += max(0, wanted)
        for _ in range(wanted):
            self._spawn(lane)

    def _spawn(self, lane: Lane) -> None:
        threading.Thread(target=self._work, args=(lane,), name=f"call {lane.name}", daemon=True).start()

    def settle(self, call: Call, flight: Flight) -> Settled:
        """What is to be written of an attempt that came back in time."""
        settled = settle(call, flight, seed=self._seed, now=self.clock.now, redact=self._redact)
        if self._probe is not None:
            self._probe("before-outcome", call.attempt_key)
        return settled

    def conclude(self, call: Call, settled: Settled, *, take: bool) -> Call | None:
        """Write an outcome, together with the intents that it makes room for; with ``take``, go on with a next call."""
        lane = self.lanes[call.lane_name]
        following: Call | None = None
        with self.lock:
            now_s = self.clock.monotonic()
            lane.finish(call)
            lane.quick = call.flown_s < _QUICK_S
            dropped, stops = self._consequences(lane, call, settled, now_s)
            if lane.waiters:
                lane.grant(now_s)
            if take:
                following = self._take(lane, now_s)
            else:
                self._kick(lane, now_s)
            calls = lane.refill(now_s)
            self.timer.nudge(lane.wake_s)
            self._writing.append(None)
        try:
            self._submit(lane, calls, [*settled.entries, *stops])
        finally:
            self._writing.pop()
        self._report(call, settled)
        if dropped:
            self._skip(dropped)
        return following

    def _consequences(self, lane: Lane, call: Call, settled: Settled, now_s: float) -> _Stops:
        """What an outcome does to its lane and to the run."""
        report = settled.ended.report
        if report is None:
            lane.recover()
            self.budget.add(settled.cost_usd)
            return self._stop_run(MAX_COST) if self.budget.exhausted else ([], [])
        if report.fault is Fault.RATE_LIMITED:
            lane.ease(call, now_s, settled.stated_s)
        if report.fault in STOPPING_FAULTS:
            return self._stop_lane(lane, call, str(report.fault), report)
        if settled.retry_s is not None and call.batch is not None:
            again = self.next_attempt(call, now_s + settled.retry_s)
            if self.stop_reason or lane.stop_reason:
                return [(again, self.stop_reason or lane.stop_reason)], []
            self.timer.set(again.eligible_s, again)
        return [], []

    def _report(self, call: Call, settled: Settled) -> None:
        ended = settled.ended
        if self._events is not None:
            fault = "" if ended.report is None else str(ended.report.fault)
            elapsed_ms = float(ended.latency_ms) if ended.latency_ms is not None else 0.0
            self._events.append(
                CallEnded(self._run_name, call.key, call.task.endpoint, call.attempt, fault, elapsed_ms)
            )
        if call.batch is not None and settled.retry_s is None:
            call.batch.end(ended)

    def record_late(self, call: Call, flight: Flight) -> None:
        """Write what an abandoned attempt brought after all, unless the door is shut."""
        entries = late_entries(call, flight, redact=self._redact)
        lane = self.lanes[call.lane_name]
        with self.lock:
            lane.abandoned -= 1
            if not self._door_shut:
                try:
                    self.ledger.append(entries)
                except AuditorError as error:
                    self.failure = self.failure or error

    def _cut_off(self, call: Call) -> None:
        reason = self.stop_reason or "abandoned"
        self.release(call)
        self._skip([(call, reason)])

    def release(self, call: Call) -> None:
        """Take an attempt off the wire without an outcome."""
        lane = self.lanes[call.lane_name]
        with self.lock:
            lane.finish(call)
        self.advance(lane)

    # -- intents --------------------------------------------------------------------------------------------------

    def first_call(
        self,
        task: Task[Any],
        history: History,
        parent: Call | None = None,
        *,
        batch: Batch | None = None,
        eligible_s: float | None = None,
    ) -> Call:
        """The attempt to go on with: an open intent keeps its number, unless it was of another input."""
        again = history.open_intent and history.input in (None, task.input)
        return Call(
            self,
            task,
            batch=batch,
            attempt=history.attempts if again else history.attempts + 1,
            tries=max(1, history.spent) if again else history.spent + 1,
            resend=history.resends + 1 if again else 0,
            limits=self.lanes[task.endpoint].limits,
            eligible_s=self.clock.monotonic() if eligible_s is None else eligible_s,
            parent=parent,
        )

    def next_attempt(self, call: Call, due_s: float) -> Call:
        """The attempt after a failed one."""
        return Call(
            self,
            call.task,
            batch=call.batch,
            attempt=call.attempt + 1,
            tries=call.tries + 1,
            resend=0,
            limits=call.limits,
            eligible_s=due_s,
            parent=call.parent,
        )

    def intent(self, call: Call) -> Entry:
        """What must be on the disk before the attempt goes on the wire."""
        task = call.task
        if call.resend:
            return resend_entry(call.attempt_key, call.resend, task.endpoint, task.input)
        return intent_entry(call.attempt_key, task.endpoint, task.input)

    def _submit(self, lane: Lane, calls: Sequence[Call], entries: Sequence[Entry] = ()) -> None:
        """Hand entries and intents to the ledger as one group; the commit makes the calls ready."""
        ticket = self.append([*entries, *map(self.intent, calls)])
        if ticket is not None and calls:
            ticket.add_done_callback(lambda done: self._committed(lane, calls, done))

    def _committed(self, lane: Lane, calls: Sequence[Call], ticket: Ticket) -> None:
        if ticket.error is not None:
            self.break_off(ticket.error)
        with self.lock:
            reason = self.stop_reason or lane.stop_reason
            if not reason:
                lane.ready.extend(calls)
                if len(calls) > 1 and lane.idle > 1:
                    lane.condition.notify(1 if lane.quick else len(calls))  # a stage begins: one by one takes long
                else:
                    self._kick(lane, self.clock.monotonic())
                return
            lane.submitted -= len(calls)
        self._skip([(call, reason) for call in calls])

    def advance(self, lane: Lane) -> None:
        """Grant, intend and start whatever the lane allows now."""
        with self.lock:
            now_s = self.clock.monotonic()
            lane.grant(now_s)
            calls = lane.refill(now_s)
            self._kick(lane, now_s)
            self.timer.nudge(lane.wake_s)
            self.timer.start()
        self._submit(lane, calls)

    # -- stops ----------------------------------------------------------------------------------------------------

    def _stop_lane(self, lane: Lane, call: Call, reason: str, report: FaultReport) -> _Stops:
        if lane.stop_reason:
            return [], []
        dropped = [*lane.stop(reason, report), *self.timer.take_calls(lane)]
        entry = stopped_entry(call.attempt_key, lane.name, reason, report)
        return [(each, reason) for each in dropped], [entry]

    def _stop_run(self, reason: str) -> _Stops:
        """Drop what waits. A cost cap lets calls in flight end with all that they need; other stops close the ports."""
        closes = reason != MAX_COST
        if self.ports_closed or (self.stop_reason and not closes):
            return [], []
        self.stop_reason, self.ports_closed = self.stop_reason or reason, closes
        dropped = self.timer.take_calls()
        for lane in self.lanes.values():
            dropped += lane.stop(lane.stop_reason or reason, lane.stop_report) if closes else lane.drop()
        if closes:
            self.timer.wake_sleepers()
        skipped = [(call, reason) for call in dropped]
        if reason in _PASSING:
            return skipped, []
        self._stops += 1
        return skipped, [stopped_entry(f"run/{self._stops}", None, reason, None)]

    def break_off(self, error: AuditorError) -> None:
        """The ledger takes no more: nothing may be called that could not be recorded."""
        if self.failure is not None:
            return
        self.failure = error
        with self.lock:
            dropped, _ = self._stop_run(STORAGE)
            batches = list(self._batches)
        self._skip(dropped)
        for batch in batches:
            batch.wake()

    @staticmethod
    def _skip(dropped: Iterable[tuple[Call, str]]) -> None:
        for call, reason in dropped:
            if call.batch is not None:
                call.batch.skip(call.key, reason)

    def _give_up(self, call: Call) -> None:
        """End an attempt that is past its deadline. Its thread is left to itself; another takes its place."""
        if not call.claim():
            return
        lane, report = self.lanes[call.lane_name], timeout_report(call)
        flight = Flight(self.clock.now(), self.clock.monotonic(), error=CallError(report))
        settled = time_out(call, flight, report)
        with self.lock:
            call.abandoned = True
            lane.abandoned += 1
            stops: _Stops = ([], [])
            if lane.abandoned > lane.limits.slots:
                stops = self._stop_lane(lane, call, TOO_MANY_ABANDONED, report)
            lane.finish(call)
            self._writing.append(None)
        try:
            self.append([*settled.entries, *stops[1]])
        finally:
            self._writing.pop()
        self.advance(lane)
        self._report(call, settled)
        self._skip(stops[0])
