"""Nested calls: own slot, retries, entries and cost; the caller's slot is given back and its clock stands still."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest

from auditor.canonical import Json
from auditor.engine import (
    Budget,
    Call,
    Encoded,
    FakeClock,
    PortEmbedder,
    PortModel,
    Stored,
    build_ports,
    read_histories,
)
from auditor.errors import Abandoned, CallError, Fault
from auditor.ledger import CheckState, Entry, verify
from auditor.model import (
    ChatModel,
    Completion,
    Embedder,
    Limits,
    Message,
    ModelTraits,
    Role,
    TransportOutcome,
    Usage,
    Wire,
)

A0 = "ask/0.0.0.0.0"
ASK = [Message(Role.USER, "q")]


class StubModel(ChatModel):
    """Completes with a number that counts its calls."""

    def __init__(self, wait_s: float = 0.0, errors: Sequence[Exception] = ()) -> None:
        self.wait_s, self.errors, self.calls = wait_s, list(errors), 0
        self.lock = threading.Lock()

    @property
    def traits(self) -> ModelTraits:
        return ModelTraits("stub")

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Json] | None, limits: Limits, wire: Wire
    ) -> Completion:
        with self.lock:
            self.calls += 1
            number = self.calls
            error = self.errors.pop(0) if self.errors else None
        with wire():
            time.sleep(self.wait_s)
        if error is not None:
            raise error
        return Completion(
            TransportOutcome.TEXT, f"reply {number}", Usage(3, 0), Decimal("0.25"), "stub-1", f"r{number}",
            {"temperature": "0", "stop": []}, b"\x00raw\xff", "stop", True,
        )  # fmt: skip

    def classify(self, error: BaseException) -> Any:
        return error.report if isinstance(error, CallError) else getattr(error, "report", super().classify(error))


class StubEmbedder(Embedder):
    """Two numbers a text."""

    def __init__(self) -> None:
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.calls += 1
        return [[0.1, len(text) / 3] for text in texts]


def _asks(model: StubModel, times: int = 1, embedder: StubEmbedder | None = None) -> Any:
    """An ask that completes ``times`` times through a port on endpoint ``b``."""

    def run(call: Call) -> str:
        embedders = {} if embedder is None else {"vectors": PortEmbedder(embedder, "b", "e1")}
        ports = build_ports(call, {"reader": PortModel(model, "b", "d1")}, embedders)
        texts = [ports.models["reader"].complete(ASK).text for _ in range(times)]
        if embedder is not None:
            texts.append(str(ports.embedders["vectors"].embed(["abc", ""])))
        return " ".join(texts)

    return run


def test_nested_call_has_entries_and_cost_of_its_own(bench: Any) -> None:
    """Keyed by (attempt, port, ordinal), with intent, outcome, texts; its cost counts; the ledger verifies."""
    budget = Budget()
    engine = bench.engine(budget=budget)
    result = engine.run("ask", [bench.task(0, _asks(StubModel(), times=2))])
    assert result.ended[A0].value == "reply 1 reply 2"
    assert bench.keys("intent") == [f"{A0}#1", f"{A0}#1/m0/0#1", f"{A0}#1/m0/1#1"]
    assert bench.keys("outcome")[-1] == f"{A0}#1"
    nested = bench.body("outcome", f"{A0}#1/m0/0#1")
    assert (nested["model"], nested["cost_usd"], nested["request_id"]) == ("stub-1", "0.25", "r1")
    assert budget.spent_usd == Decimal("0.50")
    engine.shutdown(1.0)
    bench.ledger.seal()
    bench.ledger.close()
    assert all(check.state is not CheckState.FAILED for check in verify(bench.ledger.path).checks)


def test_caller_gives_its_slot_back_and_reads_its_own_latency(bench: Any) -> None:
    """Eight asks over a one-slot model: each reads about one model call, none the queue of the others."""
    model = StubModel(wait_s=0.05)
    engine = bench.engine(slots=8, slots_b=1, deadline_s=5)
    result = engine.run("ask", [bench.task(n, _asks(model)) for n in range(8)])
    latencies = [float(ended.latency_ms) for ended in result.ended.values()]
    assert model.calls == 8
    assert min(latencies) >= 50 and statistics.median(latencies) < 95, latencies


def test_caller_and_model_on_one_slot_do_not_lock_each_other_out(bench: Any) -> None:
    """The model shares the system's endpoint, which has one slot: the ask's own slot serves its model call."""

    def run(call: Call) -> str:
        return build_ports(call, {"reader": PortModel(model, "a", "d1")}, {}).models["reader"].complete(ASK).text

    model = StubModel(wait_s=0.002)
    result = bench.engine(slots=1, deadline_s=5).run("ask", [bench.task(n, run) for n in range(6)])
    assert len(result.ended) == 6 and all(ended.report is None for ended in result.ended.values())


def test_time_in_a_port_does_not_count_for_the_deadline_but_the_call_does(bench: Any) -> None:
    """Queueing for a slow one-slot model abandons nobody; a model call longer than the deadline does."""
    engine = bench.engine(slots=6, slots_b=1, deadline_s=0.4)
    result = engine.run("ask", [bench.task(n, _asks(StubModel(wait_s=0.12))) for n in range(6)])
    assert all(ended.report is None for ended in result.ended.values()), "the last one waited .6 s"
    slow = bench.engine(slots=6, deadline_s=0.2).run("ask", [bench.task(9, _asks(StubModel(wait_s=0.5)))])
    assert slow.ended["ask/0.0.9.0.0"].report.fault is Fault.TIMEOUT


def test_port_retries_and_the_caller_does_not(bench: Any, stub_error: Any) -> None:
    """A transient fault is retried in the port; when it is final there, the ask fails once, with that fault."""
    model = StubModel(errors=[stub_error(Fault.TRANSIENT)])
    limits = {"attempts": 2, "retry_base_s": 0.01}
    result = bench.engine(**limits).run("ask", [bench.task(0, _asks(model))])
    assert result.ended[A0].value == "reply 2" and result.ended[A0].attempt == 1
    assert bench.body("outcome", f"{A0}#1/m0/0#1")["fault"] == "transient"
    hopeless = StubModel(errors=[stub_error(Fault.TRANSIENT)] * 9)
    failed = bench.engine(**limits).run("ask", [bench.task(1, _asks(hopeless))])
    ended = failed.ended["ask/0.0.1.0.0"]
    assert (ended.report.fault, ended.attempt, hopeless.calls) == (Fault.TRANSIENT, 1, 2)


@pytest.mark.parametrize("stated", ["90", "Thu, 01 Jan 2026 00:01:30 GMT"])
def test_port_waits_as_long_as_is_stated(bench: Any, stub_error: Any, stated: str) -> None:
    """A nested call that is told to wait is sent again no earlier; the ask around it is not sent again."""
    clock, model = FakeClock(), StubModel(errors=[stub_error(Fault.RATE_LIMITED, "429", retry_after=stated)])
    began_s = clock.monotonic()
    result = bench.engine(clock, deadline_s=1e6).run("ask", [bench.task(0, _asks(model))])
    assert result.ended[A0].value == "reply 2" and result.ended[A0].attempt == 1
    assert clock.monotonic() - began_s >= 90


def test_stopped_model_stops_the_systems_that_need_it(bench: Any, stub_error: Any) -> None:
    """A reader with a wrong key: its system stops, not asked any further; nothing is called through the port."""
    model = StubModel(errors=[stub_error(Fault.AUTHENTICATION)])
    result = bench.engine(slots=1).run("ask", [bench.task(n, _asks(model)) for n in range(5)])
    assert model.calls == 1
    assert result.stopped == {"a": "authentication", "b": "authentication"}
    assert len(result.unasked) >= 3  # a second ask may have begun while the first waited in its port


def test_nested_call_is_replayed_after_a_kill(bench: Any) -> None:
    """FAULTS 49: after a kill a nested call that the ledger holds is not made again: same value, field by field, its
    recorded latency counted, its cost not charged twice.
    """
    model, embedder, first = StubModel(wait_s=0.06), StubEmbedder(), []

    def once(call: Call) -> str:
        ports = build_ports(call, {"reader": PortModel(model, "b", "d1")}, {"v": PortEmbedder(embedder, "b", "e")})
        first.append((ports.models["reader"].complete(ASK), ports.embedders["v"].embed(["abc", ""])))
        return first[-1][0].text

    _first_process(bench, once)
    budget = Budget()
    history = read_histories(bench.ledger)[A0]
    result = bench.engine(budget=budget).run("ask", [bench.task(0, once, history=history)])
    assert (model.calls, embedder.calls) == (1, 1)
    assert first[0] == first[1]
    assert result.ended[A0].value == "reply 1"
    assert float(result.ended[A0].latency_ms) >= 60
    assert budget.spent_usd == 0
    assert bench.keys("resend") == [f"{A0}#1.1"]


def test_nested_call_of_another_input_is_made(bench: Any) -> None:
    """A pipeline that asks something else after a kill gets an answer to what it asks, under a number of its own."""
    model, questions = StubModel(), iter(["first", "second"])

    def run(call: Call) -> str:
        ports = build_ports(call, {"reader": PortModel(model, "b", "d1")}, {})
        return ports.models["reader"].complete([Message(Role.USER, next(questions))]).text

    _first_process(bench, run)
    result = bench.engine().run("ask", [bench.task(0, run, history=read_histories(bench.ledger)[A0])])
    assert result.ended[A0].value == "reply 2"
    assert bench.keys("intent") == [f"{A0}#1", f"{A0}#1/m0/0#1", f"{A0}#1/m0/0#2"]


def test_nested_call_perhaps_sent_is_resent(bench: Any) -> None:
    """Killed on the model's wire: the ask and its model call each keep their number and get a resend."""
    model = StubModel()
    bench.ledger.append_wait([Entry("intent", f"{A0}#1", {"endpoint": "a", "input": f"{0:032x}"})])
    other = bench.engine()
    result = other.run("ask", [bench.task(1, _asks(model))])  # to learn the nested input
    said = bench.body("intent", "ask/0.0.1.0.0#1/m0/0#1")
    assert result.ended
    bench.ledger.append_wait([Entry("intent", f"{A0}#1/m0/0#1", said)])
    bench.engine().run("ask", [bench.task(0, _asks(model), history=read_histories(bench.ledger)[A0])])
    assert bench.keys("resend") == [f"{A0}#1.1", f"{A0}#1/m0/0#1.1"]
    assert bench.keys("outcome").count(f"{A0}#1/m0/0#1") == 1


def test_nested_failure_is_replayed_as_the_same_failure(bench: Any, stub_error: Any) -> None:
    """What failed for good before the kill fails in the same way after it, without a call."""
    model = StubModel(errors=[stub_error(Fault.PERMANENT, "too long")])

    def run(call: Call) -> str:
        try:
            return str(_asks(model)(call))
        except CallError as error:
            return f"without a reader: {error.report.fault} {error.report.message}"

    values = [_first_process(bench, run)]
    result = bench.engine().run("ask", [bench.task(0, run, history=read_histories(bench.ledger)[A0])])
    values.append(result.ended[A0].value)
    assert values == ["without a reader: permanent too long"] * 2
    assert model.calls == 1


def test_abandoned_caller_is_refused(bench: Any) -> None:
    """A call that was given up may not use its ports: it could spend money for nobody."""
    caught: list[BaseException] = []
    done = threading.Event()
    model = StubModel()

    def run(call: Call) -> None:
        while not call.abandoned:
            time.sleep(0.01)
        try:
            _asks(model)(call)
        except Abandoned as error:
            caught.append(error)
        done.set()

    bench.engine(deadline_s=0.05).run("ask", [bench.task(0, run)])
    assert done.wait(5) and len(caught) == 1 and model.calls == 0


def test_nested_call_past_its_deadline_is_late(bench: Any) -> None:
    """The model call ends as timeout; when it comes after all it is late, and the ask sees a timeout."""
    model = StubModel(wait_s=0.3)
    engine = bench.engine(deadline_s=2.0, deadline_b_s=0.1)
    result = engine.run("ask", [bench.task(0, _asks(model))])
    assert result.ended[A0].report.fault is Fault.TIMEOUT
    assert bench.body("outcome", f"{A0}#1/m0/0#1")["fault"] == "timeout"
    bench.ledger.flush()
    assert bench.keys("late") == [f"{A0}#1/m0/0#1"]


def test_stop_while_a_port_waits_leaves_the_ask_perhaps_sent(bench: Any, stub_error: Any) -> None:
    """The engine stops while a model call is in back-off: nothing is known of the system, so nothing is said of it."""
    model = StubModel(errors=[stub_error(Fault.TRANSIENT)])
    engine = bench.engine(retry_base_s=60)
    threading.Timer(0.15, engine.stop, ["enough"]).start()
    result = engine.run("ask", [bench.task(0, _asks(model))])
    assert result.unasked == {A0: "enough"} and bench.ledger.get("outcome", f"{A0}#1") is None


def test_recorded_latency_of_a_nested_call_counts(bench: Any) -> None:
    """A recording that answers at once in place of a model: its own latency goes into the ask's."""

    def run(call: Call) -> str:
        return call.subtask(
            "b", "m0", "x", lambda nested: "r", lambda value, key: Encoded(), lambda error: pytest.fail("no error"),
            _never, recorded_latency_ms=lambda value: Decimal(700),
        )  # fmt: skip

    result = bench.engine().run("ask", [bench.task(0, run)])
    assert 700 <= float(result.ended[A0].latency_ms) < 900


def test_ports_do_not_let_threads_grow_without_bound(bench: Any) -> None:
    """Asks that wait in a port gave their slots back; still no more than twice the slots are open."""
    open_now, peak, lock = [0], [0], threading.Lock()
    model = StubModel(wait_s=0.003)

    def run(call: Call) -> Any:
        with lock:
            open_now[0] += 1
            peak[0] = max(peak[0], open_now[0])
        try:
            return _asks(model)(call)
        finally:
            with lock:
                open_now[0] -= 1

    engine = bench.engine(slots=3, slots_b=1, deadline_s=5)
    engine.run("ask", [bench.task(n, run) for n in range(40)])
    assert 3 <= peak[0] <= 6


def _never(stored: Stored) -> str:
    raise AssertionError("nothing to replay")


def _first_process(bench: Any, run: Any) -> Any:
    """Ask once and lose the outcome, as a kill before its commit does; returns the value that was lost."""
    ledger = _Forgetful(bench.ledger)
    result = bench.engine(ledger=ledger).run("ask", [bench.task(0, run)])
    return result.ended[A0].value


class _Forgetful:
    """The ledger of a process that is killed before the ask's outcome is on the disk."""

    def __init__(self, ledger: Any) -> None:
        self._ledger = ledger

    def append(self, entries: Any) -> Any:
        if any((entry.kind, entry.key) == ("outcome", f"{A0}#1") for entry in entries):
            return self._ledger.append([])
        return self._ledger.append(entries)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)
