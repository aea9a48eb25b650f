"""Tables: any table of the findings as rows that fit a page, however many, wide or long they are.

Invariant: every column is shown; a table that is too wide continues in further parts that repeat its first column;
what is cut from a cell or a table is counted where it was cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import Flowable, LongTable, Spacer, TableStyle

from auditor.findings import Cell, Column, Estimate, Table, Unit
from auditor_pdf.font import TEXT_FACE
from auditor_pdf.number import estimate_text, number_text
from auditor_pdf.style import BOX, HEAD, LOOKS, MARGIN, PAGE, RULE, TEXT_WIDTH
from auditor_pdf.typesetter import Typesetter, single_line

__all__ = ["CellText", "facts", "grid", "table_flowables"]

_MAX_ROWS = 400
_MAX_CELL_CHARACTERS = 240
_MAX_HEAD_CHARACTERS = 100  # a header stands on every page, so it must leave room
_WIDEST_WORD, _WIDEST_CELL = 96.0, 230.0  # points
_PADDING = 8.5
_NUMBER_WIDTH = 24.0
_TALLEST = PAGE[1] - 2 * MARGIN - 8  # points for rows on a page
_MEASURED_ROWS = 120
_NUMERIC = frozenset({Unit.COUNT, Unit.NUMBER, Unit.MILLISECONDS, Unit.USD, Unit.RATE, Unit.POINTS})
_INLINE_REASON_CHARACTERS = 14


@dataclass(frozen=True, slots=True)
class CellText:
    """A cell: its text, a smaller line beneath, and whether it is a number."""

    text: str
    detail: str = ""
    strong: bool = False
    numeric: bool = False


@dataclass
class _Reasons:
    """Reasons that are too long for a cell, each told once below the table."""

    marks: dict[str, str] = field(default_factory=dict)

    def mark(self, reason: str) -> str:
        if len(reason) <= _INLINE_REASON_CHARACTERS:
            return f" ({reason})"
        number = len(self.marks)
        letter = chr(97 + number) if number < 26 else str(number + 1)
        return f" ({self.marks.setdefault(reason, letter)})"


def table_flowables(setter: Typesetter, table: Table, caption: str = "") -> Iterator[Flowable]:
    """Caption, rows, and the reasons for what is missing in them."""
    title = caption or f"Table {setter.number('table')}. {single_line(table.title or table.name)}"
    yield setter.paragraph(title, "h3", limit=300)
    if not table.columns:
        yield setter.paragraph("The table has no columns.", "small")
        return
    reasons = _Reasons()
    header = [single_line(column.title or column.name) for column in table.columns]
    rows = [_cells(row, table.columns, reasons) for row in table.rows[:_MAX_ROWS]]
    yield from grid(setter, header, rows)
    if len(table.rows) > _MAX_ROWS:
        setter.cut += 1
        rest = f"{len(table.rows) - _MAX_ROWS:,}".replace(",", "\u00a0")
        yield setter.paragraph(f"{rest} more rows are in the findings and in the format “tables”.", "small")
    if not table.rows:
        yield setter.paragraph("No rows.", "small")
    for reason, letter in reasons.marks.items():
        yield setter.paragraph(f"({letter}) {reason}", "small", limit=1000)
    yield Spacer(0, 6)


def facts(setter: Typesetter, rows: Sequence[tuple[str, str]], *, limit: int = 1200) -> Iterator[Flowable]:
    """Names and values in two columns, without a header."""
    cells = [[CellText(name, strong=True), CellText(value)] for name, value in rows]
    yield from grid(setter, [], cells, limit=limit, widths=(TEXT_WIDTH * 0.26, TEXT_WIDTH * 0.74))
    yield Spacer(0, 6)


def _cells(row: Sequence[Cell], columns: Sequence[Column], reasons: _Reasons) -> list[CellText]:
    """A row as long as the header: a plugin's mistake must not hide the cells that are there."""
    whole: list[Cell] = list(row[: len(columns)]) + [None] * (len(columns) - len(row))
    if len(row) > len(columns):
        whole[-1] = ", ".join(str(cell) for cell in row[len(columns) - 1 :])
    return [_cell(cell, column.unit, reasons) for cell, column in zip(whole, columns, strict=True)]


def _cell(cell: Cell, unit: Unit, reasons: _Reasons) -> CellText:
    if isinstance(cell, Estimate):
        text = estimate_text(cell, reasons.mark)
        return CellText(text.value, text.detail, strong=cell.value is not None)
    if cell is None:
        return CellText("unknown")
    if isinstance(cell, bool):
        return CellText("yes" if cell else "no")
    if isinstance(cell, str):
        return CellText(cell)
    return CellText(number_text(cell, unit), numeric=unit in _NUMERIC)


def grid(
    setter: Typesetter,
    header: Sequence[str],
    rows: Sequence[Sequence[CellText]],
    *,
    limit: int = _MAX_CELL_CHARACTERS,
    widths: Sequence[float] = (),
) -> Iterator[Flowable]:
    """Rows under a header, in as many parts as their width asks for. No header, no rows: nothing."""
    count = len(header) or (len(rows[0]) if rows else 0)
    if not count:
        return
    if widths:
        yield _part(setter, header, rows, range(count), widths, limit, "cell")
        return
    size = "cell"
    measures = _measures(header, rows, limit, size)
    if sum(measure.least for measure in measures) > TEXT_WIDTH:
        size = "dense"
        measures = _measures(header, rows, limit, size)
    parts = _parts([measure.least for measure in measures])
    if len(parts) > 1:
        header = ["#", *header]
        rows = [[CellText(str(number)), *row] for number, row in enumerate(rows, 1)]
        measures = [_Measure(_NUMBER_WIDTH, _NUMBER_WIDTH), *measures]
        parts = [[0, *(column + 1 for column in part)] for part in parts]
    for place, part in enumerate(parts):
        if place:
            yield Spacer(0, 5)
        yield _part(setter, header, rows, part, _widths([measures[column] for column in part]), limit, size)


@dataclass(frozen=True, slots=True)
class _Measure:
    """The least width a column can have, and the one it would like, in points with padding."""

    least: float
    liked: float


def _measures(header: Sequence[str], rows: Sequence[Sequence[CellText]], limit: int, size: str) -> list[_Measure]:
    count = len(header) or len(rows[0])
    return [
        _measure(header[column] if header else "", [row[column] for row in rows[:_MEASURED_ROWS]], limit, size)
        for column in range(count)
    ]


def _measure(title: str, cells: Sequence[CellText], limit: int, size: str) -> _Measure:
    lines = [(title, f"{size}_head")]
    for cell in cells:
        lines += [(cell.text, f"{size}_bold" if cell.strong else size), (cell.detail, f"{size}_small")]
    least, liked = 14.0, 18.0
    for text, name in lines:
        shown = single_line(text[:limit])
        points = LOOKS[name].size * (1.07 if LOOKS[name].bold else 1.0)
        least = max(least, *(stringWidth(word, TEXT_FACE, points) for word in shown.split(" ")))
        liked = max(liked, stringWidth(shown, TEXT_FACE, points) * (0.6 if name.endswith("head") else 1.0))
    least = min(least, _WIDEST_WORD)
    return _Measure(least + _PADDING, max(least, min(liked, _WIDEST_CELL)) + _PADDING)


def _parts(least: Sequence[float]) -> list[list[int]]:
    """Columns of each part, the first column in all of them."""
    if sum(least) <= TEXT_WIDTH:
        return [list(range(len(least)))]
    whole = TEXT_WIDTH - _NUMBER_WIDTH - least[0]
    parts, room = [[0]], whole
    for column in range(1, len(least)):
        if least[column] > room and len(parts[-1]) > 1:
            parts.append([0])
            room = whole
        parts[-1].append(column)
        room -= least[column]
    return parts


def _widths(measures: Sequence[_Measure]) -> list[float]:
    """Widths in points: what each column would like, shrunk to the page or stretched to it in proportion."""
    total = sum(measure.liked for measure in measures)
    if total <= TEXT_WIDTH:
        stretch = min(TEXT_WIDTH, total * 1.6) / total
        return [measure.liked * stretch for measure in measures]
    least = sum(measure.least for measure in measures)
    shrink, spare = min(1.0, TEXT_WIDTH / least), max(0.0, TEXT_WIDTH - least)
    wish = total - least or 1.0
    return [shrink * m.least + spare * (m.liked - m.least) / wish for m in measures]


def _part(
    setter: Typesetter,
    header: Sequence[str],
    rows: Sequence[Sequence[CellText]],
    columns: Sequence[int],
    widths: Sequence[float],
    limit: int,
    size: str,
) -> Flowable:
    right = {column for column in columns if rows and all(row[column].numeric for row in rows)}
    body: list[list[Any]] = [
        [_content(setter, row[column], limit, size, column in right) for column in columns] for row in rows
    ]
    if header:
        heads = [f"{size}_head_right" if column in right else f"{size}_head" for column in columns]
        titles = [
            setter.paragraph(header[c], name, limit=_MAX_HEAD_CHARACTERS)
            for c, name in zip(columns, heads, strict=True)
        ]
        body.insert(0, titles)
    return _Rows(
        body,
        colWidths=list(widths),
        repeatRows=1 if header else 0,
        hAlign="LEFT",
        style=_style(bool(header)),
    )


class _Rows(LongTable):
    """Rows that go over pages whole; one that no page has room for goes over pages too."""

    def split(self, width: float, height: float) -> list[Flowable]:
        """What fits into ``height``, and the rest."""
        heights: list[float] = vars(self)["_rowHeights"]
        head, rows = sum(heights[: self.repeatRows]), heights[self.repeatRows :]
        self.splitInRow = int(head + max(rows, default=0) > _TALLEST)
        parts: list[Flowable] = super().split(width, height)
        return parts


def _content(setter: Typesetter, cell: CellText, limit: int, size: str, right: bool) -> list[Flowable]:
    name = f"{size}_right" if right else f"{size}_bold" if cell.strong else size
    made = [setter.paragraph(cell.text, name, limit=limit)]
    if cell.detail:
        made.append(setter.paragraph(cell.detail, f"{size}_small", limit=limit))
    return made


def _style(header: bool) -> TableStyle:
    commands: list[tuple[Any, ...]] = [
        ("FONT", (0, 0), (-1, -1), TEXT_FACE, 8),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LEFTPADDING", (0, 0), (-1, -1), 4),
        ("RIGHTPADDING", (0, 0), (-1, -1), 4),
        ("TOPPADDING", (0, 0), (-1, -1), 3),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 3.5),
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, HexColor(RULE)),
    ]
    if header:
        commands += [("BACKGROUND", (0, 0), (-1, 0), HexColor(HEAD)), ("VALIGN", (0, 0), (-1, 0), "BOTTOM")]
    else:
        commands.append(("BACKGROUND", (0, 0), (0, -1), HexColor(BOX)))
    return TableStyle(commands)
