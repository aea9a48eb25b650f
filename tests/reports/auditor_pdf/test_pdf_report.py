"""The report of a real run: what stands on which page, what marks a system, what the file says of itself."""

from __future__ import annotations

import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from auditor.errors import StorageError
from auditor.findings import Estimate, Note, Table
from auditor.testing import PluginPackageContract, ReportWriterContract
from auditor.wording import ASSURANCE, GLOSSARY, METHOD_LIMITS, SIGNATURE_LIMITS
from auditor.writer import ReportData, ReportWriter
from auditor_pdf.writer import PdfWriter, pdf_bytes
from pdf_kit import outline, page_texts, squeezed


class TestPdfWriter(ReportWriterContract):
    """The writer keeps its contract."""

    def make(self) -> ReportWriter:
        """The writer."""
        return PdfWriter()

    def text_of(self, path: Path) -> str:
        """The text of its pages."""
        return "\n".join(page_texts(path.read_bytes()))


class TestPackage(PluginPackageContract):
    """The package keeps its contract."""

    package = "auditor_pdf"


def whole(report: bytes) -> str:
    """All text of a report without white space."""
    return squeezed("".join(page_texts(report)))


def test_cover_says_what_it_must(given: ReportData, report: bytes) -> None:
    """Name, systems with their marks, date, whole protocol digest, assurance, disclosure with what is not stated."""
    cover = squeezed(page_texts(report)[0])
    protocol = str(given.findings.operations["protocol"])
    ended: list[dict[str, str]] = given.findings.operations["ended"]  # type: ignore[assignment] # as the core writes it
    year_month_day = re.match(r"(\d+)-(\d+)-(\d+)", ended[0]["time"])
    assert year_month_day and year_month_day[1] in cover
    for said in ("small", "careful", "eager†", "memory(simulated)", protocol, ASSURANCE, "A. Tester & Sons"):
        assert squeezed(said) in cover
    assert "Paidbynotstated" in cover
    assert squeezed("Simulated: a simulation of a guessing memory") in cover


def test_first_page_comes_before_all_numbers(given: ReportData, report: bytes) -> None:
    """The second page has the first page's sentences and what the signature does not prove."""
    page = squeezed(page_texts(report)[1])
    assert given.first_page is not None
    notes = [block.text for block in given.first_page.blocks if isinstance(block, Note)]
    assert notes and all(squeezed(note) in page for note in notes)
    assert squeezed("What the signature does not prove") in page
    assert all(squeezed(line) in page for line in SIGNATURE_LIMITS)


def test_every_block_of_every_section_is_there(given: ReportData, report: bytes) -> None:
    """No table, figure or note of the findings is missing, and no row of a table."""
    text = whole(report)
    for section in given.findings.sections:
        assert squeezed(section.title) in text
        for block in section.blocks:
            said = block.text if isinstance(block, Note) else "" if isinstance(block, Estimate) else block.title
            assert squeezed(said) in text
            if isinstance(block, Table):
                assert all(squeezed(column.title) in text for column in block.columns)


def test_an_estimate_has_its_interval_and_n(given: ReportData, report: bytes) -> None:
    """Each estimate of the headline is printed with its ends and its n, or with the reason for none."""
    text = whole(report)
    cells = [cell for row in given.findings.sections[0].table("headline").rows for cell in row]
    estimates = [cell for cell in cells if isinstance(cell, Estimate)]
    assert estimates
    for one in estimates:
        if one.value is None:
            assert squeezed(one.reason.removeprefix("n/a").strip(" :()")) in text
        else:
            assert f"n={one.n}" in text
            assert one.low is not None
            shown = f"{100 * abs(one.low):.1f}%to" if one.unit == "rate" else f"{abs(one.low):.3f}to"
            assert shown in text


def test_chapters_are_in_contents_and_outline(report: bytes) -> None:
    """Contents and outline name the same chapters, and the contents' page numbers are right."""
    pages = page_texts(report)
    titles = outline(report)
    assert titles[0] == "In short" and titles[-1] == "Glossary"
    for part in ("Exclusions", "Panel agreement", "Method", "Operations", "Appendix: violated canaries"):
        assert part in titles
    listed = next(page for page in pages if "Contents" in page)
    for title in titles:
        number = re.search(rf"^{re.escape(title)}\s+(\d+)$", listed, re.MULTILINE)
        assert number, title
        assert squeezed(title) in squeezed(pages[int(number[1]) - 1])


def test_each_page_says_where_it_is(given: ReportData, report: bytes) -> None:
    """Page x of y and the short protocol digest stand on every page."""
    pages = page_texts(report)
    short = str(given.findings.operations["protocol"])[:19]
    for number, page in enumerate(pages, 1):
        assert f"Page {number} of {len(pages)}" in page
        assert short in page


def test_file_says_what_it_is(given: ReportData, report: bytes) -> None:
    """Title, author, language; the date is the run's, not the clock's; fonts with text are embedded."""
    reader = PdfReader(BytesIO(report))
    assert reader.metadata is not None and reader.metadata.creation_date is not None
    ended: list[dict[str, str]] = given.findings.operations["ended"]  # type: ignore[assignment] # as the core writes it
    assert reader.metadata.creation_date.isoformat(timespec="seconds") == ended[-1]["time"]
    assert reader.metadata.title == "RAG audit report: small"
    assert reader.metadata.author == "A. Tester & Sons <tests@example.org>"
    catalogue: Any = reader.root_object
    assert catalogue["/Lang"] == "en"
    assert catalogue["/ViewerPreferences"]["/DisplayDocTitle"].value is True


def test_equal_data_give_equal_bytes(given: ReportData, report: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the clock nor the environment is in the file."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    assert pdf_bytes(given) == report


def test_method_and_glossary(report: bytes) -> None:
    """How it was done, what the method cannot show, every term; an embedded panel is said to be weaker."""
    text = whole(report)
    for said in (*METHOD_LIMITS, *(term.meaning for term in GLOSSARY), "Such a panel is weaker than a panel of models"):
        assert squeezed(said) in text


def test_transcripts_show_what_was_asked_and_said(report: bytes) -> None:
    """A violated canary stands with wording, reference, answer, proof and ledger keys."""
    text = whole(report)
    for said in ("1. k1 · knowledge gap", "What is gap 1?", "It is gap 1, b=partial.", "lexical, 2026-11-30, by test"):
        assert squeezed(said) in text
    assert "ask/1.0.12.0.0,ask/1.0.12.0.1" in text


def test_public_report_has_no_text(given: ReportData) -> None:
    """Neither wording, reference, answer, prompt, document nor question id, even where a caller leaves the texts in."""
    text = whole(pdf_bytes(replace(given, public=True)))
    for secret in ("Whatisgap", "Whatisthing", "gap1,", "b=partial", "a.txt", "k1·", "Answerthequestion", "right1"):
        assert secret not in text
    for kept in ("ask/1.0.12.0.0", "Edition", "lexical,2026-11-30"):
        assert kept in text


def test_withheld_texts_are_said_to_be_withheld(given: ReportData) -> None:
    """A ledger whose texts are withheld still makes a report, which does not pretend that nothing was said."""
    text = whole(pdf_bytes(replace(given, texts={}, votes=(), findings=replace(given.findings, sections=()))))
    assert "Questionwithheld" in text and "withheld" in text.partition("Answer,in2trials")[2][:20]


def test_a_file_that_cannot_be_written_is_one_error(tmp_path: Path, given: ReportData) -> None:
    """The error names the file."""
    (tmp_path / "report.pdf").mkdir()
    with pytest.raises(StorageError, match="cannot write"):
        PdfWriter().write(replace(given, findings=replace(given.findings, trials=(), sections=())), tmp_path)
