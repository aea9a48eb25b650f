"""Nested calls: what a system asks of a model while it is itself being asked.

Invariant: a nested call is a task like any other (slot, rate, retries, entries, cost); it runs in the caller's thread,
and while it queues or retries the caller holds no slot and its clock stands still.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar, cast

from auditor.canonical import Json
from auditor.engine.call import Call
from auditor.engine.lane import Lane, Waiter
from auditor.engine.settle import Flight, Settled, cut_off, timeout_report
from auditor.engine.task import History, Readable, Stored, Task, attempt_key
from auditor.errors import Abandoned, AuditorError, CallError, Fault, FaultReport

if TYPE_CHECKING:
    from auditor.engine.pool import Pool

__all__ = ["nest", "park", "recall", "sleep", "unpark"]

T = TypeVar("T")


def nest(pool: Pool, parent: Call, task: Task[T], decode: Callable[[Stored], T]) -> T:
    """Make the call in this thread, or replay it from the ledger; see ``Call.subtask``."""
    try:
        if any(call.resend for call in parent.lineage()):
            history, stored = recall(pool.ledger, task.key)
            if stored is not None and stored.body.get("input") == task.input and history.ended:
                return _replay(parent, stored, decode)
        else:
            history = History()
        return _make(pool, parent, task, history)
    except CallError as error:
        if parent.port_errors is None:
            parent.port_errors = []
        parent.port_errors.append(error)
        raise


def recall(ledger: Readable, key: str) -> tuple[History, Stored | None]:
    """What the ledger says of one task, without reading all of it; and its last attempt's outcome."""
    attempts = 0
    while ledger.get("intent", attempt_key(key, attempts + 1)) is not None:
        attempts += 1
    if attempts == 0:
        return History(), None
    last = attempt_key(key, attempts)
    intent, outcome = ledger.get("intent", last), ledger.get("outcome", last)
    body: dict[str, Json] = dict(intent.body or {}) if intent is not None else {}
    said = body.get("input")
    resends = 0
    while ledger.get("resend", f"{last}.{resends + 1}") is not None:
        resends += 1
    outcome_body = None if outcome is None else dict(outcome.body or {})
    history = History(
        attempts,
        open_intent=outcome_body is None,
        resends=resends,
        spent=attempts,
        again=outcome_body is not None and "retry_s" in outcome_body,
        input=said if isinstance(said, str) else None,
    )
    return history, None if outcome_body is None else Stored(last, outcome_body, ledger)


def _error_of(stored: Stored) -> CallError | None:
    """The error that a stored outcome stands for; None for a success."""
    fault = stored.body.get("fault")
    if fault is None:
        return None
    report = FaultReport(Fault(str(fault)), str(stored.body.get("message", "")))
    return CallError(report, attempt=int(stored.key.rpartition("#")[2]))


def _replay(parent: Call, stored: Stored, decode: Callable[[Stored], T]) -> T:
    error = _error_of(stored)
    latency_ms = stored.body.get("latency_ms")
    if latency_ms is not None:
        parent.exclude(-float(Decimal(str(latency_ms))) / 1000)
    if error is not None:
        raise error
    return decode(stored)


def _make(pool: Pool, parent: Call, task: Task[T], history: History) -> T:
    call = pool.first_call(task, history, parent)
    park(pool, parent)
    try:
        while True:
            _acquire(pool, call)
            _commit_intent(pool, call)
            _take_off(pool, call, parent)
            settled = _land(pool, call, parent, pool.fly(call))
            if settled.retry_s is None:
                break
            sleep(pool, settled.retry_s)
            call = pool.next_attempt(call, pool.clock.monotonic())
    finally:
        unpark(pool, parent)
    if settled.ended.report is not None:
        raise CallError(settled.ended.report, provider=task.endpoint, attempt=call.attempt)
    return cast(T, settled.ended.value)


def park(pool: Pool, call: Call) -> None:
    """Give the slot of a call back while it waits for something other than its own endpoint."""
    lane = pool.lanes[call.lane_name]
    with pool.lock:
        call.refuse_abandoned()
        call.pause(pool.clock.monotonic())
        lane.give_back(call)
    pool.advance(lane)


def unpark(pool: Pool, call: Call) -> None:
    """Wait for a slot of the call's own endpoint, ahead of new calls. Raises ``Abandoned`` if it was given up."""
    waiter = Waiter(paced=False)
    lane = pool.lanes[call.lane_name]
    with pool.lock:
        call.refuse_abandoned()
        lane.waiters.appendleft(waiter)
        lane.grant(pool.clock.monotonic())
    waiter.event.wait()
    with pool.lock:
        if waiter.granted and not call.abandoned:
            call.holds_slot = True
            _resume(pool, call)
            return
        if waiter.granted:
            lane.slots_used -= 1
    pool.advance(lane)
    call.refuse_abandoned()


def sleep(pool: Pool, seconds: float) -> None:
    """Wait on the engine's clock, holding nothing. Raises ``Abandoned`` when the engine stops meanwhile."""
    event = threading.Event()
    with pool.lock:
        if pool.ports_closed:
            event.set()
        else:
            pool.timer.set(pool.clock.monotonic() + seconds, event)
            pool.timer.start()
    event.wait()
    if pool.ports_closed:
        raise Abandoned(FaultReport(Fault.TIMEOUT, f"the engine stopped: {pool.stop_reason}"))


def _acquire(pool: Pool, call: Call) -> None:
    """Wait in this thread for a slot and the rate. Raises ``CallError`` when the endpoint is stopped."""
    waiter = Waiter(paced=True, tokens=call.task.tokens)
    lane = pool.lanes[call.lane_name]
    with pool.lock:
        _refuse(call, lane)
        lane.waiters.append(waiter)
        lane.grant(pool.clock.monotonic())
        pool.timer.nudge(lane.wake_s)
        pool.timer.start()
    waiter.event.wait()
    with pool.lock:
        if not waiter.granted:
            _refuse(call, lane)
            raise Abandoned(FaultReport(Fault.TIMEOUT, "the call was given up while it waited for a slot"))
        call.holds_slot = True


def _refuse(call: Call, lane: Lane) -> None:
    call.refuse_abandoned()
    if lane.stop_report is not None:
        raise CallError(lane.stop_report, provider=lane.name)
    if lane.stop_reason:
        raise Abandoned(FaultReport(Fault.TIMEOUT, f"the engine stopped: {lane.stop_reason}"))


def _commit_intent(pool: Pool, call: Call) -> None:
    """Write the intent and wait for the disk; on failure the slot is given back."""
    try:
        ticket = pool.append([pool.intent(call)])
        if ticket is None:
            raise Abandoned(FaultReport(Fault.TIMEOUT, "the ledger takes no more entries"))
        ticket.wait()
    except BaseException as error:
        pool.release(call)
        if isinstance(error, AuditorError) and not isinstance(error, CallError):
            pool.break_off(error)
        raise


def _take_off(pool: Pool, call: Call, parent: Call) -> None:
    """Put a nested call on the wire; the clocks of those that wait for it run again."""
    with pool.lock:
        now_s = pool.clock.monotonic()
        pool.lanes[call.lane_name].start(call, now_s)
        pool.timer.nudge(now_s + call.deadline_s)
        _resume(pool, parent)


def _land(pool: Pool, call: Call, parent: Call, flight: Flight) -> Settled:
    """Conclude a nested call. Raises when it was given up meanwhile: what it brought is late."""
    won = call.claim()
    with pool.lock:
        parent.pause(flight.ended_s)
    if not won:
        pool.record_late(call, flight)
        parent.refuse_abandoned()
        raise CallError(timeout_report(call), provider=call.lane_name, attempt=call.attempt)
    if cut_off(call, flight.error):
        pool.release(call)
        raise Abandoned(FaultReport(Fault.TIMEOUT, "the call's own ports were closed"))
    settled = pool.settle(call, flight)
    if settled.retry_s is not None:
        parent.exclude(call.elapsed_s(flight.ended_s))
    elif settled.counted_s is not None:
        parent.exclude(call.elapsed_s(flight.ended_s) - settled.counted_s)
    pool.conclude(call, settled, take=False)
    return settled


def _resume(pool: Pool, call: Call) -> None:
    now_s = pool.clock.monotonic()
    call.resume(now_s)
    for each in call.lineage():
        pool.timer.nudge(now_s + each.deadline_s - each.elapsed_s(now_s))
