"""Findings on a terminal: every block of every section, also of sections that nobody here has heard of.

Invariant: an unknown value is shown as unknown with its reason, never as 0 or as nothing; a rate stands with its n and
its interval; nothing from data moves the cursor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, zip_longest

from auditor.cli.grid import cell_width, grid, wrapped
from auditor.cli.text import clipped, visible
from auditor.findings import Block, Cell, Column, Estimate, Figure, Note, NoteKind, Section, Series, Table, Unit

__all__ = ["estimate_text", "number_text", "section_lines"]

_INLINE_REASON_CHARACTERS = 20
_CELL_CHARACTERS = 300
_NOTE_WORDS = {NoteKind.METHOD: "Note", NoteKind.WARNING: "Warning", NoteKind.DISCLOSURE: "Disclosure"}
_NUMERIC = frozenset({Unit.COUNT, Unit.NUMBER, Unit.MILLISECONDS, Unit.USD})

Emphasis = Callable[[str], str]


def section_lines(section: Section, width: int, *, emphasis: Emphasis = str) -> Iterator[str]:
    """Lines of ``section`` for a terminal of ``width`` columns. ``emphasis`` marks titles (bold, on a terminal)."""
    yield from _title(section.title or section.name, width, emphasis, rule="=")
    for alike, blocks in groupby(section.blocks, key=type):
        group = list(blocks)
        yield ""
        if alike is Estimate:
            yield from _estimates([block for block in group if isinstance(block, Estimate)], width)
        else:
            for number, block in enumerate(group):
                if number and not isinstance(block, Note):
                    yield ""
                yield from _block(block, width, emphasis)


def _block(block: Block, width: int, emphasis: Emphasis) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _title(block.title or block.name, width, emphasis)
        yield from _table(block, width)
    elif isinstance(block, Figure):
        yield from _title(block.title or block.name, width, emphasis)
        yield from _table(_figure_table(block), width)
    elif isinstance(block, Note):
        yield from _paragraph(f"{_NOTE_WORDS[block.kind]}: {block.text}", width)
    else:
        yield from _estimates([block], width)


def _title(text: str, width: int, emphasis: Emphasis, rule: str = "") -> Iterator[str]:
    lines = wrapped(visible(clipped(text, _CELL_CHARACTERS)), width)
    yield from map(emphasis, lines)
    if rule:
        yield rule * max(map(cell_width, lines))


def _paragraph(text: str, width: int, indent: str = "  ") -> Iterator[str]:
    """A note in full: what belongs to the numbers is not cut."""
    first, *rest = wrapped(visible(text), max(10, width - len(indent)))
    yield first
    yield from (indent + line for line in rest)


@dataclass(slots=True)
class _Footnotes:
    """Reasons that are too long for a cell, each told once below the table."""

    letters: dict[str, str] = field(default_factory=dict)

    def mark(self, reason: str) -> str:
        """The reason itself when it is short, else its letter."""
        return f"({visible(reason)})" if len(reason) <= _INLINE_REASON_CHARACTERS else self.letter(reason)

    def letter(self, reason: str) -> str:
        """A letter that stands for the reason."""
        number = len(self.letters)
        letter = chr(97 + number) if number < 26 else str(number + 1)
        return f"({self.letters.setdefault(reason, letter)})"

    def lines(self, width: int) -> Iterator[str]:
        for reason, letter in self.letters.items():
            yield from _paragraph(f"({letter}) {reason}", width, "    ")


def number_text(value: float, unit: Unit) -> str:
    """A number as its unit is shown."""
    if not math.isfinite(value):
        return "unknown (not a number)"
    if unit is Unit.RATE:
        return f"{100 * value:.1f}%"
    if unit is Unit.POINTS:
        return f"{value:.3f}"
    if unit is Unit.COUNT and float(value).is_integer():
        return str(int(value))
    if unit is Unit.MILLISECONDS:
        return f"{value:.0f} ms" if abs(value) >= 10 else f"{value:.3g} ms"
    if unit is Unit.USD:
        return f"${value:.2f}" if abs(value) >= 1 else f"${value:.4g}"
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def estimate_text(estimate: Estimate, mark: Callable[[str], str] = "({})".format) -> str:
    """``0.788 [0.700, 0.860] n=99``; without a value ``unknown (reason) n=0``. ``mark`` writes the reason."""
    reason = estimate.reason or "no reason given"
    if estimate.value is None:
        word, why = ("n/a", reason[3:].strip(" :()")) if reason.startswith("n/a") else ("unknown", reason)
        return f"{word} {mark(why)}" if why else word
    shown = number_text(estimate.value, estimate.unit)
    if estimate.low is None and estimate.high is None:
        return f"{shown} n={estimate.n}, no interval {mark(reason.removeprefix('no interval: '))}"
    ends = ("-" if end is None else number_text(end, estimate.unit) for end in (estimate.low, estimate.high))
    level = "" if estimate.level == 0.95 else f" ({100 * estimate.level:g}%)"
    return f"{shown} [{', '.join(ends)}]{level} n={estimate.n}"


def _cell(cell: Cell, unit: Unit, notes: _Footnotes) -> str:
    if cell is None:
        return "unknown"
    if isinstance(cell, Estimate):
        return estimate_text(cell, notes.mark)
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return visible(clipped(cell, _CELL_CHARACTERS))
    return number_text(cell, unit)


def _table(table: Table, width: int) -> Iterator[str]:
    if not table.columns:
        return
    notes = _Footnotes()
    header = [visible(column.title or column.name) for column in table.columns]
    rows = [
        [
            _cell(cell, column.unit, notes)
            for cell, column in zip(_whole(row, table.columns), table.columns, strict=True)
        ]
        for row in table.rows
    ]
    numeric = [column.unit in _NUMERIC and _holds_numbers(table, i) for i, column in enumerate(table.columns)]
    yield from grid(header, rows, width, numeric=numeric)
    if not table.rows:
        yield "(no rows)"
    yield from notes.lines(width)


def _whole(row: Sequence[Cell], columns: Sequence[Column]) -> list[Cell]:
    """A row as long as the header: a plugin's mistake must not hide the cells that are there."""
    if len(row) > len(columns):
        rest = ", ".join(str(cell) for cell in row[len(columns) - 1 :])
        return [*row[: len(columns) - 1], rest]
    return [*row, *[None] * (len(columns) - len(row))]


def _holds_numbers(table: Table, index: int) -> bool:
    return all(not isinstance(cell, (str, Estimate)) for row in table.rows for cell in row[index : index + 1])


def _estimates(estimates: Sequence[Estimate], width: int) -> Iterator[str]:
    notes = _Footnotes()
    rows = [[visible(e.name), estimate_text(e, notes.mark), visible(e.estimand)] for e in estimates]
    yield from grid(["estimate", "value", "about"], rows, width, numeric=[False] * 3)
    yield from notes.lines(width)


def _figure_table(figure: Figure) -> Table:
    """A figure as its data: one row a point of x, one column a series."""
    points = list(dict.fromkeys(x for series in figure.series for x in series.x))
    columns = (
        Column("x", figure.x_title, Unit.NUMBER),
        *(Column(series.name, f"{series.name} ({figure.y_title})") for series in figure.series),
    )
    at = [_points(series) for series in figure.series]
    rows = tuple((point, *(values.get(point, "-") for values in at)) for point in points)
    return Table(figure.name, figure.title, columns, rows)


def _points(series: Series) -> dict[float | str, str]:
    shown = {}
    for x, y, low, high in zip_longest(series.x, series.y, series.low, series.high):
        if x is None:
            continue
        text = "unknown" if y is None else number_text(y, Unit.POINTS)
        if low is not None and high is not None:
            text += f" [{number_text(low, Unit.POINTS)}, {number_text(high, Unit.POINTS)}]"
        shown[x] = text
    return shown
