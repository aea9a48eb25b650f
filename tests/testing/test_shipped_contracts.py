"""The core's own label kinds and analysis, the embedded labellers and the tables writer keep the public contracts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from auditor.analysis import Analysis
from auditor.canonical import Json
from auditor.discovery import discover
from auditor.judge import VerdictKind
from auditor.label import LabelKind, Labeller
from auditor.penalty import PenaltyAnalysis
from auditor.stance import StanceKind
from auditor.testing import AnalysisContract, LabelKindContract, LabellerContract, ReportWriterContract
from auditor.writer import ReportWriter


class TestStance(LabelKindContract):
    """The core's stance."""

    seats = 1

    def make(self) -> LabelKind:
        """As it is."""
        return StanceKind()

    def examples(self) -> Mapping[str, Json]:
        """All stances."""
        return {f'{{"stance": "{stance}"}}': stance for stance in ("answer", "abstain", "deny", "unsure")}

    def broken(self) -> Sequence[str]:
        """Words instead of the object, another value, another key."""
        return ("abstain", '{"stance": "refuse"}', '{"verdict": "correct"}', '{"stance": "ANSWER', "not an abstention")


class TestVerdict(LabelKindContract):
    """The core's verdict."""

    def make(self) -> LabelKind:
        """As it is."""
        return VerdictKind()

    def examples(self) -> Mapping[str, Json]:
        """All verdicts."""
        return {f'{{"verdict": "{verdict}"}}': verdict for verdict in ("correct", "partial", "incorrect")}

    def broken(self) -> Sequence[str]:
        """A letter, a sentence, a cut object, a number, another word."""
        return (
            "**Answer: CORRECT**",
            "Although the answer is wrong, A.",
            '{"verdict": "correct", "reason": "the',
            '{"verdict": 1}',
            '{"verdict": "right"}',
            '{"verdict": null}',
            '[{"verdict": "correct"}]',
        )


class TestPenalty(AnalysisContract):
    """The core's analysis."""

    def make(self) -> Analysis:
        """As it is."""
        return PenaltyAnalysis()


class TestTables(ReportWriterContract):
    """The shipped tables."""

    def make(self) -> ReportWriter:
        """By its name."""
        return discover().report_writer("tables")()

    def text_of(self, path: Path) -> str:
        """With the byte-order mark taken off."""
        return path.read_bytes().decode("utf-8-sig")


class _Embedded(LabellerContract):
    judge: ClassVar[str]

    def make(self) -> Labeller:
        """By its name."""
        return discover().judge(self.judge)()

    def kind(self) -> LabelKind:
        """The core's verdict."""
        return VerdictKind()


class TestAnswerMatch(_Embedded):
    """Compares normalised answers."""

    judge = "answer-match"


class TestEmbeddingAgreement(_Embedded):
    """Compares word vectors."""

    judge = "embedding-agreement"

    @pytest.fixture(autouse=True)
    def weights(self) -> None:
        """The vectors come with a package that tells of itself when it is first loaded."""
        pytest.importorskip("wordllama")


class TestTokenAlignment(_Embedded):
    """Aligns words."""

    judge = "token-alignment"


class TestStanceRules(LabellerContract):
    """The shipped stance rules."""

    def make(self) -> Labeller:
        """By their name."""
        return discover().stance_classifier("rules")()

    def kind(self) -> LabelKind:
        """The core's stance."""
        return StanceKind()
