"""When a failed call is sent again, if at all.

Invariant: pure; equal (seed, task, attempt) give equal waits, and no header, however malformed, raises or waits without
bound. A vendor's stated wait is never cut short: where it is above the cap, the task ends instead.
"""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from auditor.engine.endpoint import EndpointLimits
from auditor.errors import RETRIED_FAULTS, FaultReport

__all__ = ["back_off_s", "retry_wait_s", "stated_wait_s"]

# Nine digits of seconds are 31 years: what is longer is no wait that a vendor meant.
_NUMBER = re.compile(r"\+?([0-9]{1,9})(\.[0-9]{0,9})?")
_HEADER_LENGTH = 64
_MAX_DOUBLINGS = 30


def stated_wait_s(report: FaultReport, now: datetime) -> float | None:
    """Seconds that the vendor asks for: the longer of both headers; None where neither can be read.

    ``Retry-After`` is a number of seconds or an HTTP date (RFC 9110 §10.2.3); the other header is in milliseconds.
    A date in the past is 0.
    """
    stated = [_number(report.retry_after), _date(report.retry_after, now)]
    milliseconds = _number(report.retry_after_ms)
    stated.append(None if milliseconds is None else milliseconds / 1000)
    return max((wait for wait in stated if wait is not None), default=None)


def back_off_s(tries: int, limits: EndpointLimits, seed: str) -> float:
    """Capped exponential wait after the ``tries``-th try; jitter from ``seed`` takes off up to half of it."""
    full_s = min(limits.retry_cap_s, limits.retry_base_s * 2.0 ** min(tries - 1, _MAX_DOUBLINGS))
    return full_s * random.Random(seed).uniform(0.5, 1.0)  # noqa: S311 - spreads retries; nothing secret depends on it


def retry_wait_s(report: FaultReport, tries: int, limits: EndpointLimits, now: datetime, seed: str) -> float | None:
    """Seconds to wait before the next try; None when the task ends here."""
    if report.fault not in RETRIED_FAULTS or tries >= limits.attempts:
        return None
    stated_s = stated_wait_s(report, now)
    if stated_s is None:
        return back_off_s(tries, limits, seed)
    if stated_s > limits.retry_after_cap_s:
        return None
    return max(stated_s, back_off_s(tries, limits, seed))


def _number(header: str | None) -> float | None:
    text = "" if header is None else header[: _HEADER_LENGTH + 1].strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def _date(header: str | None, now: datetime) -> float | None:
    if header is None or len(header) > _HEADER_LENGTH or not header.strip()[:1].isalpha():
        return None
    try:
        date = parsedate_to_datetime(header)
        aware = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(0.0, (aware - now).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
