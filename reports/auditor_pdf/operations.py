"""What it took: latency, cost, retries, seals. Nothing of it enters a score.

Invariant: an unknown price or latency is unknown, not zero; a fact that is not known here is shown by its own name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reportlab.platypus import Flowable

from auditor.findings import Cell, Column, Table, Unit
from auditor.writer import ReportData
from auditor_pdf.cover import system_rows
from auditor_pdf.table import facts, table_flowables
from auditor_pdf.typesetter import Typesetter

__all__ = ["operations_flowables"]

_TITLES = {
    "accepted_versions": "Changed code accepted",
    "asked_later": "Asked later, not interleaved",
    "complete": "Every cell asked",
    "inherited": "Answers inherited from an earlier run",
    "labels": "Labelling",
    "late_replies": "Replies after the deadline, never scored",
    "resends": "Calls sent again after an interruption",
    "stopped": "Stops",
}
_ELSEWHERE = frozenset({"systems", "seals", "ended", "protocol", "first_page"})


def operations_flowables(setter: Typesetter, data: ReportData) -> Iterator[Flowable]:
    """A table of systems, the seals, and every other fact."""
    operations = data.findings.operations
    if not operations:
        return
    yield setter.heading("Operations", 0)
    yield setter.paragraph("What it took to get the answers. Nothing here enters a score.", "body")
    yield from table_flowables(setter, _systems(data))
    others = _seals(operations.get("seals"))
    others += [
        (_TITLES.get(name, name), _plain(operations[name])) for name in sorted(operations) if name not in _ELSEWHERE
    ]
    if others:
        yield from facts(setter, others)


def _systems(data: ReportData) -> Table:
    titles = {row.name: row.title for row in system_rows(data)}
    columns = (
        Column("system", "System"),
        Column("asked", "Asked", Unit.COUNT),
        Column("attempts", "Attempts", Unit.COUNT),
        Column("median", "Median latency", Unit.MILLISECONDS),
        Column("p95", "p95 latency", Unit.MILLISECONDS),
        Column("n", "n of latency", Unit.COUNT),
        Column("cost", "Cost", Unit.USD),
        Column("unpriced", "Without a price", Unit.COUNT),
        Column("usage", "Tokens, as reported"),
        Column("models", "Models, as the vendor names them"),
    )
    listed = data.findings.operations.get("systems")
    rows = tuple(_row(body, titles) for body in (listed if isinstance(listed, (list, tuple)) else ()))
    return Table("operations", "Calls, latency and cost", columns, rows)


def _row(body: Mapping[str, Any], titles: Mapping[str, str]) -> tuple[Cell, ...]:
    latency, name = body.get("latency_ms") or {}, str(body.get("name"))
    return (
        titles.get(name, f"{name} (simulated)" if body.get("simulated") else name),
        body.get("asked"),
        body.get("attempts"),
        _number(latency.get("median")),
        _number(latency.get("p95")),
        latency.get("n"),
        _number(body.get("cost_usd")),
        body.get("unpriced"),
        _usage(body.get("usage")),
        ", ".join(map(str, body.get("models") or ())) or "not reported",
    )


def _number(text: object) -> float | None:
    return None if text is None else float(str(text))


def _usage(usage: object) -> str:
    if not isinstance(usage, Mapping) or not usage:
        return "not reported"
    return ", ".join(
        f"{name.replace('_', ' ')} {entry['sum']:,} (n = {entry['reported']})".replace(",", "\u00a0")
        for name, entry in sorted(usage.items())
    )


def _seals(seals: object) -> list[tuple[str, str]]:
    listed = [seal for seal in seals if isinstance(seal, Mapping)] if isinstance(seals, (list, tuple)) else []
    return [
        (f"Seal {number}", f"{seal.get('count')} entries, {seal.get('time')}, head {seal.get('head')}")
        for number, seal in enumerate(listed, 1)
    ]


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "unknown"
    if isinstance(value, Mapping):
        return ", ".join(f"{str(name).replace('_', ' ')}: {_plain(item)}" for name, item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(map(_plain, value)) or "none"
    return str(value)
