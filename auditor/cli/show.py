"""Findings on standard output: every section, then what the run took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from auditor.analysis import marked
from auditor.cli.output import is_terminal, say, width
from auditor.cli.tables import section_lines
from auditor.findings import Block, Cell, Column, Findings, Note, NoteKind, Section, Table, Unit
from auditor.penalty import PenaltyAnalysis

__all__ = ["operations_section", "show_findings"]

_OPERATIONS = (
    Column("system", "System"),
    Column("asked", "Asked", Unit.COUNT),
    Column("attempts", "Attempts", Unit.COUNT),
    Column("median", "Median latency", Unit.MILLISECONDS),
    Column("p95", "p95 latency", Unit.MILLISECONDS),
    Column("cost", "Cost", Unit.USD),
    Column("models", "Models, as the vendor names them"),
)


# What the first look needs of the core's own section; everything else is a page further on.
_FIRST = frozenset({"headline", "rates", "claimed", "panel_pairs"})


def show_findings(findings: Findings, *, whole: bool = True) -> None:
    """The sections in the order of the findings; of the core's own only the first tables, unless ``whole``."""
    emphasis = _bold if is_terminal() else str
    sections = [*findings.sections]
    if (section := operations_section(findings.operations)) is not None:
        sections.append(section)
    for number, section in enumerate(sections):
        if number:
            say()
        for line in section_lines(section if whole else _first_look(section), width(), emphasis=emphasis):
            say(line)


def operations_section(operations: Mapping[str, object]) -> Section | None:
    """Latency and cost by system. A price that is unknown for some replies makes the sum unknown, not smaller."""
    systems = operations.get("systems")
    if not isinstance(systems, Sequence) or not systems:
        return None
    rows = tuple(_row(system) for system in systems if isinstance(system, Mapping))
    table = Table("operations", "What it took", _OPERATIONS, rows)
    return Section("operations", "Operations", 1, (table, *_stops(operations.get("stopped"))))


def _stops(stopped: object) -> Iterator[Note]:
    """What was called no more, each reason once, in the vendor's words."""
    rows = [row for row in stopped if isinstance(row, Mapping)] if isinstance(stopped, Sequence) else []
    told = (
        f"{row.get('endpoint') or 'the run'} stopped ({row.get('reason')}): {row.get('message') or 'as configured'}"
        for row in rows
    )
    yield from (Note(NoteKind.WARNING, text) for text in dict.fromkeys(told))


def _row(system: Mapping[str, Any]) -> tuple[Cell, ...]:
    latency = system.get("latency_ms") or {}
    conflicts, simulated = bool(system.get("role_conflicts")), bool(system.get("simulated"))
    cost = system.get("cost_usd")
    if system.get("unpriced"):
        cost = None if cost is None else f"${cost} and {system['unpriced']} replies of unknown price"
    return (
        marked(str(system.get("name")), conflicts=conflicts, simulated=simulated),
        system.get("asked"),
        system.get("attempts"),
        _number(latency.get("median")),
        _number(latency.get("p95")),
        _number(cost),
        ", ".join(map(str, system.get("models") or ())) or "not reported",
    )


def _number(value: Any) -> Cell:
    """A decimal as the findings store it (text) for display; what is no number stays the text that it is."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return str(value)


def _first_look(section: Section) -> Section:
    if section.name != PenaltyAnalysis.name:
        return section
    kept = tuple(block for block in section.blocks if _at_first_look(block))
    return replace(section, blocks=kept)


def _at_first_look(block: Block) -> bool:
    return block.kind is not NoteKind.METHOD if isinstance(block, Note) else block.name in _FIRST


def _bold(text: str) -> str:
    return click.style(text, bold=True)
