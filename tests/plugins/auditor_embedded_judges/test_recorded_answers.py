"""The embedded panel and the stance rules against 500 reviewed answers of real products, where those are at hand.

The figures are floors with a little room under what ``tests/trials/embedded_panel.py`` measures.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
RECORDING = Path(os.environ.get("AUDITOR_SHARED", ROOT.parent / "shared")) / "data" / "transcripts_2026_01.jsonl"
pytestmark = pytest.mark.skipif(not RECORDING.exists(), reason="the recorded answers are not here; set AUDITOR_SHARED")


@pytest.fixture(scope="module")
def trial() -> Iterator[ModuleType]:
    """The trial script as a module."""
    spec = importlib.util.spec_from_file_location(
        "embedded_panel_trial", ROOT / "tests" / "trials" / "embedded_panel.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_recorded_answers(trial: ModuleType) -> None:
    """Abstentions are found, right answers kept, wrong ones found, and each judge dissents alone now and then."""
    rows = trial.read_rows(RECORDING)
    attempted = [row for row in rows if row.grade in ("CORRECT", "INCORRECT")]
    assert (len(rows), len(attempted)) == (500, 428)

    gone = [row for row in rows if row.grade == "NOT_ATTEMPTED"]
    assert sum(row.stance == "abstain" for row in gone) >= 0.95 * len(gone)
    assert sum(row.stance == "abstain" for row in attempted) <= 0.01 * len(attempted)

    for part in (attempted, [row for row in attempted if not row.baseline]):
        right = [row for row in part if row.grade == "CORRECT"]
        wrong = [row for row in part if row.grade == "INCORRECT"]
        kept = sum(row.verdict == "correct" for row in right)
        found = sum(row.verdict == "incorrect" for row in wrong)
        assert kept >= 0.96 * len(right)
        assert found >= 0.73 * len(wrong)
        assert kept + found >= 0.95 * len(part)
    assert sum(row.verdict == "incorrect" for row in attempted if row.grade == "INCORRECT") >= 40

    for seat in range(3):
        others = [{vote for at, vote in enumerate(row.votes) if at != seat} for row in attempted]
        lone = sum(len(pair) == 1 and row.votes[seat] not in pair for row, pair in zip(attempted, others, strict=True))
        assert lone >= 5, trial.JUDGES[seat].method


def test_an_altered_reference_turns_the_verdict(trial: ModuleType) -> None:
    """One digit, month or name changed in the reference: the answers it was right for are right no more."""
    rows = [row for row in trial.read_rows(RECORDING) if row.even and not row.baseline]
    turned, asked = trial.altered(rows).split(" ")[0].split("/")
    assert int(asked) > 100
    assert int(turned) >= 0.85 * int(asked)
