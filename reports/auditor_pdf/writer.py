"""The writer ``pdf``: one file, ``report.pdf``, unsigned.

Invariant: equal data give equal bytes; nothing is computed that the findings do not hold; a public report has no text
of a question, a document, a reference or an answer in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reportlab.lib.colors import HexColor
from reportlab.platypus import CondPageBreak, Flowable, PageBreak, Spacer, TableStyle
from reportlab.platypus import Table as Frame

from auditor.errors import StorageError
from auditor.findings import Figure, Table
from auditor.writer import ReportData, ReportWriter
from auditor_pdf.bidi import load_reorder
from auditor_pdf.closing import glossary_flowables, substitution_flowables
from auditor_pdf.cover import cover_flowables, ended_times, report_title, signature_box, system_rows
from auditor_pdf.document import Document, Facts, Layout
from auditor_pdf.font import TEXT_FACE, load_fonts
from auditor_pdf.method import method_flowables
from auditor_pdf.operations import operations_flowables
from auditor_pdf.section import section_flowables
from auditor_pdf.style import LOOKS, RULE, TEXT_WIDTH
from auditor_pdf.transcript import transcript_flowables
from auditor_pdf.typesetter import Heading, Typesetter

__all__ = ["FILE_NAME", "PdfWriter", "pdf_bytes"]

FILE_NAME = "report.pdf"
_MAX_PASSES = 4
_MAX_FACT_CHARACTERS = 300
_LEAST_CONTENTS = 260  # points; with less room the contents begin a page
_ALWAYS_BOLD = "".join(map(chr, (*range(0x20, 0x7F), *range(0xA1, 0x180)))) + "–—−…‹›“”‘’†•×κΔαβμ≤≥"


class PdfWriter(ReportWriter):
    """See the module."""

    def write(self, data: ReportData, folder: Path) -> Sequence[Path]:
        """Write ``folder/report.pdf``. Raises ``StorageError`` when it cannot."""
        path = folder / FILE_NAME
        content = pdf_bytes(data)
        try:
            path.write_bytes(content)
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror}") from error
        return [path]


def pdf_bytes(data: ReportData) -> bytes:
    """The report. Pages are laid out until the page numbers that it prints are those that it has."""
    if data.public:
        data = replace(data, texts={})
    fonts, reorder, facts = load_fonts(_bold_characters(data)), load_reorder(), _facts(data)
    before, content = Layout(), b""
    for _ in range(_MAX_PASSES):
        setter = Typesetter(fonts, reorder)
        document = Document(setter, facts, before)
        content = document.made(_story(setter, data, before))
        if document.after == before:
            break
        before = document.after
    return content


def _facts(data: ReportData) -> Facts:
    times = ended_times(data)
    disclosure = data.protocol.get("disclosure")
    author = str(disclosure.get("run_by") or "") if isinstance(disclosure, dict) else ""
    protocol = str(data.findings.operations.get("protocol") or "")
    title = f"RAG audit report: {report_title(data)[:_MAX_FACT_CHARACTERS]}"
    return Facts(
        title,
        author[:_MAX_FACT_CHARACTERS] or "not stated",
        f"Protocol {protocol}",
        protocol,
        times[-1] if times else None,
    )


def _bold_characters(data: ReportData) -> frozenset[str]:
    names = [report_title(data), *(row.name for row in system_rows(data))]
    for section in (*data.findings.sections, *([data.first_page] if data.first_page else [])):
        names.append(section.title)
        for block in section.blocks:
            if isinstance(block, (Table, Figure)):
                names.append(block.title)
            if isinstance(block, Table):
                names += [column.title for column in block.columns]
    return frozenset(_ALWAYS_BOLD).union(*names)


def _story(setter: Typesetter, data: ReportData, layout: Layout) -> list[Flowable]:
    cover = [*cover_flowables(setter, data), PageBreak()]
    first = [*_first(setter, data)]
    body = list(_body(setter, data))
    return [*cover, *first, CondPageBreak(_LEAST_CONTENTS), *_contents(setter, layout), PageBreak(), *body]


def _first(setter: Typesetter, data: ReportData) -> Iterator[Flowable]:
    if data.first_page is not None:
        yield from section_flowables(setter, data.first_page)
        yield Spacer(0, 6)
    yield signature_box(setter)


def _body(setter: Typesetter, data: ReportData) -> Iterator[Flowable]:
    parts = [[*section_flowables(setter, section)] for section in data.findings.sections]
    parts.append([*method_flowables(setter, data)])
    parts.append([*operations_flowables(setter, data)])
    parts.append([*transcript_flowables(setter, data)])
    parts.append([*substitution_flowables(setter)])  # after all text from data
    parts.append([*glossary_flowables(setter)])
    for number, part in enumerate(part for part in parts if part):
        if number:
            yield PageBreak()
        yield from part


def _contents(setter: Typesetter, layout: Layout) -> Iterator[Flowable]:
    """Headings with their pages, as the last pass found them."""
    yield setter.paragraph("Contents", "h1")
    rows = [[_link(setter, heading), _page(setter, heading, layout)] for heading in setter.headings]
    if not rows:
        return
    contents = Frame(rows, colWidths=[TEXT_WIDTH - 40, 40], hAlign="LEFT")
    contents.setStyle(
        TableStyle(
            [
                ("FONT", (0, 0), (-1, -1), TEXT_FACE, 8),
                ("LEFTPADDING", (0, 0), (-1, -1), 0),
                ("RIGHTPADDING", (0, 0), (-1, -1), 0),
                ("TOPPADDING", (0, 0), (-1, -1), 1),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5),
                ("LINEBELOW", (0, 0), (-1, -1), 0.3, HexColor(RULE)),
            ]
        )
    )
    yield contents


def _link(setter: Typesetter, heading: Heading) -> Flowable:
    name = f"toc{min(heading.level, 1) + 1}"
    return setter.rich(f'<a href="#{heading.anchor}">{setter.markup(heading.text, LOOKS[name])}</a>', name)


def _page(setter: Typesetter, heading: Heading, layout: Layout) -> Flowable:
    return setter.paragraph(str(layout.pages.get(heading.anchor, "")), f"toc{min(heading.level, 1) + 1}_page")
