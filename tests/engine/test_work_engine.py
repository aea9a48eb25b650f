"""Steps of a store: tasks of the engine that are never made twice, whatever their result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from auditor.canonical import Json
from auditor.engine import FakeClock, PortModel, StoreWork
from auditor.errors import CallError, Fault, FaultReport
from auditor.ledger import Entry
from auditor.model import ChatModel, Completion, Limits, Message, ModelTraits, Role, TransportOutcome, Wire
from auditor.system import Work

RESULTS: list[Json] = [0, False, "", None, [], {}, "id-1", {"files": ["naïve 漢字.txt", "\ud800"], "n": 3}]


class EchoModel(ChatModel):
    """Counts its calls."""

    calls = 0

    @property
    def traits(self) -> ModelTraits:
        return ModelTraits("stub")

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Json] | None, limits: Limits, wire: Wire
    ) -> Completion:
        self.calls += 1
        return Completion(TransportOutcome.TEXT, f"{messages[0].content} {self.calls}")


def _classify(error: BaseException) -> FaultReport:
    report = getattr(error, "report", None)
    return report if isinstance(report, FaultReport) else FaultReport(Fault.INTERNAL, repr(error))


def _work(bench: Any, engine: Any, model: ChatModel | None = None, input: str = "corpus-1") -> StoreWork:
    models = {} if model is None else {"reader": PortModel(model, "b", "d")}
    return StoreWork(
        engine=engine, ledger=bench.ledger, key="open/0.0", endpoint="a", input=input, run_key=b"k" * 32,
        store_name="run-0-0", cache=Path("cache"), classify=_classify, models=models, embedders={},
    )  # fmt: skip


def test_store_work_is_the_contract(bench: Any) -> None:
    """What plugins are typed against is what they get."""
    work: Work = _work(bench, bench.engine())
    assert (work.store_name, work.earlier) == ("run-0-0", {})


def test_earlier_result_is_returned_as_it_stands(bench: Any) -> None:
    """FAULTS 50 and 49: 0, false, empty and null are results; a second process makes none of the steps again."""
    calls: list[int] = []

    def step(number: int) -> Json:
        calls.append(number)
        return RESULTS[number]

    work = _work(bench, bench.engine())
    first = [work.call(f"step {n}", lambda n=n: step(n)) for n in range(len(RESULTS))]  # type: ignore[misc]  # a default cannot be inferred
    bench.ledger.flush()
    again = _work(bench, bench.engine())
    second = [again.call(f"step {n}", lambda n=n: step(n)) for n in range(len(RESULTS))]  # type: ignore[misc]  # the same
    assert first == second == RESULTS
    assert calls == list(range(len(RESULTS)))
    assert again.earlier == {f"step {n}": result for n, result in enumerate(RESULTS)}


def test_step_names_are_not_in_keys(bench: Any) -> None:
    """A plugin names its steps by documents; keys hold keyed digests."""
    _work(bench, bench.engine()).call("upload/secret plan.pdf", lambda: "file-1")
    assert not any("secret" in f"{row.kind} {row.key}" for row in bench.ledger.rows())


def test_steps_of_another_store_are_made(bench: Any) -> None:
    """Another corpus under the same key: nothing is taken over."""
    _work(bench, bench.engine()).call("create", lambda: "old")
    bench.ledger.flush()
    assert _work(bench, bench.engine(), input="corpus-2").call("create", lambda: "new") == "new"
    assert _work(bench, bench.engine(), input="corpus-2").earlier == {"create": "new"}


def test_failed_step_is_made_again_by_the_next_process(bench: Any, stub_error: Any) -> None:
    """It raises for good here, and gets attempts of its own at the next start."""

    def fails() -> Json:
        raise stub_error(Fault.PERMANENT, "no such folder")

    with pytest.raises(CallError, match="no such folder"):
        _work(bench, bench.engine()).call("create", fails)
    bench.ledger.flush()
    assert _work(bench, bench.engine()).call("create", lambda: 7) == 7


def test_step_perhaps_made_is_resent(bench: Any) -> None:
    """A kill during a step: the same attempt, with a resend entry."""
    work = _work(bench, bench.engine())
    task = f"open/0.0/{work._name('create')}"
    bench.ledger.append_wait([Entry("intent", f"{task}#1", {"endpoint": "a", "input": work._input("create")})])
    assert work.call("create", lambda: 1) == 1
    bench.ledger.flush()
    assert bench.keys("resend") == [f"{task}#1.1"] and bench.keys("intent") == [f"{task}#1"]


def test_steps_retry_and_keep_rates(bench: Any, stub_error: Any) -> None:
    """The plugin neither sleeps nor retries."""
    errors = [stub_error(Fault.TRANSIENT), stub_error(Fault.RATE_LIMITED, retry_after="30")]

    def step() -> Json:
        if errors:
            raise errors.pop(0)
        return "made"

    clock = FakeClock()
    assert _work(bench, bench.engine(clock)).call("create", step) == "made"
    assert clock.monotonic() >= 30


@pytest.mark.parametrize("final", [0, False, "", "done", []])
def test_poll_ends_with_the_first_answer(bench: Any, final: Json) -> None:
    """Anything but None is an answer; between tries time passes on the engine's clock."""
    answers = iter([None, None, final])
    clock = FakeClock()
    work = _work(bench, bench.engine(clock))
    assert work.poll("ready", lambda: next(answers), deadline_s=60) == final
    assert clock.monotonic() >= 2
    bench.ledger.flush()
    assert _work(bench, bench.engine(clock)).poll("ready", lambda: pytest.fail("made again"), deadline_s=60) == final


def test_poll_that_never_ends_is_a_timeout(bench: Any) -> None:
    """A backend that stays in progress: an error that says for how long, not an endless loop."""
    clock = FakeClock()
    with pytest.raises(CallError, match="not ready after 100 s") as caught:
        _work(bench, bench.engine(clock)).poll("ready", lambda: None, deadline_s=100)
    assert caught.value.report.fault is Fault.TIMEOUT
    assert 100 <= clock.monotonic() < 120


def test_ports_outside_a_step_are_tasks_inside_they_are_nested(bench: Any) -> None:
    """Both survive a kill: the second process calls the model for neither."""
    model = EchoModel()

    def ask(work: StoreWork) -> list[str]:
        def step() -> Json:
            return work.ports.models["reader"].complete([Message(Role.USER, "inner")]).text

        outer = work.ports.models["reader"].complete([Message(Role.USER, "outer")]).text
        return [outer, str(work.call("step", step))]

    first = ask(_work(bench, bench.engine(), model))
    bench.ledger.flush()
    assert ask(_work(bench, bench.engine(), model)) == first == ["outer 1", "inner 2"]
    assert model.calls == 2


def test_steps_from_within_a_task_need_no_second_slot(bench: Any) -> None:
    """A store that is opened as a task on a one-slot endpoint makes its steps there."""
    engine = bench.engine(slots=1)

    def open_store(call: Any) -> Any:
        return _work(bench, engine).call("create", lambda: "made")

    result = engine.run("open", [bench.task(0, open_store)])
    assert result.ended["ask/0.0.0.0.0"].value == "made"
