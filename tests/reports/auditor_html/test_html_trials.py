"""What the page holds of single trials: all of them, each with what it rests on, and nothing that was not scored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from auditor.archive import Run
from auditor.findings import SCHEMA_VERSION, Findings
from auditor.writer import ReportData, VoteRow
from auditor_html.evidence import PAGE_CHARACTERS, read_evidence
from auditor_html.text import shown
from auditor_html.trials import Trials, read_trials
from report_kit import HOSTILE_ANSWERS, LONG_ANSWER

_FIELDS = ("key", "system", "variant", "question", "form", "repeat", "stratum", "state", "detail", "score", "flags") + (
    "stance",
    "verdict",
    "chunks",
    "citations",
    "answer",
    "scrubbed",
    "evidence",
    "attempt",
    "file",
    "rest",
)


def rows_of(trials: Trials) -> dict[str, dict[str, Any]]:
    """Trials by key, their texts looked up."""
    found = {}
    for values in trials.index["trials"]:
        row = dict(zip(_FIELDS, values, strict=True))
        for name in ("answer", "scrubbed"):
            text = None if row[name] is None else trials.texts["texts"][row[name]]
            row[name] = text
        row["evidence"] = None if row["evidence"] is None else trials.texts["evidence"][row["evidence"]]
        found[row["key"]] = row
    return found


def one(texts: dict[str, str], public: bool = False, votes: tuple[VoteRow, ...] = (), **trial: Any) -> dict[str, Any]:
    """The row of one trial with these texts."""
    whole = {"key": "ask/0.0.0.0.0", "question": 0, "system": 0, "state": "correct", **trial}
    made = read_trials(ReportData(Findings(SCHEMA_VERSION, (whole,), (), {}), {}, texts, public, votes), ("s",))
    return rows_of(made)["ask/0.0.0.0.0"]


def evidence(*texts: str | None, citations: list[dict[str, str]] | None = None) -> str:
    """Evidence as the ledger holds it."""
    chunks = [{"text": text, "document": f"d{n}.txt", "score": "0.5"} for n, text in enumerate(texts)]
    return json.dumps({"chunks": chunks, "citations": citations})


def test_script_and_writer_agree_on_the_fields(report: Path) -> None:
    """The script reads a trial's fields by their place; the list of places is the same on both sides."""
    page = (report / "report.html").read_text(encoding="utf-8")
    listed = page.split("const FIELDS = [")[1].split("]")[0]
    assert json.loads(f"[{listed}]") == list(_FIELDS)


def test_all_trials_are_there(rich: Run) -> None:
    """Each trial of the findings, with state, score and answer."""
    made = rows_of(read_trials(rich.report_data(), ("careful", "eager", "bare", "memory")))
    assert set(made) == {trial["key"] for trial in rich.findings.trials}
    for trial in rich.findings.trials:
        row = made[str(trial["key"])]
        assert (row["state"], row["score"], row["detail"]) == (trial["state"], trial["score"], trial["detail"])
        assert (row["answer"] is None) == (trial["state"] in {"empty", "failed"})


def test_answers_are_literal_or_visibly_named(rich: Run) -> None:
    """What a hostile answer says is in the page, hidden characters by their codes."""
    made = rows_of(read_trials(rich.report_data(), ("",) * 4))
    for number, answer in enumerate(HOSTILE_ANSWERS.values()):
        if answer != LONG_ANSWER:
            assert made[f"ask/1.0.{number}.0.0"]["answer"] == shown(answer)
    scrubbed = made["ask/1.0.0.0.0"]["scrubbed"]
    assert scrubbed is not None and "right 1" not in scrubbed


def test_canaries_have_their_proof(rich: Run) -> None:
    """Grade, date, prover, corpus and steps of each canary; none for a benchmark question."""
    questions = read_trials(rich.report_data(), ("",) * 4).index["questions"]
    for question in questions:
        canary = question["kind"] != "benchmark"
        assert bool(question["proofs"]) is canary
        if canary:
            proof = question["proofs"]["base"]
            assert (proof["grade"], proof["prover"], proof["date"]) == ("lexical", "test", "2026-11-30")
            assert proof["corpus"].startswith("sha256:")
            assert proof["steps"] == [["found: 0", "step: lexical"]]


def test_votes_stand_beside_their_trial(rich: Run) -> None:
    """Each labeller's vote, or why there is none, before and after repair, under the input that the trial names."""
    data = rich.report_data()
    made = read_trials(data, ("",) * 4)
    labels = made.index["labels"]
    for trial in rich.findings.trials:
        row = rows_of(made)[str(trial["key"])] if trial["key"] == "ask/1.0.19.0.0" else None
        if row is not None:
            assert labels[row["verdict"]][0] == trial["verdict"]
    votes = {(vote.input, vote.labeller): vote for vote in data.votes}
    for key, reduced, listed in labels:
        assert len(listed) == sum(vote.input == key for vote in data.votes)
        for name, vote, none, first, first_none in listed:
            known = votes[key, name]
            assert (vote, none, first, first_none) == (
                known.vote,
                known.non_label,
                known.first_vote,
                known.first_non_label,
            )
            assert reduced == known.reduced
    assert any(none == "unparseable" for _, _, listed in labels for _, _, none, _, _ in listed)


@pytest.mark.parametrize("state", ["failed", "empty", "blocked", "truncated", "quota_exhausted", "not_asked"])
def test_a_late_text_is_not_an_answer(state: str) -> None:
    """A text that came after the deadline lies under the same key; the trial had none, and shows none."""
    row = one({"ask/0.0.0.0.0#1/answer": "too late", "ask/0.0.0.0.0#1/evidence": evidence("p")}, state=state)
    assert (row["answer"], row["evidence"], row["attempt"]) == (None, None, None)


def test_the_last_attempt_stands() -> None:
    """Attempts count as numbers; a port's subtask has no answer of the trial's."""
    texts = {
        "ask/0.0.0.0.0#10/answer": "last",
        "ask/0.0.0.0.0#9/answer": "ninth",
        "ask/0.0.0.0.0#10/reader/0#1/answer": "nested",
    }
    row = one(texts)
    assert (row["answer"], row["attempt"]) == ("last", 10)


def test_not_reported_is_not_none() -> None:
    """Passages not reported, reported but none, and withheld stay three things."""
    assert (one({}, chunks=None)["chunks"], one({}, chunks=0)["chunks"]) == (None, 0)
    assert one({}, chunks=3)["evidence"] is None
    assert one({"ask/0.0.0.0.0#1/evidence": evidence()}, chunks=0)["evidence"] == {
        "passages": [],
        "left": 0,
        "unlisted": 0,
    }


def test_evidence_beyond_its_first_characters_lies_beside() -> None:
    """The page has 300 characters of a trial's evidence in all; the rest is counted, and whole in a file."""
    first, second = "a" * 200, "b" * 200
    texts = {"ask/0.0.0.0.0#1/evidence": evidence(first, second, None)}
    row = one(texts)
    passages = row["evidence"]["passages"]
    assert [len(text or "") for _, _, text, _, _ in passages] == [200, 100, 0]
    assert sum(len(text or "") for _, _, text, _, _ in passages) == PAGE_CHARACTERS
    assert (passages[1][3], passages[2][2], row["evidence"]["left"]) == (100, None, 100)
    assert row["file"] == "q0.html#ask-0-0-0-0-0"
    made = read_trials(
        ReportData(Findings(SCHEMA_VERSION, ({"key": "ask/0.0.0.0.0", "question": 0},), (), {}), {}, texts), ()
    )
    (kept,) = made.files["q0.html"]
    assert kept.evidence is not None
    assert [passage.text for passage in kept.evidence.passages] == [first, second, None]
    assert one({"ask/0.0.0.0.0#1/evidence": evidence("short")})["file"] is None


def test_long_answers_lie_beside() -> None:
    """An answer of 200 kB is cut in the page, the rest counted, and whole in a file."""
    row = one({"ask/0.0.0.0.0#1/answer": LONG_ANSWER})
    kept, over = row["answer"]
    assert len(kept) + over == len(LONG_ANSWER)
    assert row["file"] is not None


@pytest.mark.parametrize(
    "text", ["", "null", "[]", '{"chunks": 3}', "{", '{"chunks": [1], "citations": null}', "[" * 9999]
)
def test_foreign_evidence_is_shown_as_it_stands(text: str) -> None:
    """Evidence of another form is one passage, never an error."""
    (passage,) = read_evidence(text).passages
    assert passage.text == text


def test_citations_are_evidence_too() -> None:
    """A cited document without a quote is a passage whose text was not reported."""
    found = read_evidence(evidence("p", citations=[{"document": "c.txt"}]))
    assert [(p.kind, p.document, p.text) for p in found.passages] == [
        ("retrieved", "d0.txt", "p"),
        ("cited", "c.txt", None),
    ]


def test_equal_texts_are_kept_once(rich: Run) -> None:
    """Repeats and systems that say the same share one text."""
    texts = read_trials(rich.report_data(), ("",) * 4).texts["texts"]
    assert len({json.dumps(text) for text in texts}) == len(texts)


def test_withheld_texts_are_missing_not_empty(rich: Run) -> None:
    """Without texts every trial, state, score and vote is still there."""
    bare = read_trials(replace(rich.report_data(), texts={}), ("",) * 4)
    assert len(bare.index["trials"]) == len(rich.findings.trials)
    assert bare.texts == {"texts": [], "evidence": []}
    assert bare.files == {}
