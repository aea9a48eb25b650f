"""Acme's report: the titles of the sections."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from auditor.writer import ReportData, ReportWriter


class AcmeTitles(ReportWriter):
    """One line a section."""

    def write(self, data: ReportData, folder: Path) -> Sequence[Path]:
        """One file."""
        path = folder / "acme-titles.txt"
        path.write_text("".join(f"{section.title}\n" for section in data.findings.sections), encoding="utf-8")
        return [path]
