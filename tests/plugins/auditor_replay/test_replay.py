"""Replay: a recorded answer is found by its text alone, and no column that is not mapped leaves the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from auditor.errors import CallError, ConfigurationError, Fault
from auditor.model import Limits, TransportOutcome
from auditor.system import Chunk, EvidenceSupport, Reply, Request, System
from auditor.testing import PluginPackageContract, ScriptedWork, SystemContract
from auditor.testing.system import corpus_of
from auditor_replay.config import ReplayConfig
from auditor_replay.system import Replay

_ROW = {
    "provider": "acme",
    "id": "q1",
    "text": "How long?",
    "reply": "Two years.",
    "ms": 2730.314016342163,
    "tokens_out": 12,
    "model_name": "acme-1",
    "cites": [17, "a.md"],
    "found": ["raw passage", {"text": "t", "document": "d.md", "score": 0.25}],
    "review": "CORRECT",
    "grade": "Zqgrade",
    "gold": "Zqgold",
    "bill": 0.0021,
}
_MAPPING: dict[str, Any] = {"question": "text", "answer": "reply", "grounded": True}
_WHOLE: dict[str, Any] = {
    **_MAPPING,
    "select": {"provider": "acme"},
    "family": "openai",
    "latency_ms": "ms",
    "model": "model_name",
    "cost_usd": "bill",
    "usage": {"output_tokens": "tokens_out"},
    "citations": "cites",
    "chunks": "found",
    "labels": {"review_grade": "review"},
}


def replay(folder: Path, *rows: Mapping[str, Any], **mapping: Any) -> Replay:
    """A replay of these rows."""
    path = folder / "recording.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return Replay(ReplayConfig.model_validate({"path": path, **(mapping or _MAPPING)}))


def ask(system: Replay, text: str = "How long?", opaque_id: str = "0") -> Reply:
    """One answer."""
    store = system.open(corpus_of({}), ScriptedWork(Path()))
    return system.ask(store, Request(text, "Answer.", Limits(), opaque_id))


class TestPackage(PluginPackageContract):
    """The contract of plugin packages."""

    package = "auditor_replay"


class TestReplayContract(SystemContract):
    """The contract of systems."""

    def make(self, folder: Path) -> System:
        """Two recorded answers with everything mapped."""
        rows = [{**_ROW, "text": text} for text in self.questions()]
        return replay(folder, *rows, **_WHOLE)


def test_a_recorded_answer_has_everything_that_was_mapped(tmp_path: Path) -> None:
    """Latency, usage, cost, model, evidence and recorded labels travel with the text."""
    reply = ask(replay(tmp_path, _ROW, **_WHOLE))
    assert (reply.outcome, reply.text, reply.model) == (TransportOutcome.TEXT, "Two years.", "acme-1")
    assert reply.recorded is not None
    assert reply.recorded.latency_ms == Decimal("2730.314016342163")
    assert reply.recorded.labels == {"review_grade": "CORRECT"}
    assert (reply.usage.output_tokens, reply.usage.input_tokens) == (12, None)
    assert reply.cost_usd == Decimal("0.0021")
    assert [citation.document for citation in reply.citations or ()] == ["17", "a.md"]
    assert reply.chunks == (Chunk("raw passage"), Chunk("t", "d.md", Decimal("0.25")))


def test_what_is_not_mapped_is_missing_not_zero(tmp_path: Path) -> None:
    """No column, no fact: evidence is not reported, latency, usage and cost are unknown."""
    system = replay(tmp_path, _ROW)
    reply = ask(system)
    assert (reply.chunks, reply.citations, reply.cost_usd, reply.model) == (None, None, None, None)
    assert reply.recorded is not None
    assert reply.recorded.latency_ms is None
    assert reply.usage.output_tokens is None
    assert system.traits.evidence is EvidenceSupport.NONE
    assert (system.traits.reports_usage, system.traits.reports_cost) == (False, False)


def test_null_evidence_is_not_reported_and_an_empty_list_is_none_found(tmp_path: Path) -> None:
    """The two are told apart (DESIGN §4, rule 10)."""
    assert ask(replay(tmp_path, {**_ROW, "cites": None}, **_WHOLE)).citations is None
    assert ask(replay(tmp_path, {**_ROW, "cites": []}, **_WHOLE)).citations == ()


def test_the_text_on_the_wire_is_the_only_key(tmp_path: Path) -> None:
    """The row's own id, or the run's, changes nothing; another text has no answer."""
    system = replay(tmp_path, _ROW, {**_ROW, "text": "How far?", "reply": "Nine km."})
    assert ask(system, "How far?", "1").text == ask(system, "How far?", "2").text == "Nine km."
    for text in ("q1", "How long", "how long?"):
        with pytest.raises(CallError, match="no recorded answer") as caught:
            ask(system, text)
        assert caught.value.report.fault is Fault.PERMANENT


def test_a_grade_never_leaves_the_file(tmp_path: Path) -> None:
    """Columns that are not mapped are in no part of a reply; a label is in ``recorded.labels`` alone."""
    reply = ask(replay(tmp_path, {**_ROW, "review": "Zqreview"}, **_WHOLE))
    assert "Zqgrade" not in repr(reply)
    assert "Zqgold" not in repr(reply)
    assert b"Zqreview" not in reply.raw
    assert repr(reply).count("Zqreview") == 1


def test_inputs_depend_on_mapped_columns_alone(tmp_path: Path) -> None:
    """Shuffled grades change no digest of the answers; a changed answer, or a changed review, changes its own."""
    one = replay(tmp_path, _ROW, **_WHOLE).inputs
    assert replay(tmp_path, {**_ROW, "grade": "x", "gold": "y"}, **_WHOLE).inputs == one
    reviewed = replay(tmp_path, {**_ROW, "review": "INCORRECT"}, **_WHOLE).inputs
    assert reviewed["recording"] == one["recording"]
    assert reviewed["recorded_labels"] != one["recorded_labels"]
    assert replay(tmp_path, {**_ROW, "reply": "One."}, **_WHOLE).inputs["recording"] != one["recording"]


def test_two_answers_to_one_text_are_refused(tmp_path: Path) -> None:
    """Which one to give would depend on what was asked before."""
    with pytest.raises(ConfigurationError, match=r"recording\.jsonl:2: .* line 1 too"):
        ask(replay(tmp_path, _ROW, {**_ROW, "reply": "Three years."}))


def test_select_takes_the_rows_of_one_system(tmp_path: Path) -> None:
    """Other rows do not exist for it, and a value that no row has is answered with the nearest."""
    rows = (_ROW, {**_ROW, "provider": "other", "reply": "No."})
    assert ask(replay(tmp_path, *rows, **_MAPPING, select={"provider": "other"})).text == "No."
    with pytest.raises(ConfigurationError, match=r"provider: acmee; did you mean 'acme'"):
        ask(replay(tmp_path, *rows, **_MAPPING, select={"provider": "acmee"}))
    with pytest.raises(ConfigurationError, match="no line has n: True"):
        ask(replay(tmp_path, {**_ROW, "n": 1}, **_MAPPING, select={"n": True}))


def test_a_column_that_no_row_has_is_answered_with_the_nearest(tmp_path: Path) -> None:
    """A misspelt column is not a recording without that fact."""
    with pytest.raises(ConfigurationError, match=r"no line has a column 'latency'"):
        ask(replay(tmp_path, _ROW, **{**_MAPPING, "latency_ms": "latency"}))
    with pytest.raises(ConfigurationError, match=r"'modelname'; did you mean 'model_name'"):
        ask(replay(tmp_path, _ROW, **{**_MAPPING, "model": "modelname"}))


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ({"ms": "fast"}, "ms"),
        ({"ms": -1}, "ms"),
        ({"ms": 1e300}, "ms"),
        ({"tokens_out": 1.5}, "tokens_out"),
        ({"tokens_out": True}, "tokens_out"),
        ({"cites": "a.md"}, "cites"),
        ({"cites": [None]}, "cites"),
        ({"found": [{"txt": "x"}]}, "found"),
        ({"reply": {"text": "x"}}, "reply"),
        ({"text": " "}, "text"),
    ],
)
def test_a_column_of_another_type_is_said_with_line(tmp_path: Path, change: dict[str, Any], column: str) -> None:
    """Nothing is guessed from a value of the wrong type."""
    with pytest.raises(ConfigurationError, match=rf"recording\.jsonl:1: column '{column}'"):
        ask(replay(tmp_path, {**_ROW, **change}, **_WHOLE))


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_answer_is_empty_and_null_is_a_failure(tmp_path: Path, blank: str) -> None:
    """Neither is an abstention (DESIGN §4, rule 1)."""
    assert ask(replay(tmp_path, {**_ROW, "reply": blank})).outcome is TransportOutcome.EMPTY
    with pytest.raises(CallError, match="the recorded call failed"):
        ask(replay(tmp_path, {**_ROW, "reply": None}))


@pytest.mark.parametrize(
    ("status", "reply", "wanted"),
    [
        ("ok", "x", TransportOutcome.TEXT),
        ("ok", "", TransportOutcome.EMPTY),
        ("filter", "I cannot help.", TransportOutcome.BLOCKED),
        ("length", "", TransportOutcome.TRUNCATED),
        ("error", "x", None),
        (None, "", TransportOutcome.EMPTY),
    ],
)
def test_an_outcome_column_decides(
    tmp_path: Path, status: str | None, reply: str, wanted: TransportOutcome | None
) -> None:
    """Each value of the column means what the mapping says."""
    outcomes = {"ok": "text", "filter": "blocked", "length": "truncated", "error": "failed", "null": "empty"}
    row = {**_ROW, "status": status, "reply": reply}
    system = replay(tmp_path, row, **_MAPPING, outcome="status", outcomes=outcomes)
    if wanted is None:
        with pytest.raises(CallError, match="failed"):
            ask(system)
    else:
        assert ask(system).outcome is wanted
        assert bool(ask(system).text) is (wanted is TransportOutcome.TEXT)


def test_an_outcome_that_the_mapping_does_not_know_is_refused(tmp_path: Path) -> None:
    """There is no default."""
    row = {**_ROW, "status": "odd"}
    with pytest.raises(ConfigurationError, match="does not say what status: 'odd' means"):
        ask(replay(tmp_path, row, **_MAPPING, outcome="status", outcomes={"ok": "text"}))


@pytest.mark.parametrize(
    "change",
    [
        {"labels": {"review_grade": "reply"}},
        {"outcome": "status"},
        {"outcomes": {"ok": "text"}},
        {"grounded": None},
        {"anwser": "x"},
    ],
)
def test_a_mapping_that_means_nothing_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    """A label is nothing else, and whether a product is grounded is never assumed."""
    with pytest.raises(ValidationError):
        replay(tmp_path, _ROW, **{**_MAPPING, **change})


def test_hostile_recorded_text_is_given_as_it_is(tmp_path: Path) -> None:
    """Markup, controls and 200 kB pass; lone surrogates, which UTF-8 cannot carry, become U+FFFD."""
    for text in ("<script>\x00\u202e{x}", "漢" * 70_000, "a\ud800b"):
        reply = ask(replay(tmp_path, {**_ROW, "text": text, "reply": text}), text)
        assert reply.text == text.replace("\ud800", "\ufffd")
