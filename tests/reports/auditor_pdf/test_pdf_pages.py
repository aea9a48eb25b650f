"""Pages as a reader sees them: something on each, nothing beyond the margins, and the same text by another reader."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from PIL import Image, ImageChops

from auditor.findings import SCHEMA_VERSION, Column, Figure, Findings, Note, NoteKind, Section, Series, Table
from auditor.writer import ReportData
from auditor_pdf.style import MARGIN, PAGE
from auditor_pdf.writer import pdf_bytes
from pdf_kit import NEEDS_POPPLER, page_pictures, shown_of, squeezed

pytestmark = NEEDS_POPPLER
_DOTS = 50
_WIDE = "x" * 300


def ink(page: Image.Image) -> tuple[int, int, int, int]:
    """The box that everything drawn lies in, in dots; fails on an empty page."""
    box = ImageChops.invert(page).point(lambda value: 255 if value > 40 else 0).getbbox()
    assert box is not None, "an empty page"
    return box


def check_pages(pages: list[Image.Image]) -> None:
    """Each page has text besides header and footer, and nothing left or right of the margins."""
    for number, page in enumerate(pages, 1):
        left, _, right, _ = ink(page.crop((0, 20, page.width, page.height)))
        assert left >= MARGIN * _DOTS / 72 - 2, f"page {number} begins at {left}"
        assert right <= (PAGE[0] - MARGIN) * _DOTS / 72 + 2, f"page {number} ends at {right}"
        body = page.crop((0, int(MARGIN * _DOTS / 72), page.width, int((PAGE[1] - MARGIN) * _DOTS / 72)))
        ink(body)


def test_pages_of_a_real_run(report: bytes, tmp_path: Path) -> None:
    """No page is empty, nothing is cut off at its sides, and the renderer has nothing to say against the file."""
    check_pages(page_pictures(report, tmp_path, _DOTS))


def test_pages_of_awkward_findings(tmp_path: Path) -> None:
    """Words wider than a column, forty columns, cells taller than a page, long names in charts: all inside the page."""
    columns = tuple(Column(f"c{n}", f"{_WIDE} {n}") for n in range(40))
    wide = Table("wide", _WIDE, columns, tuple(tuple(f"{_WIDE}{row}" for _ in columns) for row in range(2)))
    tall = Table("tall", "Tall", columns[:6], tuple(("🔴" * 240,) * 6 for _ in range(3)))
    series = tuple(Series(f"{_WIDE} {n}", ("a" * 90, "b" * 90), (1.0 * n, 2.0)) for n in range(9))
    figure = Figure("f", _WIDE, "bars", _WIDE, _WIDE, series)
    note = Note(NoteKind.DISCLOSURE, _WIDE * 20)
    section = Section("unheard", _WIDE, 1, (wide, tall, figure, note))
    given = ReportData(Findings(SCHEMA_VERSION, (), (section,), {}), {"name": _WIDE})
    check_pages(page_pictures(pdf_bytes(given), tmp_path, _DOTS))


def test_another_reader_extracts_the_same_text(tmp_path: Path) -> None:
    """Also poppler's reader finds what is shown, Chinese, Japanese and Korean included."""
    text = "Привет, naïve Ελλάδα 漢字 東京 한국어 🔴 مرحبا ≤ → <b>&amp;</b>"
    section = Section("s", "S", 1, (Note(NoteKind.WARNING, text),))
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf_bytes(ReportData(Findings(SCHEMA_VERSION, (), (section,), {}), {})))
    tool = shutil.which("pdftotext")
    assert tool is not None
    done = subprocess.run([tool, "-enc", "UTF-8", str(path), "-"], capture_output=True, check=True, timeout=60)
    assert shown_of(text) in squeezed(done.stdout.decode("utf-8"))
