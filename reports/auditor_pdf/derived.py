"""Charts of tables that the core's own section has: scores and violations with their intervals, one against the other.

Invariant: a chart is made of cells of tables that stand in the same section; nothing is computed, and where a table or
a column is missing there is no chart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reportlab.platypus import Flowable, KeepTogether, Spacer

from auditor.findings import Block, Estimate, Section, Table, Unit
from auditor_pdf.chart import Bar, Dot, Panel, interval_drawing, scatter_drawing
from auditor_pdf.typesetter import Typesetter

__all__ = ["derived_flowables"]

_VIOLATIONS = "cvr_"
_SCORE = "q_bench"
_ACCURACY = "accuracy_when_answering"
_MAX_BARS = 36


def derived_flowables(setter: Typesetter, section: Section, block: Block) -> Iterator[Flowable]:
    """What is drawn after ``block``."""
    if section.name != "penalty" or not isinstance(block, Table):
        return
    if block.name == "headline":
        yield from _intervals(setter, block)
    elif block.name == "rates":
        headline = next((b for b in section.blocks if isinstance(b, Table) and b.name == "headline"), None)
        if headline is not None:
            yield from _accuracy_against_violations(setter, headline, block)


def _column(table: Table, name: str) -> list[Estimate | None]:
    """Estimates of a column, row by row; None for any other cell."""
    places = [place for place, column in enumerate(table.columns) if column.name == name]
    if not places:
        return [None] * len(table.rows)
    cells = [row[places[0]] if places[0] < len(row) else None for row in table.rows]
    return [cell if isinstance(cell, Estimate) and cell.value is not None else None for cell in cells]


def _systems(table: Table) -> list[str]:
    return [str(row[0]) if row else "" for row in table.rows]


def _intervals(setter: Typesetter, headline: Table) -> Iterator[Flowable]:
    systems = _systems(headline)
    table = setter.numbers["table"]
    for column in headline.columns:
        if column.name != _SCORE and not column.name.startswith(_VIOLATIONS):
            continue
        found = _column(headline, column.name)
        bars = [
            Bar(systems[n], one.value, one.low, one.high, n)
            for n, one in enumerate(found)
            if one is not None and one.value is not None
        ][:_MAX_BARS]
        if bars:
            unit = Unit.RATE if column.name != _SCORE else Unit.POINTS
            title = f"Figure {setter.number('figure')}. {column.title}, with intervals (data: table {table})"
            drawing = interval_drawing(setter, bars, unit, column.title)
            yield KeepTogether([setter.paragraph(title, "h3", limit=300), drawing, Spacer(0, 4)])


def _accuracy_against_violations(setter: Typesetter, headline: Table, rates: Table) -> Iterator[Flowable]:
    systems, accuracy = _systems(headline), _column(rates, _ACCURACY)
    if _systems(rates) != systems:
        return
    panels = []
    for column in headline.columns:
        if column.name.startswith(_VIOLATIONS):
            dots = tuple(_dots(_column(headline, column.name), accuracy))
            if dots:
                panels.append(Panel(column.name.removeprefix(_VIOLATIONS).replace("_", " "), dots))
    if not panels:
        return
    drawn = sorted({dot.series for panel in panels for dot in panel.dots})
    names = systems[: drawn[-1] + 1]
    last = setter.numbers["table"]
    title = (
        f"Figure {setter.number('figure')}. Accuracy when answering against canary violations, by kind of canary "
        f"(data: tables {last - 1} and {last})"
    )
    drawing = scatter_drawing(setter, panels, names, "Canary violations", "Correct when answering")
    yield KeepTogether([setter.paragraph(title, "h3", limit=300), drawing, Spacer(0, 4)])


def _dots(violations: Sequence[Estimate | None], accuracy: Sequence[Estimate | None]) -> Iterator[Dot]:
    for number, (across, up) in enumerate(zip(violations, accuracy, strict=True)):
        if across is None or up is None or across.value is None or up.value is None:
            continue
        yield Dot(number, across.value, up.value, _ends(across), _ends(up))


def _ends(estimate: Estimate) -> tuple[float, float] | None:
    return None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
