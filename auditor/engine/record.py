"""The entries that the engine itself writes: intents, resends, outcomes, late replies, stops.

Invariant: values are text, integers, booleans or null; durations are decimals as text, in milliseconds unless the name
says otherwise.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from auditor.canonical import Json, clean_text, decimal_text
from auditor.engine.task import Encoded
from auditor.errors import FaultReport
from auditor.ledger import Entry

__all__ = [
    "clean_message",
    "failure_body",
    "intent_entry",
    "late_entry",
    "milliseconds",
    "outcome_entry",
    "resend_entry",
    "stopped_entry",
    "success_body",
]

_MESSAGE_LENGTH = 500


def milliseconds(seconds: float) -> Decimal:
    """``seconds`` in milliseconds, to the microsecond."""
    return Decimal(f"{seconds * 1000:.3f}")


def clean_message(report: FaultReport) -> str:
    """The report's message as one line of at most 500 printable characters; never blank."""
    text, _ = clean_text(report.message[: 4 * _MESSAGE_LENGTH])
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line[:_MESSAGE_LENGTH] or f"{report.fault} (no message)"


def intent_entry(key: str, endpoint: str, input_digest: str) -> Entry:
    """That a call is about to be made; committed before the wire."""
    return Entry("intent", key, {"endpoint": endpoint, "input": input_digest})


def resend_entry(key: str, resend: int, endpoint: str, input_digest: str) -> Entry:
    """That a call which was perhaps sent is about to be sent again; committed before the wire."""
    return Entry("resend", f"{key}.{resend}", {"endpoint": endpoint, "input": input_digest})


def success_body(encoded: Encoded, latency_ms: Decimal) -> dict[str, Json]:
    """The outcome's fields of a call that gave a value."""
    body: dict[str, Json] = {"latency_ms": decimal_text(latency_ms), **encoded.body}
    if encoded.flags:
        body["flags"] = list(encoded.flags)
    return body


def failure_body(report: FaultReport, retry_s: float | None) -> dict[str, Json]:
    """The outcome's fields of a call that failed. ``retry_s`` is there only when a further attempt follows."""
    body: dict[str, Json] = {"fault": str(report.fault), "message": clean_message(report), "latency_ms": None}
    if report.request_id:
        body["request_id"] = clean_text(report.request_id[:_MESSAGE_LENGTH])[0]
    if retry_s is not None:
        body["retry_s"] = decimal_text(round(retry_s, 3))
    return body


def outcome_entry(
    key: str, input_digest: str, body: dict[str, Json], queued_ms: Decimal, elapsed_ms: Decimal, started: datetime
) -> Entry:
    """What came of an attempt. ``elapsed_ms``: all of ``run``, ports included."""
    body["input"] = input_digest
    body["queued_ms"] = str(queued_ms)
    body["elapsed_ms"] = str(elapsed_ms)
    body["started"] = started.isoformat()
    return Entry("outcome", key, body)


def late_entry(key: str, input_digest: str, body: dict[str, Json], elapsed_ms: Decimal) -> Entry:
    """What an abandoned call brought after all; never scored."""
    body.pop("retry_s", None)
    return Entry("late", key, {**body, "input": input_digest, "elapsed_ms": str(elapsed_ms)})


def stopped_entry(key: str, endpoint: str | None, reason: str, report: FaultReport | None) -> Entry:
    """That an endpoint (None: the whole run) is called no more."""
    body: dict[str, Json] = {"endpoint": endpoint, "reason": reason, "fault": None}
    if report is not None:
        body.update(fault=str(report.fault), message=clean_message(report))
    return Entry("stopped", key, body)
