"""One rich run for all tests of the PDF report, and the report made of it."""

from __future__ import annotations

import pytest

from auditor.archive import Run
from auditor.writer import ReportData
from auditor_pdf.writer import pdf_bytes
from report_kit import rich_run


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A real run with marks, canaries, exclusions and hostile answers."""
    return rich_run(tmp_path_factory.mktemp("rich"))


@pytest.fixture(scope="session")
def given(run: Run) -> ReportData:
    """What a writer is given of it."""
    return run.report_data()


@pytest.fixture(scope="session")
def report(given: ReportData) -> bytes:
    """The report."""
    return pdf_bytes(given)
