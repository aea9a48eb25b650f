"""The arithmetic on 500 recorded answers of five products, with reviewed grades in the place of verdicts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.analysis import AnalysisView
from auditor.findings import Section
from auditor.penalty import PenaltyAnalysis
from auditor.question import ProofGrade, QuestionKind

_REPOSITORY = Path(__file__).resolve().parents[2]
_GRADES = {"CORRECT": "correct", "INCORRECT": "incorrect", "NOT_ATTEMPTED": "abstained"}
BASELINE = "OpenAI_Vanilla"


@pytest.fixture(scope="module")
def recorded() -> list[dict[str, Any]]:
    """The rows; skips where the shared data is not at hand."""
    shared = Path(os.environ.get("AUDITOR_SHARED", _REPOSITORY.parent / "shared"))
    path = shared / "data" / "transcripts_2026_01.jsonl"
    if not path.is_file():
        pytest.skip(f"no {path.name} in the folder that AUDITOR_SHARED names")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def section(recorded: list[dict[str, Any]], view_of: Callable[..., AnalysisView], asked: Any) -> Section:
    """The section over all five systems; the one canary flag is a claim, since no corpus is at hand."""
    by_question: dict[str, list[dict[str, Any]]] = {}
    for line in recorded:
        by_question.setdefault(line["question_id"], []).append(line)
    questions = []
    for _, lines in sorted(by_question.items()):
        canary = bool(lines[0]["canary"])
        states = {line["provider"]: [_state(line)] for line in lines}
        kind = QuestionKind.KNOWLEDGE_GAP if canary else QuestionKind.BENCHMARK
        questions.append(asked(states, kind, ProofGrade.CLAIMED if canary else None))
    return PenaltyAnalysis().analyse(view_of(questions, baselines=[BASELINE]))


def _state(line: dict[str, Any]) -> str:
    state = _GRADES[line["review_grade"]]
    ruled = line["canary"] and line["provider"] != BASELINE and state != "abstained"
    return "canary_attempt" if ruled else state


def _cells(section: Section, table: str, system: str) -> dict[str, Any]:
    found = section.table(table)
    (cells,) = [cells for cells in found.rows if cells[0] == system]
    return dict(zip((column.name for column in found.columns), cells, strict=True))


@pytest.mark.parametrize(
    ("system", "score"),
    [
        ("CustomGPT_RAG", 0.788),
        ("Google_Gemini_RAG", 0.949),
        ("OpenAI_RAG", 0.636),
        ("PageIndex_multidoc", 0.697),
        (BASELINE, -1.202),
    ],
)
def test_q_bench_of_the_reviewed_grades(section: Section, system: str, score: float) -> None:
    """Q at k = 4 on the 99 benchmark questions."""
    found = _cells(section, "headline", system)["q_bench"]
    assert found.value == pytest.approx(score, abs=5e-4)
    assert found.n == 99
    assert found.low < found.value < found.high


@pytest.mark.parametrize(
    ("system", "attempted"),
    [("CustomGPT_RAG", 0), ("Google_Gemini_RAG", 1), ("OpenAI_RAG", 1), ("PageIndex_multidoc", 0), (BASELINE, None)],
)
def test_the_claimed_canary(section: Section, system: str, attempted: int | None) -> None:
    """Its own stratum, without an interval; the baseline is n/a."""
    found = _cells(section, "claimed", system)
    assert found["attempted"] == attempted
    assert found["rate"].value == attempted
    assert found["rate"].low is None
    assert found["rate"].reason
