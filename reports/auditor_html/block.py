"""Blocks of findings as views for the templates: the same four kinds for every section, known or not.

Invariant: no block, row or cell is left out, whatever a third party's analysis got wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, zip_longest

from auditor.findings import Block, Cell, Column, Estimate, Figure, Note, Section, Series, Table, Unit
from auditor_html.drawing import Drawing
from auditor_html.number import Shown, number_text, show
from auditor_html.plot import Plot, draw, plot_of
from auditor_html.text import shown

__all__ = ["Blocks", "FigureView", "NoteView", "SectionView", "TableView", "anchor"]

_INLINE_REASON_CHARACTERS = 18
_EQUALS = "\u00a0=\u00a0"  # not to be broken
_UNSAFE = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class TableView:
    """A table. ``footnotes``: (letter, reason). ``about``: what its estimates are of, and how they were made."""

    id: str
    title: str
    columns: tuple[tuple[str, bool], ...]  # title, numeric
    rows: tuple[tuple[tuple[Shown, str], ...], ...]  # cell, letter of its footnote
    footnotes: tuple[tuple[str, str], ...] = ()
    about: tuple[str, ...] = ()
    sortable: bool = True


@dataclass(frozen=True, slots=True)
class FigureView:
    """A drawing, and its data as a table. ``drawing`` is None where there is nothing to draw."""

    id: str
    title: str
    drawing: Drawing | None
    data: TableView


@dataclass(frozen=True, slots=True)
class NoteView:
    """A sentence and how loud it is."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section with its blocks in their order. ``contents``: (id, title) of the titled ones."""

    id: str
    title: str
    subtitle: str
    blocks: tuple[TableView | FigureView | NoteView, ...]
    contents: tuple[tuple[str, str], ...] = ()


def anchor(*parts: str) -> str:
    """An id for a place in the page, made of names."""
    return "-".join(_UNSAFE.sub("-", part.casefold()).strip("-")[:60] or "x" for part in parts)


@dataclass(slots=True)
class Blocks:
    """Makes views. ``titles``: by bare name of a system, the title with the marks that must stand beside it.

    Keeps the ids it gave, so that no two are equal.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    given: dict[str, int] = field(default_factory=dict)

    def section(self, section: Section) -> SectionView:
        """Lone estimates that follow each other stand together in one table."""
        views: list[TableView | FigureView | NoteView] = []
        for alike, blocks in groupby(section.blocks, key=type):
            group = list(blocks)
            if alike is Estimate:
                views.append(self._estimates(section, [block for block in group if isinstance(block, Estimate)]))
            else:
                views += [self._view(section, block) for block in group]
        contents = tuple((view.id, view.title) for view in views if not isinstance(view, NoteView) and view.title)
        title = shown(section.title or section.name)
        subtitle = f"{shown(section.name)}, version {section.version}"
        return SectionView(self.id("section", section.name), title, subtitle, tuple(views), contents)

    def _view(self, section: Section, block: Block) -> TableView | FigureView | NoteView:
        if isinstance(block, Table):
            return self.table(block, section.name)
        if isinstance(block, Figure):
            return self.figure(block, section.name)
        if isinstance(block, Note):
            return NoteView(str(block.kind), self._named(shown(block.text)))
        return self._estimates(section, [block])

    def id(self, *parts: str) -> str:
        """An id that nothing else has."""
        name = anchor(*parts)
        self.given[name] = self.given.get(name, 0) + 1
        return name if self.given[name] == 1 else f"{name}-{self.given[name]}"

    def _named(self, text: str) -> str:
        """A system's bare name gets its marks."""
        return self.titles.get(text, text)

    def table(self, table: Table, *place: str, sortable: bool = True) -> TableView:
        """A table. A row that is longer or shorter than the header is shown whole."""
        width = max([len(table.columns), *map(len, table.rows)])
        columns = [*table.columns, *[Column("", "")] * (width - len(table.columns))]
        notes = _Footnotes()
        rows = tuple(tuple(self._cells(row, columns, notes)) for row in table.rows)
        numeric = [bool(rows) and all(row[i][0].numeric or row[i][0].missing for row in rows) for i in range(width)]
        names = [self._named(shown(column.title or column.name)).replace(" = ", _EQUALS) for column in columns]
        return TableView(
            id=self.id("table", *place, table.name),
            title=shown(table.title or table.name),
            columns=tuple(zip(names, numeric, strict=True)),
            rows=rows,
            footnotes=tuple((letter, reason) for reason, letter in notes.letters.items()),
            about=tuple(_about(table)),
            sortable=sortable and len(rows) > 1,
        )

    def _cells(self, row: Sequence[Cell], columns: Sequence[Column], notes: _Footnotes) -> Iterator[tuple[Shown, str]]:
        for cell, column in zip_longest(row, columns):
            made = show("" if len(row) < len(columns) and cell is None else cell, column.unit)
            if isinstance(cell, str):
                made = replace(made, text=self._named(made.text))
            yield made, notes.letter(made.reason)

    def _estimates(self, section: Section, estimates: Sequence[Estimate]) -> TableView:
        columns = (Column("name", "Estimate"), Column("value", "Value"), Column("about", "About"))
        rows = tuple((found.name, found, found.estimand) for found in estimates)
        return self.table(Table("estimates", "Estimates", columns, rows), section.name)

    def figure(self, figure: Figure, *place: str) -> FigureView:
        """A figure of the findings drawn, with its data, points without a value among them."""
        table = self.table(_data(figure), *place)
        title = shown(figure.title or figure.name)
        return FigureView(self.id("figure", *place, figure.name), title, draw(plot_of(figure)), table)

    def plot(self, plot: Plot, name: str) -> FigureView:
        """A figure of the page's own, with its data."""
        return FigureView(self.id("figure", name), plot.title, draw(plot), self.table(_plot_data(plot, name)))


@dataclass(slots=True)
class _Footnotes:
    """Reasons that are too long for a cell, each told once below the table."""

    letters: dict[str, str] = field(default_factory=dict)

    def letter(self, reason: str) -> str:
        """The letter that stands for a long reason; empty for a short one."""
        if len(reason) <= _INLINE_REASON_CHARACTERS:
            return ""
        number = len(self.letters)
        return self.letters.setdefault(reason, chr(97 + number) if number < 26 else str(number + 1))


def _about(table: Table) -> Iterator[str]:
    """What the table's estimates are about and how they were made; each told once."""
    found = [cell for row in table.rows for cell in row if isinstance(cell, Estimate) and cell.value is not None]
    estimands = dict.fromkeys(shown(cell.estimand) for cell in found if cell.estimand)
    methods = dict.fromkeys(shown(cell.method) for cell in found if cell.method)
    if estimands:
        yield f"Intervals are about: {'; '.join(estimands)}."
    if methods:
        yield f"Method: {'; '.join(methods)}."


def _data(figure: Figure) -> Table:
    """A figure's data: a row a point."""
    columns = (
        Column("series", "Series"),
        Column("x", figure.x_title, Unit.NUMBER),
        Column("y", figure.y_title, Unit.NUMBER),
        Column("interval", "Interval"),
    )
    rows: list[tuple[Cell, ...]] = [row for series in figure.series for row in _points(series)]
    return Table(f"{figure.name}-data", f"Data: {figure.title or figure.name}", columns, tuple(rows))


def _plot_data(plot: Plot, name: str) -> Table:
    """A plot's data: a row a point."""
    columns = (
        Column("series", "Series"),
        Column("x", plot.x_title, plot.x_unit),
        Column("x_interval", f"Interval of {plot.x_title}"),
        Column("y", plot.y_title, plot.y_unit),
        Column("interval", f"Interval of {plot.y_title}"),
    )
    points = [(series.name, point) for series in plot.series for point in series.points]
    rows: list[tuple[Cell, ...]] = [
        (of, p.x, _ends(p.x_low, p.x_high, plot.x_unit), p.y, _ends(p.low, p.high, plot.y_unit)) for of, p in points
    ]
    kept = [i for i in range(len(columns)) if i != 2 or any(point.x_low is not None for _, point in points)]
    return Table(
        f"{name}-data",
        f"Data: {plot.title}",
        tuple(columns[i] for i in kept),
        tuple(tuple(row[i] for i in kept) for row in rows),
    )


def _points(series: Series) -> Iterator[tuple[Cell, ...]]:
    for x, y, low, high in zip_longest(series.x, series.y, series.low, series.high):
        yield series.name, x, y, _ends(low, high, Unit.NUMBER)


def _ends(low: float | None, high: float | None, unit: Unit) -> str:
    return "none" if low is None or high is None else f"[{number_text(low, unit)}, {number_text(high, unit)}]"
