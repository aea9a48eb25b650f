"""The summary: cells of the core's own tables, put side by side for one look; nothing is computed.

Invariant: a figure that a table does not have is not shown; none is made up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from auditor.findings import Cell, Column, Estimate, Findings, Note, NoteKind, Section, Table, Unit
from auditor_html.number import number_text
from auditor_html.plot import Plot, PlotSeries, Point

__all__ = ["headline_plots", "operations_table", "summary_table", "summary_warnings"]

_PENALTY = "penalty"
_MEASURES = (
    ("rates", "volume_accuracy"),
    ("rates", "wrong"),
    ("rates", "accuracy_when_answering"),
    ("rates", "attempt"),
    ("rates", "abstention"),
    ("exclusions", "excluded"),
    ("exclusions", "share"),
)
_OF_BENCHMARK = frozenset({"wrong", "accuracy_when_answering", "attempt", "abstention"})


def _section(findings: Findings) -> Section | None:
    return next((section for section in findings.sections if section.name == _PENALTY), None)


def summary_warnings(findings: Findings) -> tuple[Note, ...]:
    """Warnings of the core's section: what the summary takes from its tables, they hold of too."""
    section = _section(findings)
    blocks = section.blocks if section is not None else ()
    return tuple(block for block in blocks if isinstance(block, Note) and block.kind is NoteKind.WARNING)


def _table(section: Section | None, name: str) -> Table | None:
    blocks = section.blocks if section is not None else ()
    return next((block for block in blocks if isinstance(block, Table) and block.name == name), None)


def summary_table(findings: Findings, titles: Sequence[str]) -> Table | None:
    """A row a measure, a column a system; None without the core's section."""
    section = _section(findings)
    headline = _table(section, "headline")
    if section is None or headline is None or not titles:
        return None
    rows = [
        *_headline_rows(headline, titles),
        *_rank_rows(_table(section, "ranks"), headline, titles),
        *_measure_rows(section, titles),
        *_operation_rows(findings, titles),
    ]
    rows = [(str(row[0]).replace(" = ", "\u00a0=\u00a0"), *row[1:]) for row in rows]
    columns = (Column("measure", "Measure"), *(Column(f"system_{i}", title) for i, title in enumerate(titles)))
    return Table("summary", "Summary", columns, tuple(rows))


def _headline_rows(headline: Table, titles: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    """Scores and violation rates; then the counts behind them."""
    for wanted in (True, False):
        for place, column in enumerate(headline.columns[1:], 1):
            if (column.unit is not Unit.COUNT) is wanted:
                title = column.title if wanted else f"{column.title} (benchmark trials)"
                yield (title, *_column(headline, place, titles))


def _column(table: Table, place: int, titles: Sequence[str]) -> list[Cell]:
    """A column's cells by system; counts as text, since the summary's columns have no unit."""
    unit = table.columns[place].unit
    found = {str(row[0]): row[place] for row in table.rows if len(row) > place}
    return [_own_unit(found.get(title), unit) for title in titles]


def _own_unit(cell: Cell, unit: Unit) -> Cell:
    return number_text(cell, unit) if isinstance(cell, (int, float)) else cell


def _rank_rows(ranks: Table | None, headline: Table, titles: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    """Rank under volume accuracy and under the main Q_k, with the ranks that stay open."""
    score = next((column.title for column in headline.columns if column.name == "q_bench"), "")
    for order in ("volume accuracy", score):
        found = {str(row[0]): row[2:5] for row in (ranks.rows if ranks else ()) if row[1] == order}
        if found:
            yield (f"Rank by {order}", *(_rank(found.get(title)) for title in titles))


def _rank(cells: Sequence[Cell] | None) -> Cell:
    if cells is None or cells[0] is None:
        return None
    rank, best, worst = cells
    return str(rank) if best == worst or best is None else f"{rank} (could be {best} to {worst})"


def _measure_rows(section: Section, titles: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    for table_name, name in _MEASURES:
        table = _table(section, table_name)
        places = [i for i, column in enumerate(table.columns) if column.name == name] if table else []
        if table is not None and places:
            column = table.columns[places[0]]
            title = f"{column.title} (benchmark)" if name in _OF_BENCHMARK else column.title
            yield (title, *_column(table, places[0], titles))


def _operation_rows(findings: Findings, titles: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
    table = operations_table(findings, titles)
    if table is not None:
        for place, column in enumerate(table.columns[1:], 1):
            if column.name in ("median", "p95", "cost", "unpriced"):
                yield (column.title, *_column(table, place, titles))


def operations_table(findings: Findings, titles: Sequence[str]) -> Table | None:
    """Latency, cost and attempts a system, as the run recorded them; None where it recorded none."""
    listed: Any = findings.operations.get("systems")
    if not isinstance(listed, Sequence) or not listed:
        return None
    columns = (
        Column("system", "System"),
        Column("asked", "Trials asked", Unit.COUNT),
        Column("attempts", "Calls", Unit.COUNT),
        Column("median", "Latency, median", Unit.MILLISECONDS),
        Column("p95", "Latency, 95th percentile", Unit.MILLISECONDS),
        Column("timed", "Calls timed", Unit.COUNT),
        Column("cost", "Cost, all priced calls", Unit.USD),
        Column("unpriced", "Calls without a price", Unit.COUNT),
        Column("models", "Models named by the vendor"),
    )
    rows = tuple(_operations_row(system, titles[i] if i < len(titles) else None) for i, system in enumerate(listed))
    return Table("operations", "Latency and cost", columns, rows)


def _operations_row(system: Mapping[str, Any], title: str | None) -> tuple[Cell, ...]:
    latency = system.get("latency_ms") or {}
    return (
        title or str(system.get("name")),
        system.get("asked"),
        system.get("attempts"),
        _decimal(latency.get("median")),
        _decimal(latency.get("p95")),
        latency.get("n"),
        _decimal(system.get("cost_usd")),
        system.get("unpriced"),
        ", ".join(map(str, system.get("models") or ())) or "none named",
    )


def _decimal(text: object) -> float | None:
    """A decimal as it was recorded; None is unknown."""
    try:
        return None if text is None else float(Decimal(str(text)))
    except InvalidOperation:
        return None


def headline_plots(findings: Findings) -> Iterator[tuple[str, Plot]]:
    """Name and plot: scores with their intervals, violations with theirs, accuracy against violations a kind."""
    section = _section(findings)
    headline, rates = _table(section, "headline"), _table(section, "rates")
    if headline is None:
        return
    scores = [i for i, column in enumerate(headline.columns) if column.name == "q_bench"]
    kinds = [i for i, column in enumerate(headline.columns) if column.name.startswith("cvr_")]
    for i in scores:
        title = headline.columns[i].title
        yield "q-bench", Plot(title, "points", "system", "points an answerable question", _tracks(headline, [i]))
    if kinds:
        series = _tracks(headline, kinds)
        yield "cvr", Plot("Canary violations", "points", "system", "share attempted", series, y_unit=Unit.RATE)
    if rates is not None:
        for i in kinds:
            yield f"accuracy-{headline.columns[i].name}", _against(headline, i, rates)


def _tracks(table: Table, places: Sequence[int]) -> tuple[PlotSeries, ...]:
    return tuple(
        PlotSeries(
            _kind(table.columns[i].title),
            tuple(
                Point(str(row[0]), c.value, c.low, c.high) for row in table.rows if (c := _known(row[i])) is not None
            ),
        )
        for i in places
    )


def _known(cell: Cell) -> Any:
    """An estimate that has a value."""
    return cell if isinstance(cell, Estimate) and cell.value is not None else None


def _kind(title: str) -> str:
    return title.removeprefix("Canary violations: ")


def _against(headline: Table, place: int, rates: Table) -> Plot:
    """Accuracy when answering over the violation rate of one kind of canary."""
    accuracy = {}
    for row in rates.rows:
        for cell, column in zip(row, rates.columns, strict=False):
            if column.name == "accuracy_when_answering" and (known := _known(cell)) is not None:
                accuracy[str(row[0])] = known
    series = []
    for row in headline.rows:
        x, y = _known(row[place]), accuracy.get(str(row[0]))
        if x is not None and y is not None:
            series.append(PlotSeries(str(row[0]), (Point(x.value, y.value, y.low, y.high, x.low, x.high),)))
    kind = _kind(headline.columns[place].title)
    return Plot(
        title=f"Accuracy when answering against violations: {kind} canaries",
        kind="points",
        x_title=f"canary violations, {kind}",
        y_title="correct when answering",
        series=tuple(series),
        x_unit=Unit.RATE,
        y_unit=Unit.RATE,
    )
