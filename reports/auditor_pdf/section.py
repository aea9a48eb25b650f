"""Sections: any section of the findings by its blocks, also one that nobody here has heard of.

Invariant: blocks come in the order of the findings and none is left out; a figure always has its data as a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from reportlab.lib.colors import HexColor
from reportlab.platypus import Flowable, KeepTogether, TableStyle
from reportlab.platypus import Table as Frame

from auditor.findings import Block, Cell, Column, Estimate, Figure, Note, Section, Series, Table, Unit
from auditor_pdf.chart import figure_drawing
from auditor_pdf.derived import derived_flowables
from auditor_pdf.font import TEXT_FACE
from auditor_pdf.number import number_text
from auditor_pdf.style import NOTE_LOOKS, TEXT_WIDTH, NoteLook
from auditor_pdf.table import table_flowables
from auditor_pdf.typesetter import Typesetter

__all__ = ["boxed", "note_flowable", "section_flowables"]

# Where a new part of the core's own section begins, by the name of its first block.
_PARTS = {
    "penalty": {
        "headline": "Scores and canary violations",
        "states": "Exclusions",
        "sweep": "How the order depends on the penalty",
        "pairs_q": "Comparisons",
        "panel": "Panel agreement",
    }
}
_MAX_NOTE_CHARACTERS = 3000
_PART_OF_NOTES = {"penalty": "What these numbers do not show"}


def section_flowables(setter: Typesetter, section: Section) -> Iterator[Flowable]:
    """Heading and blocks of a section."""
    yield setter.heading(section.title or section.name, 0)
    parts = dict(_PARTS.get(section.name, {}))
    last_note = _closing_notes(section.blocks)
    first_block = next((n for n, block in enumerate(section.blocks) if not isinstance(block, Note)), 0)
    for alike, group in groupby(enumerate(section.blocks), key=lambda item: type(item[1])):
        numbered = list(group)
        blocks = [block for _, block in numbered]
        if alike is Estimate:
            yield from table_flowables(setter, _estimates([b for b in blocks if isinstance(b, Estimate)]))
            continue
        for number, block in numbered:
            part = parts.pop(getattr(block, "name", ""), None)
            if part or (number == last_note and section.name in _PART_OF_NOTES):
                yield setter.heading(part or _PART_OF_NOTES[section.name], 1)
            yield from _block(setter, block, number < first_block)
            yield from derived_flowables(setter, section, block)


def _closing_notes(blocks: Sequence[Block]) -> int:
    """Place of the first of the notes that a section ends with; past the end when it ends with another block."""
    place = len(blocks)
    while place and isinstance(blocks[place - 1], Note):
        place -= 1
    return place


def _block(setter: Typesetter, block: Block, leads: bool) -> Iterator[Flowable]:
    if isinstance(block, Table):
        yield from table_flowables(setter, block)
    elif isinstance(block, Figure):
        yield from _figure(setter, block)
    elif isinstance(block, Note):
        yield note_flowable(setter, block, leads=leads)
    else:
        yield from table_flowables(setter, _estimates([block]))


def note_flowable(setter: Typesetter, note: Note, *, leads: bool = False) -> Flowable:
    """A note; a result is a sentence of the text itself. ``leads``: nothing but results stands before it."""
    look = NOTE_LOOKS.get(note.kind)
    if look is None:
        return setter.paragraph(note.text, "lead" if leads else "body", limit=_MAX_NOTE_CHARACTERS)
    return boxed([setter.paragraph(f"{look.word}. {note.text}", "body", limit=_MAX_NOTE_CHARACTERS)], look)


def boxed(inside: Sequence[Flowable], look: NoteLook) -> Flowable:
    """Flowables on a ground with a bar at their left, which may go over several pages."""
    box = Frame([[one] for one in inside], colWidths=[TEXT_WIDTH], hAlign="LEFT", splitInRow=1)
    box.setStyle(
        TableStyle(
            [
                ("FONT", (0, 0), (-1, -1), TEXT_FACE, 8),
                ("BACKGROUND", (0, 0), (-1, -1), HexColor(look.ground)),
                ("LINEBEFORE", (0, 0), (0, -1), 2.5, HexColor(look.bar)),
                ("LEFTPADDING", (0, 0), (-1, -1), 9),
                ("RIGHTPADDING", (0, 0), (-1, -1), 8),
                ("TOPPADDING", (0, 0), (-1, -1), 1.5),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 1),
                ("TOPPADDING", (0, 0), (-1, 0), 5),
                ("BOTTOMPADDING", (0, -1), (-1, -1), 3),
            ]
        )
    )
    box.spaceBefore, box.spaceAfter = 3, 5
    return KeepTogether([box])


def _estimates(estimates: Sequence[Estimate]) -> Table:
    columns = (Column("name", "Estimate"), Column("value", "Value"), Column("about", "About"), Column("by", "Method"))
    rows: tuple[tuple[Cell, ...], ...] = tuple((e.name, e, e.estimand or "–", e.method or "–") for e in estimates)
    return Table("estimates", "Estimates", columns, rows)


def _figure(setter: Typesetter, figure: Figure) -> Iterator[Flowable]:
    number = setter.number("figure")
    title = f"Figure {number}. {figure.title or figure.name}"
    drawing = figure_drawing(setter, figure)
    caption = setter.paragraph(title, "h3", limit=300)
    if drawing is None:
        yield KeepTogether([caption, setter.paragraph("There is no value to draw.", "small")])
    else:
        yield KeepTogether([caption, drawing])
    yield from table_flowables(setter, _data_of(figure), caption=f"Data of figure {number}")


def _data_of(figure: Figure) -> Table:
    """A figure's data: one row a point of x, one column a series."""
    points = list(dict.fromkeys(x for series in figure.series for x in series.x))
    columns = (
        Column("x", figure.x_title or "x", Unit.NUMBER),
        *(Column(series.name, f"{series.name}: {figure.y_title}") for series in figure.series),
    )
    at = [_by_x(series) for series in figure.series]
    rows: tuple[tuple[Cell, ...], ...] = tuple((point, *(values.get(point, "–") for values in at)) for point in points)
    return Table(figure.name, figure.title, columns, rows)


def _by_x(series: Series) -> dict[float | str, str]:
    shown = {}
    for x, y, low, high in zip_longest(series.x, series.y, series.low, series.high):
        if x is None:
            continue
        text = "unknown" if y is None else number_text(y, Unit.POINTS)
        if y is not None and low is not None and high is not None:
            text += f" ({number_text(low, Unit.POINTS)} to {number_text(high, Unit.POINTS)})"
        shown[x] = text
    return shown
