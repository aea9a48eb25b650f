"""A stage of calls: each result under its own task, each intent on the disk first, each limit kept."""

from __future__ import annotations

import asyncio
import random
import statistics
import threading
import time
from decimal import Decimal
from typing import Any, cast

import pytest

from auditor.engine import Call, Encoded
from auditor.errors import ConfigurationError, Fault, StorageError
from auditor.event import CallEnded, Event, StageEnded, StageProgress, StageStarted
from auditor.ledger import Entry, Ledger, Ticket


def _key(number: int) -> str:
    return f"ask/0.0.{number}.0.0"


def _raises(error: BaseException) -> Any:
    def run(call: Call) -> None:
        raise error

    return run


def test_results_belong_to_their_own_task(bench: Any) -> None:
    """FAULTS 32: ten questions with random waits over five slots: result i is question i's, also in the ledger."""
    waits = random.Random(3)  # noqa: S311 - uneven latencies, nothing secret

    def run(number: int, wait_s: float) -> Any:
        def inner(call: Call) -> str:
            time.sleep(wait_s)
            return f"answer {number} of {call.key}"

        return inner

    tasks = [bench.task(n, run(n, waits.uniform(0, 0.03))) for n in range(10)]
    result = bench.engine(slots=5).run("ask", tasks)
    for n in range(10):
        expected = f"answer {n} of {_key(n)}"
        assert result.ended[_key(n)].value == expected
        assert bench.ledger.get("text", f"{_key(n)}#1/answer").text == expected
        assert bench.body("outcome", f"{_key(n)}#1")["input"] == f"{n:032x}"


def test_intent_is_on_the_disk_before_the_wire(bench: Any) -> None:
    """Every call finds its own intent committed when it begins."""
    seen: list[bool] = []

    def run(call: Call) -> str:
        seen.append(bench.ledger.get("intent", call.attempt_key) is not None)
        return "x"

    bench.engine(slots=4).run("ask", [bench.task(n, run) for n in range(40)])
    assert seen == [True] * 40
    assert len(bench.keys("outcome")) == 40


class _Spy:
    """The ledger, with the number of open intents looked at after each commit."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self.committed = ledger, 0
        self.started = 0
        self.peak = 0
        self.lock = threading.Lock()

    def append(self, entries: Any) -> Ticket:
        intents = sum(entry.kind == "intent" for entry in entries)
        ticket = self._ledger.append(entries)
        if intents:
            ticket.add_done_callback(lambda _: self._look(intents))
        return ticket

    def _look(self, intents: int) -> None:
        with self.lock:
            self.committed += intents
            self.peak = max(self.peak, self.committed - self.started)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


@pytest.mark.parametrize("limits", [{"slots": 5}, {"slots": 1}])
def test_no_more_committed_intents_wait_than_slots(bench: Any, limits: dict[str, int]) -> None:
    """What a kill leaves open without having been sent is bounded by the endpoint's slots."""
    spy = _Spy(bench.ledger)

    def run(call: Call) -> str:
        with spy.lock:
            spy.started += 1
        time.sleep(0.002)
        return "x"

    bench.engine(ledger=spy, **limits).run("ask", [bench.task(n, run) for n in range(60)])
    assert spy.committed == 60
    assert 1 <= spy.peak <= limits["slots"]


def test_latency_is_the_wire_call_and_queueing_is_apart(bench: Any) -> None:
    """One slot, six calls of 20 ms: each reads 20 ms, however long it stood in the queue; waits stand in queued_ms."""

    def run(call: Call) -> str:
        time.sleep(0.02)  # building the request
        with call.wire():
            time.sleep(0.02)
        return "x"

    result = bench.engine(slots=1).run("ask", [bench.task(n, run) for n in range(6)])
    latencies = [float(result.ended[_key(n)].latency_ms) for n in range(6)]
    assert min(latencies) >= 20 and statistics.median(latencies) < 38, latencies
    assert float(result.ended[_key(5)].queued_ms) > 150
    assert bench.body("outcome", f"{_key(5)}#1")["queued_ms"] == str(result.ended[_key(5)].queued_ms)


def test_recorded_latency_stands_in_and_an_unknown_one_stays_unknown(bench: Any) -> None:
    """FAULTS 49: a recording keeps its own latency; where it has none there is none, not that of the replay."""

    def unknown(value: Any, key: str) -> Encoded:
        return Encoded(body={"latency_ms": None})

    tasks = [
        bench.task(0, lambda call: "x", recorded_latency_ms=lambda value: Decimal("1234.5")),
        bench.task(1, lambda call: "x", encode=unknown),
    ]
    result = bench.engine().run("ask", tasks)
    assert result.ended[_key(0)].latency_ms == Decimal("1234.5")
    assert bench.body("outcome", f"{_key(0)}#1")["latency_ms"] == "1234.5"
    assert result.ended[_key(1)].latency_ms is None
    assert bench.body("outcome", f"{_key(1)}#1")["latency_ms"] is None


@pytest.mark.parametrize(
    "broken",
    [
        {"encode": lambda value, key: 1 / 0},
        {"encode": lambda value, key: Encoded(body={"score": cast(Any, 0.5)})},
        {"encode": lambda value, key: Encoded(body={"é": 1})},
        {"classify": lambda error: None, "run": lambda call: 1 / 0},
        {"classify": lambda error: 1 / 0, "run": lambda call: 1 / 0},
        {"cost_usd": lambda value: 1 / 0},
        {"recorded_latency_ms": lambda value: Decimal("NaN")},
        {"run": _raises(SystemExit(3))},
        {"run": _raises(KeyboardInterrupt())},
        {"run": _raises(BaseExceptionGroup("two", [SystemExit(1), ValueError()]))},
    ],
)
def test_what_a_task_does_wrong_is_its_own_failure(bench: Any, broken: dict[str, Any]) -> None:
    """Whatever a plugin's functions raise or return, the task has failed with a reason and the others are asked."""
    run = broken.pop("run", lambda call: "x")
    tasks = [bench.task(0, run, **broken), *(bench.task(n, lambda call: "x") for n in range(1, 8))]
    result = bench.engine(slots=2).run("ask", tasks)
    assert result.ended[_key(0)].report.fault is Fault.INTERNAL
    assert bench.body("outcome", f"{_key(0)}#1")["fault"] == "internal"
    assert [result.ended[_key(n)].value for n in range(1, 8)] == ["x"] * 7


@pytest.mark.parametrize(
    "message", ["\x1b[31mred\x00\ud800\u202e", "", " \n\t", "x" * 200_000, "<script>", "{0.__class__}"]
)
def test_hostile_error_messages_become_one_line(bench: Any, stub_error: Any, message: str) -> None:
    """FAULTS 41: error text is never blank, never long, never a control character."""

    def run(call: Call) -> str:
        raise stub_error(Fault.PERMANENT, message)

    bench.engine().run("ask", [bench.task(0, run)])
    said = bench.body("outcome", f"{_key(0)}#1")["message"]
    assert 0 < len(said) <= 500 and said.isprintable() and said.strip()


def test_messages_are_redacted(bench: Any, stub_error: Any) -> None:
    """A key that a vendor echoes is not written."""

    def run(call: Call) -> str:
        raise stub_error(Fault.PERMANENT, "wrong key sk-123")

    result = bench.engine(redact=lambda text: text.replace("sk-123", "***")).run("ask", [bench.task(0, run)])
    assert bench.body("outcome", f"{_key(0)}#1")["message"] == "wrong key ***"
    assert "sk-123" not in result.ended[_key(0)].report.message


def test_threads_share_no_state_of_a_call(bench: Any) -> None:
    """Design fault 27: what a call says of itself (key, attempt, request id) is its own, over five slots."""

    def run(call: Call) -> str:
        time.sleep(0.0005)
        return call.attempt_key

    def encode(value: str, key: str) -> Encoded:
        return Encoded(body={"request_id": value})

    bench.engine(slots=5).run("ask", [bench.task(n, run, encode=encode) for n in range(300)])
    assert all(row.body["request_id"] == row.key for row in bench.ledger.rows("outcome"))


def test_quick_calls_do_not_keep_slow_ones_waiting(bench: Any) -> None:
    """After calls that return at once some take long: the others are not left standing behind them."""
    slow = {5, 6, 7, 50, 51, 52, 53}

    def run(number: int) -> Any:
        return lambda call: time.sleep(0.5 if number in slow else 0.0)

    began_s = time.perf_counter()
    result = bench.engine(slots=8).run("ask", [bench.task(n, run(n)) for n in range(200)])
    assert len(result.ended) == 200
    assert time.perf_counter() - began_s < 1.6, "two rounds of half a second, side by side"


def test_runs_inside_a_running_event_loop(bench: Any) -> None:
    """FAULTS 29: called inside a running loop it works, and leaves loop and policy as they are."""

    async def main() -> tuple[Any, bool]:
        before = asyncio.get_running_loop()
        result = bench.engine().run("ask", [bench.task(n, lambda call: "x") for n in range(5)])
        await asyncio.sleep(0)
        return result, before is asyncio.get_running_loop()

    result, same = asyncio.run(main())
    assert same and len(result.ended) == 5


def test_events_tell_a_stage(bench: Any) -> None:
    """One start, one end, each call, from the thread that runs the stage; progress at most five times a second."""
    events: list[tuple[Event, int]] = []
    engine = bench.engine(slots=2, observe=lambda event: events.append((event, threading.get_ident())))
    began_s = time.perf_counter()
    engine.run("ask", [bench.task(n, lambda call: time.sleep(0.02)) for n in range(60)], done=5)
    elapsed_s = time.perf_counter() - began_s
    kinds = [type(event) for event, _ in events]
    assert kinds[0] is StageStarted and kinds[-1] is StageEnded
    assert kinds.count(CallEnded) == 60
    assert {thread for _, thread in events} == {threading.get_ident()}
    progress = [event for event, _ in events if isinstance(event, StageProgress)]
    assert 1 <= len(progress) <= 5 * elapsed_s + 1
    assert all(5 < each.done <= 65 and each.total == 65 and each.rate_per_s and each.remaining_s for each in progress)
    end = events[-1][0]
    assert isinstance(end, StageEnded) and (end.done, end.total, end.failed) == (65, 65, 0)


def test_ledger_that_takes_no_more_ends_the_run(bench: Any, tmp_path: Any) -> None:
    """A full disk is one clear error, at once, and nothing is called that could not be recorded."""
    ledger = Ledger.create(tmp_path / "small.sqlite", max_pages=40)
    calls: list[str] = []

    def run(call: Call) -> str:
        calls.append(call.key)
        return "x" * 5_000

    engine = bench.engine(ledger=ledger, slots=2)
    with pytest.raises(StorageError):
        engine.run("ask", [bench.task(n, run) for n in range(500)])
    assert len(calls) < 500
    with pytest.raises(StorageError):
        engine.run("ask", [bench.task(1000, run)])
    with pytest.raises(StorageError):
        ledger.close()


def test_an_unknown_endpoint_and_a_repeated_key_are_refused(bench: Any) -> None:
    """Before anything is asked."""
    engine = bench.engine()
    with pytest.raises(ConfigurationError, match="nowhere"):
        engine.run("ask", [bench.task(0, lambda call: "x", endpoint="nowhere")])
    with pytest.raises(ValueError, match="same key"):
        engine.run("ask", [bench.task(0, lambda call: "x"), bench.task(0, lambda call: "x")])
    assert bench.keys("intent") == []


def test_every_entry_of_a_run_verifies(bench: Any, stub_error: Any) -> None:
    """The sealed ledger of a run with retries, failures and timeouts is whole."""
    from auditor.ledger import CheckState, verify

    def run(call: Call) -> str:
        if int(call.key.split(".")[2]) % 3 == 0 and call.attempt == 1:
            raise stub_error(Fault.TRANSIENT)
        return "x"

    engine = bench.engine(slots=3, retry_base_s=0.01)
    engine.run("ask", [bench.task(n, run) for n in range(30)])
    assert engine.shutdown(1.0)
    bench.ledger.seal()
    bench.ledger.close()
    assert all(check.state is not CheckState.FAILED for check in verify(bench.ledger.path).checks)


def test_nothing_is_written_after_shutdown(bench: Any) -> None:
    """A seal stays the last entry: a late reply finds the door shut."""
    release = threading.Event()
    engine = bench.engine(slots=1, deadline_s=0.05)
    engine.run("ask", [bench.task(0, lambda call: release.wait(10))])
    engine.shutdown(0.0)
    bench.ledger.seal()
    release.set()
    time.sleep(0.1)
    bench.ledger.flush()
    assert bench.ledger.is_sealed and bench.keys("late") == []


def test_entries_hold_no_float(bench: Any) -> None:
    """Numbers of outcomes are decimals as text."""
    bench.engine().run("ask", [bench.task(0, lambda call: "x")])
    body = bench.body("outcome", f"{_key(0)}#1")
    for name in ("latency_ms", "queued_ms", "elapsed_ms"):
        assert isinstance(body[name], str) and Decimal(body[name]) >= 0
    assert Entry("outcome", "again", body).body == body
