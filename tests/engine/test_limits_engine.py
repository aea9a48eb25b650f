"""Limits of an endpoint and of a run: slots, rates, retries, deadlines, breakers, cost."""

from __future__ import annotations

import threading
import time
from decimal import Decimal
from typing import Any

import pytest

from auditor.engine import Budget, Call, FakeClock
from auditor.errors import Fault


def _key(number: int) -> str:
    return f"ask/0.0.{number}.0.0"


def test_slots_are_kept(bench: Any) -> None:
    """Never more calls on the wire than slots, and all of them used."""
    run = bench.counted(lambda call: time.sleep(0.01))
    bench.engine(slots=4).run("ask", [bench.task(n, run) for n in range(40)])
    assert bench.peak == 4


def test_each_retry_is_an_attempt_of_its_own(bench: Any, stub_error: Any) -> None:
    """Each attempt has its intent and its outcome; the last one decides, and only it carries the latency."""

    def run(call: Call) -> str:
        if call.attempt < 3:
            raise stub_error(Fault.TRANSIENT, "HTTP 503")
        return "at last"

    clock = FakeClock()
    result = bench.engine(clock, slots=2).run("ask", [bench.task(0, run)])
    ended = result.ended[_key(0)]
    assert (ended.value, ended.attempt, ended.report) == ("at last", 3, None)
    assert bench.keys("intent") == [f"{_key(0)}#{n}" for n in (1, 2, 3)]
    first, last = bench.body("outcome", f"{_key(0)}#1"), bench.body("outcome", f"{_key(0)}#3")
    assert first["fault"] == "transient" and first["message"] == "HTTP 503" and first["latency_ms"] is None
    assert Decimal(first["retry_s"]) > 0
    assert "fault" not in last and Decimal(last["latency_ms"]) >= 0


def test_attempts_run_out(bench: Any, stub_error: Any) -> None:
    """After the last attempt the task has failed; it is neither dropped nor empty."""

    def run(call: Call) -> str:
        raise stub_error(Fault.TRANSIENT, "")

    result = bench.engine(FakeClock(), attempts=3).run("ask", [bench.task(0, run)])
    ended = result.ended[_key(0)]
    assert ended.report.fault is Fault.TRANSIENT and ended.value is None and ended.latency_ms is None
    last = bench.body("outcome", f"{_key(0)}#3")
    assert last["message"] == "transient (no message)" and "retry_s" not in last
    assert not result.unasked


def test_retry_after_is_kept_on_the_clock(bench: Any, stub_error: Any) -> None:
    """FAULTS 28: ``Retry-After: 90`` with a fake clock: the next try, of any task there, not before 90 s."""
    clock, sent = FakeClock(), []

    def run(call: Call) -> str:
        sent.append(clock.monotonic())
        if call.key == _key(0) and call.attempt == 1:
            raise stub_error(Fault.RATE_LIMITED, "429", retry_after="90")
        return "x"

    bench.engine(clock, slots=1, deadline_s=1e6).run("ask", [bench.task(n, run) for n in range(3)])
    assert len(sent) == 4
    assert all(at_s >= sent[0] + 90 for at_s in sent[1:])


def test_wait_above_the_cap_is_not_cut_short(bench: Any, stub_error: Any) -> None:
    """FAULTS 28: above the cap the task ends as rate limited after one attempt, instead of asking early."""
    calls = []

    def run(call: Call) -> str:
        calls.append(call.attempt_key)
        raise stub_error(Fault.RATE_LIMITED, "429", retry_after="301")

    result = bench.engine(FakeClock(), deadline_s=1e6).run("ask", [bench.task(0, run)])
    assert calls == [f"{_key(0)}#1"]
    assert result.ended[_key(0)].report.fault is Fault.RATE_LIMITED


def test_slot_is_not_held_while_a_task_sleeps(bench: Any, stub_error: Any) -> None:
    """One slot, and a task in back-off: the others are asked meanwhile."""
    order: list[str] = []

    def run(call: Call) -> str:
        order.append(call.attempt_key)
        if call.key == _key(0) and call.attempt == 1:
            raise stub_error(Fault.TRANSIENT)
        return "x"

    bench.engine(FakeClock(quiet_s=0.2), slots=1).run("ask", [bench.task(n, run) for n in range(4)])
    assert order == [f"{_key(0)}#1", f"{_key(1)}#1", f"{_key(2)}#1", f"{_key(3)}#1", f"{_key(0)}#2"]


@pytest.mark.parametrize("fault", [Fault.AUTHENTICATION, Fault.QUOTA_EXHAUSTED])
def test_wrong_key_or_empty_account_stops_one_endpoint(bench: Any, stub_error: Any, fault: Fault) -> None:
    """That endpoint's tasks stay unasked with the reason; the other endpoint's are all asked."""

    def refused(call: Call) -> str:
        raise stub_error(fault, "no")

    tasks = [bench.task(n, refused) for n in range(20)]
    tasks += [bench.task(n, lambda call: "x", endpoint="b") for n in range(20, 40)]
    result = bench.engine(slots=2).run("ask", tasks)
    assert result.stopped == {"a": str(fault)}
    assert {_key(n) for n in range(20, 40)} <= set(result.ended)
    unasked = set(result.unasked)
    assert len(unasked) >= 16 and set(result.unasked.values()) == {str(fault)}
    assert unasked.isdisjoint(result.ended) and len(unasked) + len(result.ended) == 40
    (stop,) = bench.ledger.rows("stopped")
    assert (stop.body["endpoint"], stop.body["reason"], stop.body["fault"]) == ("a", str(fault), str(fault))
    again = bench.engine(slots=2)
    assert again.run("ask", [bench.task(99, lambda call: "x")]).ended[_key(99)].value == "x"


def test_cost_cap_leaves_the_rest_unasked(bench: Any) -> None:
    """Known costs count; past the cap no call begins, and the rest says why. An unknown price is not nothing."""
    prices = iter([Decimal("0.40"), None, Decimal("0.60"), Decimal("9")])
    budget = Budget(Decimal(1))
    engine = bench.engine(slots=1, budget=budget)
    tasks = [bench.task(n, lambda call: "x", cost_usd=lambda value: next(prices)) for n in range(6)]
    result = engine.run("ask", tasks)
    assert len(result.ended) == 3 and set(result.unasked.values()) == {"max_cost"} and len(result.unasked) == 3
    assert (budget.spent_usd, budget.unknown) == (Decimal("1.00"), 1)
    assert [row.body["reason"] for row in bench.ledger.rows("stopped")] == ["max_cost"]


def test_call_past_its_deadline_fails_as_timeout_and_comes_late(bench: Any) -> None:
    """FAULTS 31: the task ends as failed: timeout, is not retried, its thread is replaced, its reply is only late."""
    release = threading.Event()

    def run(call: Call) -> str:
        if call.key == _key(0):
            release.wait(10)
        return "too late" if call.abandoned else "x"

    engine = bench.engine(slots=1, deadline_s=0.1)
    result = engine.run("ask", [bench.task(n, run) for n in range(5)])
    assert result.ended[_key(0)].report.fault is Fault.TIMEOUT
    assert [result.ended[_key(n)].value for n in range(1, 5)] == ["x"] * 4
    assert bench.keys("intent").count(f"{_key(0)}#1") == 1 and f"{_key(0)}#2" not in bench.keys("intent")
    release.set()
    _until(lambda: bench.ledger.get("late", f"{_key(0)}#1") is not None)
    late = bench.body("late", f"{_key(0)}#1")
    assert late["outcome"] == "text" and bench.ledger.get("text", f"{_key(0)}#1/answer").text == "too late"
    assert bench.body("outcome", f"{_key(0)}#1")["fault"] == "timeout"
    assert result.ended[_key(0)].value is None


def test_more_abandoned_calls_than_slots_stop_the_endpoint(bench: Any) -> None:
    """An endpoint that never answers does not cost a thread a question."""
    release = threading.Event()
    engine = bench.engine(slots=2, deadline_s=0.05)
    result = engine.run("ask", [bench.task(n, lambda call: release.wait(10)) for n in range(30)])
    release.set()
    timeouts = [ended for ended in result.ended.values() if ended.report.fault is Fault.TIMEOUT]
    assert 3 <= len(timeouts) <= 4  # those on the wire when the third was given up
    assert set(result.unasked.values()) == {"abandoned"} and result.stopped == {"a": "abandoned"}


def test_run_deadline_ends_everything(bench: Any) -> None:
    """FAULTS 31: past the run's deadline no call is waited for; what was sent stays "perhaps sent", without outcome."""
    release = threading.Event()
    engine = bench.engine(slots=2, run_deadline_s=0.2)
    began_s = time.perf_counter()
    result = engine.run("ask", [bench.task(n, lambda call: release.wait(10)) for n in range(6)])
    assert time.perf_counter() - began_s < 2
    release.set()
    assert set(result.unasked.values()) == {"run_deadline"} and len(result.unasked) == 6
    assert bench.keys("outcome") == []
    assert [row.body["reason"] for row in bench.ledger.rows("stopped")] == ["run_deadline"]


def test_429_lowers_the_concurrency_and_successes_bring_it_back(bench: Any, stub_error: Any) -> None:
    """Halved once for a burst of refusals, then one slot more for each round of successes."""
    barrier = threading.Barrier(8)

    def refused_once(call: Call) -> str:
        if call.attempt == 1:
            barrier.wait(5)
            raise stub_error(Fault.RATE_LIMITED, "429", retry_after="3")
        return "x"

    seen: list[int] = []
    engine = bench.engine(FakeClock(), slots=8, deadline_s=1e6)
    engine.run("ask", [bench.task(n, refused_once) for n in range(8)])
    assert 4 <= engine.concurrency("a") < 8, "one burst halves once"
    run = bench.counted(lambda call: seen.append(engine.concurrency("a")))
    engine.run("more", [bench.task(n, run) for n in range(100, 200)])
    assert engine.concurrency("a") == 8


def test_request_rate_is_kept(bench: Any) -> None:
    """60 a minute: one second between starts, whatever the slots; nothing waits with a committed intent."""
    clock, starts = FakeClock(), []
    engine = bench.engine(clock, slots=8, requests_per_minute=60, deadline_s=1e6)
    engine.run("ask", [bench.task(n, lambda call: starts.append(clock.monotonic())) for n in range(6)])
    gaps = [b - a for a, b in zip(starts, starts[1:], strict=False)]
    assert len(starts) == 6 and all(gap >= 1 - 1e-6 for gap in gaps)


def test_token_rate_is_kept(bench: Any) -> None:
    """600 tokens a minute at 100 a call: ten seconds between starts."""
    clock, starts = FakeClock(), []
    engine = bench.engine(clock, slots=8, tokens_per_minute=600, deadline_s=1e6)
    engine.run("ask", [bench.task(n, lambda call: starts.append(clock.monotonic()), tokens=100) for n in range(4)])
    gaps = [b - a for a, b in zip(starts, starts[1:], strict=False)]
    assert len(starts) == 4 and all(gap >= 10 - 1e-6 for gap in gaps)


def _until(condition: Any, timeout_s: float = 5.0) -> None:
    end_s = time.perf_counter() + timeout_s
    while not condition():
        assert time.perf_counter() < end_s, "it did not happen"
        time.sleep(0.005)
