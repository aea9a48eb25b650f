"""From what a call brought to what is written of it.

Invariant: nothing that a task's functions raise gets past this module; an outcome can always be written, and a value
that cannot be encoded is a failure, never a value of another kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from auditor.canonical import Json
from auditor.engine.call import Call
from auditor.engine.record import failure_body, late_entry, milliseconds, outcome_entry, success_body
from auditor.engine.retry import retry_wait_s, stated_wait_s
from auditor.engine.task import Ended
from auditor.errors import Abandoned, CallError, Fault, FaultReport
from auditor.ledger import Entry

__all__ = ["Flight", "Settled", "classified", "cut_off", "late_entries", "settle", "time_out", "timeout_report"]

_MAX_CAUSES = 20


@dataclass(slots=True)
class Flight:
    """What a call brought, and when. ``value`` counts only where ``error`` is None."""

    started: datetime
    ended_s: float
    value: Any = None
    error: BaseException | None = None


@dataclass(slots=True)
class Settled:
    """What is to be written of an attempt and what follows from it. ``retry_s``: a further attempt is due."""

    entries: list[Entry]
    ended: Ended[Any]
    cost_usd: Decimal | None = None
    retry_s: float | None = None
    stated_s: float | None = None
    counted_s: float | None = None  # latency of a recording, which stands in for the time that passed


def settle(
    call: Call, flight: Flight, *, seed: int, now: Callable[[], datetime], redact: Callable[[str], str]
) -> Settled:
    """The outcome of an attempt whose thread came back in time. Never raises: a call without an outcome has no end."""
    try:
        return _settled(call, flight, seed, now, redact)
    except BaseException as problem:  # noqa: BLE001 - what a plugin hands in may break wherever it is looked at
        said = f"its outcome cannot be recorded: {type(problem).__name__}"
        return _written(call, flight, FaultReport(Fault.INTERNAL, said), None)


def _settled(
    call: Call, flight: Flight, seed: int, now: Callable[[], datetime], redact: Callable[[str], str]
) -> Settled:
    error = flight.error
    if error is None:
        try:
            return _succeed(call, flight)
        except BaseException as problem:  # noqa: BLE001 - a value that cannot be written down is this call's failure
            error = problem
            report = FaultReport(Fault.INTERNAL, f"the reply cannot be recorded: {type(problem).__name__}: {problem}")
    else:
        report = _classify(call, error)
    return _fail(call, flight, _redacted(report, redact), seed=seed, now=now(), final=_came_from_port(call, error))


def time_out(call: Call, flight: Flight, report: FaultReport) -> Settled:
    """The outcome of an attempt that was given up: it ends its task."""
    return _written(call, flight, report, None)


def timeout_report(call: Call) -> FaultReport:
    """What is said of an attempt that was given up."""
    return FaultReport(Fault.TIMEOUT, f"no reply within {call.deadline_s:g} s")


def late_entries(call: Call, flight: Flight, *, redact: Callable[[str], str]) -> list[Entry]:
    """What an abandoned call brought after all."""
    try:
        body, entries = _late_body(call, flight, redact)
        return [*entries, late_entry(call.attempt_key, call.task.input, body, _elapsed_ms(call, flight))]
    except BaseException as problem:  # noqa: BLE001 - nobody waits for this reply; that it came is worth an entry
        report = FaultReport(Fault.INTERNAL, f"the reply cannot be recorded: {type(problem).__name__}")
        body = failure_body(_redacted(report, redact), None)
        return [late_entry(call.attempt_key, call.task.input, body, _elapsed_ms(call, flight))]


def cut_off(call: Call, error: BaseException | None) -> bool:
    """Whether the call failed only because its ports were closed to it: nothing is known of the system then."""
    return error is not None and any(isinstance(cause, Abandoned) for cause in _port_causes(call, error))


def _succeed(call: Call, flight: Flight) -> Settled:
    task, key = call.task, call.attempt_key
    encoded = task.encode(flight.value, key)
    recorded_ms = task.recorded_latency_ms(flight.value)
    latency_ms = milliseconds(call.latency_s(flight.ended_s)) if recorded_ms is None else recorded_ms
    cost_usd = task.cost_usd(flight.value)
    queued_ms = _queued_ms(call)
    body = success_body(encoded, latency_ms)
    stated = body["latency_ms"]
    outcome = outcome_entry(key, task.input, body, queued_ms, _elapsed_ms(call, flight), flight.started)
    ended: Ended[Any] = Ended(
        task.key, call.attempt, flight.value, None,
        latency_ms if stated is not None else None, queued_ms, call.resend > 0,
    )  # fmt: skip
    return Settled(
        [*encoded.entries, outcome],
        ended,
        cost_usd,
        counted_s=None if recorded_ms is None else float(recorded_ms) / 1e3,
    )


def _fail(call: Call, flight: Flight, report: FaultReport, *, seed: int, now: datetime, final: bool) -> Settled:
    retry_s = None if final else retry_wait_s(report, call.tries, call.limits, now, f"{seed}/{call.attempt_key}")
    settled = _written(call, flight, report, retry_s)
    if report.fault is Fault.RATE_LIMITED:
        settled.stated_s = stated_wait_s(report, now)
    return settled


def _written(call: Call, flight: Flight, report: FaultReport, retry_s: float | None) -> Settled:
    key = call.attempt_key
    queued_ms = _queued_ms(call)
    body = failure_body(report, retry_s)
    outcome = outcome_entry(key, call.task.input, body, queued_ms, _elapsed_ms(call, flight), flight.started)
    ended: Ended[Any] = Ended(call.key, call.attempt, None, report, None, queued_ms, call.resend > 0)
    return Settled([outcome], ended, retry_s=retry_s)


def _late_body(call: Call, flight: Flight, redact: Callable[[str], str]) -> tuple[dict[str, Json], tuple[Entry, ...]]:
    if flight.error is not None:
        return failure_body(_redacted(_classify(call, flight.error), redact), None), ()
    encoded = call.task.encode(flight.value, call.attempt_key)
    return success_body(encoded, milliseconds(call.latency_s(flight.ended_s))), encoded.entries


def _queued_ms(call: Call) -> Decimal:
    return milliseconds(max(0.0, call.started_s - call.eligible_s))


def _elapsed_ms(call: Call, flight: Flight) -> Decimal:
    return milliseconds(max(0.0, flight.ended_s - call.started_s))


def _classify(call: Call, error: BaseException) -> FaultReport:
    if isinstance(error, CallError) and any(error is raised for raised in call.port_errors or ()):
        return error.report
    return classified(call.task.classify, error)


def classified(classify: Callable[[BaseException], object], error: BaseException) -> FaultReport:
    """The fault that a plugin's ``classify`` sees in ``error``, whatever it does."""
    try:
        report = classify(error)
    except BaseException as problem:  # noqa: BLE001 - a plugin's classify may itself be wrong
        return FaultReport(Fault.INTERNAL, f"{error!r}; and classify raised {problem!r}")
    if isinstance(report, FaultReport) and isinstance(report.fault, Fault):
        return report
    return FaultReport(Fault.INTERNAL, f"{error!r}; and classify returned {type(report).__name__}, not a FaultReport")


def _redacted(report: FaultReport, redact: Callable[[str], str]) -> FaultReport:
    return FaultReport(
        report.fault, redact(report.message), report.retry_after, report.retry_after_ms, report.request_id
    )


def _came_from_port(call: Call, error: BaseException) -> bool:
    """Whether a port raised it: it was retried there, so the caller is not sent again."""
    return any(True for _ in _port_causes(call, error))


def _port_causes(call: Call, error: BaseException) -> Iterator[BaseException]:
    raised = call.port_errors or ()
    cause: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if cause is None:
            return
        if any(cause is port_error for port_error in raised):
            yield cause
        cause = cause.__cause__ or cause.__context__
