"""Waits before a retry: what the vendor asks for is kept, whatever the header looks like nothing breaks."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.engine.endpoint import EndpointLimits, Pace
from auditor.engine.retry import back_off_s, retry_wait_s, stated_wait_s
from auditor.errors import RETRIED_FAULTS, Fault, FaultReport

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMITS = EndpointLimits()


def _limited(retry_after: str | None = None, retry_after_ms: str | None = None) -> FaultReport:
    return FaultReport(Fault.RATE_LIMITED, "slow down", retry_after, retry_after_ms)


@pytest.mark.parametrize(
    "header",
    ["Wed, 21 Oct 2015 07:28:00 GMT", "-5", "abc", "9" * 310, "", " ", "nan", "inf", "1e400", "٣", "0x10", "\ud800",
     "Wed, 99 Xyz 0000 99:99:99 GMT", "Fri, 31 Dec 99999 23:59:59 GMT", "1;2", "a" * 200_000],
)  # fmt: skip
@pytest.mark.parametrize("name", ["retry_after", "retry_after_ms"])
def test_unreadable_or_past_header_gives_the_ordinary_wait(header: str, name: str) -> None:
    """FAULTS 27: a date in the past, a negative number, noise, 310 digits: a bounded wait and no crash."""
    wait_s = retry_wait_s(_limited(**{name: header}), 1, LIMITS, NOW, "seed")
    assert wait_s is not None and 0.5 <= wait_s <= LIMITS.retry_cap_s


@given(st.text(max_size=400), st.text(max_size=400), st.integers(1, 10_000))
def test_no_header_ever_raises_or_waits_without_bound(seconds: str, milliseconds: str, tries: int) -> None:
    """FAULTS 27, the whole kind: any two headers after any number of tries."""
    limits = EndpointLimits(attempts=20_000)
    wait_s = retry_wait_s(_limited(seconds, milliseconds), tries, limits, NOW, "seed")
    assert wait_s is None or (
        math.isfinite(wait_s) and 0 <= wait_s <= max(limits.retry_cap_s, limits.retry_after_cap_s)
    )


@given(st.integers(0, 300))
def test_stated_seconds_milliseconds_and_dates_are_kept(seconds: int) -> None:
    """FAULTS 28: never earlier than the vendor says, in each of the three forms."""
    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    for report in (_limited(str(seconds)), _limited(None, str(seconds * 1000)), _limited(date)):
        assert stated_wait_s(report, NOW) == seconds
        wait_s = retry_wait_s(report, 1, LIMITS, NOW, "seed")
        assert wait_s is not None and wait_s >= seconds


@pytest.mark.parametrize("report", [_limited("301"), _limited("86400"), _limited(None, "300001")])
def test_wait_above_the_cap_ends_the_task(report: FaultReport) -> None:
    """FAULTS 28: a longer wait than the cap is not cut short; there is no further try."""
    assert retry_wait_s(report, 1, LIMITS, NOW, "seed") is None


def test_longer_of_two_headers_wins() -> None:
    """A vendor that sends both forms is not asked before the later of the two moments."""
    assert stated_wait_s(_limited("2", "1500"), NOW) == 2
    assert stated_wait_s(_limited("1", "2500"), NOW) == 2.5


@pytest.mark.parametrize("fault", list(Fault))
def test_only_transient_faults_are_tried_again(fault: Fault) -> None:
    """A refusal, a wrong key, an empty account and a timeout are final."""
    again = retry_wait_s(FaultReport(fault, ""), 1, LIMITS, NOW, "seed") is not None
    assert again == (fault in RETRIED_FAULTS)


def test_attempts_are_bounded() -> None:
    """The limit counts the first attempt."""
    report = FaultReport(Fault.TRANSIENT, "")
    tries = [n for n in range(1, 10) if retry_wait_s(report, n, LIMITS, NOW, "s") is not None]
    assert tries == [1, 2, 3, 4]


@given(st.integers(1, 5_000), st.text(max_size=20))
def test_back_off_grows_to_its_cap_and_repeats(tries: int, seed: str) -> None:
    """Exponential, capped, with jitter that depends on the seed alone."""
    full_s = min(60.0, 2.0 ** min(tries - 1, 30))
    wait_s = back_off_s(tries, LIMITS, seed)
    assert full_s / 2 <= wait_s <= full_s
    assert wait_s == back_off_s(tries, LIMITS, seed)


@given(st.floats(1, 6000), st.lists(st.floats(0, 30), min_size=1, max_size=200))
def test_pace_holds_in_every_minute(per_minute: float, gaps: list[float]) -> None:
    """No window of a minute, wherever it begins, holds more calls than the rate and one."""
    pace, now_s, used = Pace(per_minute), 0.0, []
    for gap_s in gaps:
        now_s += gap_s
        now_s += pace.delay_s(now_s)
        pace.take(now_s, 1)
        used.append(now_s)
    for start_s in used:
        assert sum(start_s <= at_s < start_s + 60 for at_s in used) <= per_minute + 1 + 1e-6


def test_limits_under_which_nothing_could_run_are_refused() -> None:
    """A limit of 0 is a mistake, not a way to say unlimited."""
    for name in ("slots", "attempts", "deadline_s", "requests_per_minute", "tokens_per_minute"):
        with pytest.raises(ValueError, match=name):
            EndpointLimits(**{name: 0})
    with pytest.raises(ValueError, match="retry_base_s"):
        EndpointLimits(retry_base_s=-1)
