"""The contract of report writers, as tests."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.findings import (
    SCHEMA_VERSION,
    Column,
    Estimate,
    Figure,
    Findings,
    Note,
    NoteKind,
    Section,
    Series,
    Table,
    Unit,
)
from auditor.testing.check import HOSTILE_TEXTS, must
from auditor.writer import ReportData, ReportWriter

if TYPE_CHECKING:
    import pytest

__all__ = ["ReportWriterContract", "sample_findings"]

_SHOWN = ("Zqcell-one", "Zqcell-two")
_SECRET = "Zqsecret-text"  # noqa: S105 - a marker, not a password


def sample_findings() -> Findings:
    """Findings with one section that no writer has met, made of every kind of block, with hostile texts in it."""
    known = Estimate("zq-known", 0.5, Unit.RATE, 20, 0.3, 0.7, estimand="a superpopulation of questions")
    unknown = Estimate("zq-unknown", None, Unit.RATE, 0, reason="n/a: not a grounded system")
    columns = (Column("name", "Name"), Column("rate", "Rate", Unit.RATE), Column("cost", "Cost", Unit.USD))
    rows = tuple((text, known, None) for text in (*_SHOWN, *HOSTILE_TEXTS, "=1+1", "@SUM(A1)"))
    series = Series("zq-series", (1.0, 2.0), (0.5, None))
    blocks = (
        known,
        unknown,
        Table("zq-table", "A table", columns, rows),
        Figure("zq-figure", "A figure", "line", "x", "y", (series,)),
        Note(NoteKind.WARNING, "Zqnote: a sentence."),
    )
    trial: dict[str, str | int | float | bool | None | list[str]] = {
        "key": "ask/0.0.0.0.0",
        "system": 0,
        "question": 0,
        "repeat": 0,
        "state": "correct",
    }
    return Findings(SCHEMA_VERSION, (trial,), (Section("zq-unheard-of", "Unheard of", 1, blocks),), {})


class ReportWriterContract(ABC):
    """Override ``make``; override ``text_of`` for a format that is not plain text."""

    @abstractmethod
    def make(self) -> ReportWriter:
        """The writer."""

    def data(self, *, public: bool = False) -> ReportData:
        """What it is given."""
        texts = {"question/0/plain": _SECRET, "ask/0.0.0.0.0#1/answer": _SECRET}
        return ReportData(sample_findings(), {}, texts, public)

    def text_of(self, path: Path) -> str:
        """What a reader sees of a file."""
        return path.read_bytes().decode("utf-8", "replace")

    def shown(self, folder: Path, data: ReportData) -> str:
        """Everything that a reader sees of a report."""
        return "\n".join(self.text_of(path) for path in self.make().write(data, folder))

    def test_files_are_in_the_folder(self, tmp_path: Path) -> None:
        """The returned paths exist, are unique, and stand inside the folder."""
        paths = list(self.make().write(self.data(), tmp_path))
        must(bool(paths) and len(set(paths)) == len(paths), f"paths {paths}")
        for path in paths:
            must(path.is_file(), f"{path} does not exist")
            must(path.resolve().is_relative_to(tmp_path.resolve()), f"{path} is outside the folder")

    def test_unheard_of_section_is_shown(self, tmp_path: Path) -> None:
        """A section of an analysis that the writer has never met is shown by its blocks, no row left out."""
        shown = self.shown(tmp_path, self.data())
        for marker in _SHOWN:
            must(marker in shown, f"{marker} of an unknown section is not shown")

    def test_unknown_is_not_a_number(self, tmp_path: Path) -> None:
        """A missing value never becomes NaN."""
        must(not re.search(r"\bnan\b", self.shown(tmp_path, self.data()), re.IGNORECASE), "a missing value became NaN")

    def test_public_report_keeps_texts_out(self, tmp_path: Path) -> None:
        """With ``public`` no question, reference, answer or passage is written."""
        must(_SECRET not in self.shown(tmp_path, self.data(public=True)), "a text is in the public report")

    def test_equal_each_time(self, tmp_path: Path) -> None:
        """Equal findings give equal files."""
        written = []
        for name in ("one", "two"):
            folder = tmp_path / name
            folder.mkdir()
            paths = self.make().write(self.data(), folder)
            written.append({path.relative_to(folder): path.read_bytes() for path in paths})
        must(written[0] == written[1], "two reports of the same findings differ")

    def test_no_print(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        """A writer writes files, nothing else."""
        capfd.readouterr()
        self.make().write(self.data(), tmp_path)
        captured = capfd.readouterr()
        must(captured.out == "" and captured.err == "", f"printed: {captured.out}{captured.err}")
