"""Where an estimate comes from: its source selects trials of the findings, and its n is what is counted there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from auditor.analysis import AnalysisView
from auditor.findings import Estimate, Findings, Table, Unit
from auditor.measure import measure
from auditor.penalty import PenaltyAnalysis
from auditor.question import ProofGrade, QuestionKind
from auditor.scoring import SCORED

Build = Callable[..., AnalysisView]
_SCORED = {state.value for state in SCORED}


@pytest.fixture(scope="module")
def findings(view_of: Build, asked: Any) -> Findings:
    """Two grounded systems and a baseline, three kinds of canary, two repeats, and trials lost in each stratum."""
    states = ["correct", "partial", "incorrect", "abstained", "denied", "unresolved", "failed", "unsure", "empty"]
    kinds = (QuestionKind.KNOWLEDGE_GAP, QuestionKind.HOLD_OUT, QuestionKind.FICTITIOUS)
    declined = ["canary_attempt", "abstained", "denied", "unsure"]

    def turn(of: list[str], n: int) -> dict[str, list[str]]:
        return {name: [of[(n + s + r) % len(of)] for r in range(2)] for s, name in enumerate(("a", "b", "base"))}

    questions = [asked(turn(states, n), cluster=n // 2) for n in range(18)]
    for n in range(12):
        made = turn(declined, n)
        made["base"] = ["correct", "incorrect"]
        questions.append(asked(made, kinds[n % 3], ProofGrade.LEXICAL, cluster=40 + n // 2))
    questions.append(asked(turn(declined[1:], 1) | {"base": ["correct"] * 2}, kinds[0], ProofGrade.CLAIMED))
    view = view_of(questions, baselines=["base"], canary_share="0.018")
    return measure(view, [(PenaltyAnalysis(), {})], {})


def estimates(findings: Findings) -> Iterator[Estimate]:
    """Every estimate of every table."""
    for section in findings.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                yield from (cell for row in block.rows for cell in row if isinstance(cell, Estimate))


def selected(findings: Findings, source: Mapping[str, int | str]) -> list[Mapping[str, Any]]:
    """The trials that a source names."""
    fields = {name: value for name, value in source.items() if name not in ("other", "beside", "system")}
    systems = {source["system"], source.get("other", source["system"])}
    return [
        trial
        for trial in findings.trials
        if trial["system"] in systems
        and (all(trial[name] == value for name, value in fields.items()) or trial["stratum"] == source.get("beside"))
    ]


# Rates over part of the scored trials: those attempted, those with all votes, those scored for every system.
_PART = ("accuracy_when_answering/", "answer_accuracy/", "volume_accuracy/", "q_common/", "q_all_asked/")


def test_n_is_what_the_source_selects(findings: Findings) -> None:
    """One system: the scored trials, or all planned where bounds are drawn. A pair: no more than its questions."""
    checked = 0
    for estimate in estimates(findings):
        if not estimate.source or estimate.value is None:
            continue
        trials = selected(findings, estimate.source)
        scored = [trial for trial in trials if trial["state"] in _SCORED]
        if "other" in estimate.source:
            assert 0 < estimate.n <= len({trial["question"] for trial in scored}), estimate.name
        elif estimate.name.startswith(("q_bounds/", "not_scored/")):
            assert estimate.n == len(trials), estimate.name
        elif estimate.name.startswith(_PART):
            assert 0 < estimate.n <= len(trials), estimate.name
        else:
            assert estimate.n == len(scored), estimate.name
        checked += 1
    assert checked > 60


def test_every_rate_and_score_stands_with_n_and_interval(findings: Findings) -> None:
    """No table shows a rate or a score as a bare number (DESIGN §4, rule 8), but thresholds, shares and k."""
    bare = set()
    for section in findings.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                for place, column in enumerate(block.columns):
                    if column.unit in (Unit.RATE, Unit.POINTS) and any(isinstance(r[place], float) for r in block.rows):
                        bare.add((block.name, column.name))
    # What answering must be worth, a share that is declared, and how far a bound is from the order: no measured rate.
    assert bare <= {("sweep", "threshold"), ("mixed", "share"), ("tipping", "tipping")}
