"""After a stop of any kind: what the ledger holds decides what is called again, and under which number."""

from __future__ import annotations

from typing import Any

from auditor.engine import Encoded, FakeClock, History, read_histories
from auditor.errors import Fault
from auditor.ledger import Entry

A0 = "ask/0.0.0.0.0"


def _intent(key: str, input: str = f"{0:032x}") -> Entry:
    return Entry("intent", key, {"endpoint": "a", "input": input})


def _outcome(key: str, **body: Any) -> Entry:
    return Entry("outcome", key, {"input": f"{0:032x}", **body})


def test_histories_are_what_the_entries_say(bench: Any) -> None:
    """Never asked, asked, perhaps sent, perhaps sent twice, to be asked again, failed for good."""
    bench.ledger.append_wait(
        [
            *[_intent("ask/1#1"), _outcome("ask/1#1")],
            *[_intent("ask/2#1")],
            *[_intent("ask/3#1"), _outcome("ask/3#1", fault="transient", retry_s="1"), _intent("ask/3#2")],
            *[Entry("resend", f"ask/3#2.{n}", {"endpoint": "a", "input": "x"}) for n in (1, 2)],
            *[_intent("ask/4#1"), _outcome("ask/4#1", fault="transient", retry_s="1")],
            *[_intent("ask/5#1"), _outcome("ask/5#1", fault="permanent")],
            *[_intent("ask/5#1/m0/0#1"), _outcome("ask/5#1/m0/0#1")],
        ]
    )
    found = read_histories(bench.ledger)
    assert "ask/0" not in found
    assert found["ask/1"].ended and found["ask/1"].fault is None
    assert found["ask/2"] == History(1, open_intent=True, spent=1, input=f"{0:032x}")
    assert found["ask/3"] == History(2, open_intent=True, resends=2, spent=2, again=False, input=f"{0:032x}")
    assert not found["ask/4"].ended and found["ask/4"].again
    assert found["ask/5"].ended and found["ask/5"].fault == "permanent"
    assert found["ask/5#1/m0/0"].ended


def test_open_intent_keeps_its_number_and_gets_a_resend(bench: Any) -> None:
    """A call that was perhaps sent is sent again under its own attempt; the resend is on the disk before the wire."""
    bench.ledger.append_wait([_intent(f"{A0}#1")])
    seen: list[Any] = []

    def run(call: Any) -> str:
        seen.append((call.attempt, bench.ledger.get("resend", f"{A0}#1.1") is not None))
        return "x"

    result = bench.engine().run("ask", [bench.task(0, run, history=read_histories(bench.ledger)[A0])])
    assert seen == [(1, True)]
    assert (bench.keys("intent"), bench.keys("resend"), bench.keys("outcome")) == (
        [f"{A0}#1"], [f"{A0}#1.1"], [f"{A0}#1"],
    )  # fmt: skip
    assert result.ended[A0].resent


def test_open_intent_of_another_input_is_not_taken_over(bench: Any) -> None:
    """FAULTS 47: an attempt is a resend only of the very same call; else it is an attempt of its own."""
    bench.ledger.append_wait([_intent(f"{A0}#1", input="f" * 32)])
    bench.engine().run("ask", [bench.task(0, lambda call: "x", history=read_histories(bench.ledger)[A0])])
    assert bench.keys("intent") == [f"{A0}#1", f"{A0}#2"] and bench.keys("resend") == []


def test_two_systems_with_one_question_are_two_calls(bench: Any) -> None:
    """FAULTS 47: nothing is shared between endpoints, whatever the question."""
    calls: list[str] = []

    def run(call: Any) -> str:
        calls.append(call.task.endpoint)
        return "x"

    bench.engine().run("ask", [bench.task(0, run, input="q"), bench.task(1, run, endpoint="b", input="q")])
    assert sorted(calls) == ["a", "b"]


def test_only_what_failed_is_asked_again(bench: Any, stub_error: Any) -> None:
    """FAULTS 51: 2 of 120 calls failed; going on asks exactly these two, as new attempts, and touches nothing else."""
    calls: list[str] = []

    def run(call: Any) -> str:
        calls.append(call.key)
        if call.key in failing and call.attempt == 1:
            raise stub_error(Fault.PERMANENT)
        return "x"

    failing = {"ask/0.0.17.0.0", "ask/0.0.90.0.0"}
    bench.engine(slots=16).run("ask", [bench.task(n, run) for n in range(120)])
    bench.ledger.seal()
    before = [(row.kind, row.key, row.digest) for row in bench.ledger.rows()]
    calls.clear()
    histories = read_histories(bench.ledger)
    again = [n for n in range(120) if histories[f"ask/0.0.{n}.0.0"].fault is not None]
    result = bench.engine(slots=16).run(
        "ask", [bench.task(n, run, history=histories[f"ask/0.0.{n}.0.0"]) for n in again], done=118
    )
    assert set(calls) == failing and len(calls) == 2
    assert all(ended.attempt == 2 and ended.report is None for ended in result.ended.values())
    assert [(row.kind, row.key, row.digest) for row in bench.ledger.rows()][: len(before)] == before


def test_attempts_before_a_kill_count_those_before_a_seal_do_not(bench: Any, stub_error: Any) -> None:
    """A kill in back-off grants no further attempts, else a resumed run would answer what a whole one could not;
    asking again under a new seal does.
    """

    def run(call: Any) -> str:
        raise stub_error(Fault.TRANSIENT)

    for n in (1, 2, 3):
        bench.ledger.append_wait([_intent(f"{A0}#{n}"), _outcome(f"{A0}#{n}", fault="transient", retry_s="1")])
    history = read_histories(bench.ledger)[A0]
    assert history.spent == 3
    bench.engine(FakeClock(), attempts=5).run("ask", [bench.task(0, run, history=history)])
    assert bench.keys("intent")[-1] == f"{A0}#5"
    bench.ledger.seal()
    history = read_histories(bench.ledger)[A0]
    assert (history.attempts, history.spent) == (5, 0)
    bench.engine(FakeClock(), attempts=5).run("ask", [bench.task(0, run, history=history)])
    assert bench.keys("intent")[-1] == f"{A0}#10"


def test_stored_zero_reads_back_as_zero(bench: Any) -> None:
    """FAULTS 50: a score of 0 is stored and read as 0, not as missing; an absent one stays absent."""

    def scored(value: Any, key: str) -> Encoded:
        return Encoded(body={"value": value})

    values = ["0", 0, False, "", None]
    bench.engine().run(
        "label", [bench.task(n, lambda call, v=value: v, encode=scored) for n, value in enumerate(values)]
    )
    read = [bench.body("outcome", f"ask/0.0.{n}.0.0#1")["value"] for n in range(len(values))]
    assert [(type(value), value) for value in read] == [(type(value), value) for value in values]


def test_stop_leaves_what_waits_unasked(bench: Any) -> None:
    """After ``stop`` no call starts; those on the wire end and are recorded; the rest says why."""

    def run(call: Any) -> str:
        engine.stop("enough")
        return "x"

    engine = bench.engine(slots=1)
    result = engine.run("ask", [bench.task(n, run) for n in range(10)])
    assert len(result.ended) == 1 and set(result.unasked.values()) == {"enough"} and len(result.unasked) == 9
    later = engine.run("ask", [bench.task(n, run) for n in range(20, 22)])
    assert set(later.unasked.values()) == {"enough"}
