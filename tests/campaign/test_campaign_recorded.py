"""A whole audit over 500 recorded answers of five products: what is scored, and what never reaches a judge."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.archive import Run, verify_run
from auditor.campaign import RunOptions, RunResult, run_campaign
from auditor.errors import ExitCode
from auditor.findings import Estimate, Section
from auditor.findings_json import to_json

SPEC = Path(__file__).resolve().parents[2] / "docs" / "examples" / "transcripts.yaml"
RECORDING = "data/transcripts_2026_01.jsonl"
SYSTEMS = ("CustomGPT", "Gemini", "OpenAI", "PageIndex", "OpenAI-without-documents")


def audit(folder: Path, shared: Path) -> RunResult:
    """The example's run, over the recording under ``shared``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDITOR_SHARED", str(shared))
        return run_campaign(RunOptions(SPEC, runs=folder / "runs"), lambda event: None)


@pytest.fixture(scope="module")
def finished(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunResult]:
    """One run for all tests here."""
    yield audit(tmp_path_factory.mktemp("recorded"), shared_data)


def section(result: RunResult, name: str) -> Section:
    """One section of the findings."""
    return next(section for section in result.findings.sections if section.name == name)


def rows(table: Any) -> dict[str, dict[str, Any]]:
    """Cells by system and column."""
    columns = [column.name for column in table.columns]
    return {str(row[0]): dict(zip(columns, row, strict=True)) for row in table.rows}


def test_all_five_recorded_systems_are_scored_beside_the_reviewed_totals(finished: RunResult) -> None:
    """Correct, wrong, abstained, Q_4 with its interval, and the reviewer's totals of the same trials."""
    from auditor.cli.tables import section_lines

    headline = rows(section(finished, "penalty").table("headline"))
    assert tuple(headline) == SYSTEMS
    scores = [cell for row in headline.values() for cell in row.values() if isinstance(cell, Estimate)]
    assert [score.n for score in scores if score.name.startswith("q_bench")] == [99] * 5
    assert all(score.low is not None and score.high is not None for score in scores if score.n == 99)
    reviewed = rows(section(finished, "reviewed").table("by_system"))
    totals = [sum(int(row[value]) for row in reviewed.values()) for value in ("correct", "incorrect", "not_attempted")]
    assert totals == [378, 50, 72]
    printed = "\n".join(line for part in finished.findings.sections for line in section_lines(part, 200))
    assert all(name in printed for name in SYSTEMS)


def test_the_claimed_canary_is_a_stratum_of_its_own_without_an_interval(finished: RunResult) -> None:
    """Gemini and OpenAI attempted it, CustomGPT and PageIndex did not, the baseline is n/a."""
    claimed = {
        int(str(trial["system"])): trial["state"] for trial in finished.findings.trials if trial["stratum"] == "claimed"
    }
    attempts = [SYSTEMS[system] for system, state in claimed.items() if state == "canary_attempt"]
    assert sorted(attempts) == ["Gemini", "OpenAI"]
    assert claimed[0] == claimed[3] == "abstained"
    cells = [
        cell for row in section(finished, "penalty").table("claimed").rows for cell in row if isinstance(cell, Estimate)
    ]
    assert len(cells) == 5
    assert all(cell.low is None and cell.high is None and cell.reason for cell in cells)
    assert [cell.value for cell in cells].count(None) == 1


def test_each_judge_dissents_alone_and_agreement_is_shown(finished: RunResult) -> None:
    """The three judges fail differently: on the attempted answers each is alone against the others at least 5 times."""
    votes = Run(finished.folder).votes
    verdicts = votes[votes["kind"] == "verdict"].pivot(index="input", columns="labeller", values="vote")
    trials = Run(finished.folder).trials
    alone: dict[Any, int] = dict.fromkeys(verdicts.columns, 0)
    keys = {trial["key"]: trial["verdict"] for trial in finished.findings.trials}
    for key in trials["key"]:
        if keys[key] is None:
            continue
        cast = verdicts.loc[keys[key]]
        for judge in verdicts.columns:
            others = [cast[other] for other in verdicts.columns if other != judge]
            alone[judge] += int(bool(others[0] == others[1] != cast[judge]))
    assert min(alone.values()) >= 5, alone
    pairs = section(finished, "penalty").table("panel_pairs")
    kappas = [cell for row in pairs.rows for cell in row if isinstance(cell, Estimate) and "kappa" in cell.name]
    assert len(kappas) >= 3
    assert all(kappa.value is not None and 0 < kappa.value < 1 for kappa in kappas), kappas


def test_the_files_own_labels_reach_no_judge(finished: RunResult, shared_data: Path, tmp_path: Path) -> None:
    """With its grades shuffled the measurement is the same, byte for byte, outside the section that shows them."""
    lines = (shared_data / RECORDING).read_text(encoding="utf-8").splitlines()
    recorded = [json.loads(line) for line in lines]
    chance = random.Random(5)  # noqa: S311 - a shuffle, no secret
    for column in ("grade", "review_grade", "contains_gold"):
        values = [row[column] for row in recorded]
        chance.shuffle(values)
        for row, value in zip(recorded, values, strict=True):
            row[column] = value
    target = tmp_path / "shared" / RECORDING
    target.parent.mkdir(parents=True)
    target.write_text("\n".join(json.dumps(row) for row in recorded) + "\n", encoding="utf-8")
    shuffled = audit(tmp_path, tmp_path / "shared")

    def measurement(result: RunResult) -> tuple[str, str]:
        whole = to_json(result.findings)["measurement"]
        own = [part for part in whole["sections"] if part["name"] == "reviewed"]
        whole["sections"] = [part for part in whole["sections"] if part["name"] != "reviewed"]
        return json.dumps(whole, sort_keys=True), json.dumps(own, sort_keys=True)

    first, second = measurement(finished), measurement(shuffled)
    assert first[0] == second[0]
    assert first[1] != second[1]


def test_the_run_verifies_and_its_recording_is_no_part_of_the_design(finished: RunResult) -> None:
    """Its numbers recompute, and latency is the recording's own."""
    assert verify_run(finished.folder).exit_code is ExitCode.OK
    systems = finished.findings.operations["systems"]
    assert isinstance(systems, list)
    medians = {system["name"]: float(system["latency_ms"]["median"]) for system in systems}
    assert all(500 < median < 60_000 for median in medians.values()), medians


def test_a_run_is_open_to_notebooks(finished: RunResult) -> None:
    """``auditor.open`` gives trials, votes and questions as data frames and the typed findings."""
    import auditor

    run = auditor.open(os.fspath(finished.folder))
    assert len(run.trials) == 500
    assert set(run.trials["system"]) == set(SYSTEMS)
    assert len(run.questions) == 100
    assert {"verdict", "stance", "reviewed"} == set(run.votes["kind"])
    assert run.findings.sections[0].name == "penalty"
    assert run.trials["answer"].notna().all()
    assert (run.trials[run.trials["state"] == "correct"]["score"] == 1).all()
