"""The page as the templates read it: everything in its order, formatted, with nothing left to decide.

Invariant: every system that is simulated or shares a family with a judge is marked wherever it is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auditor.analysis import SystemRow
from auditor.findings import Cell, Column, Table
from auditor.protocol import Skeleton
from auditor.wording import ASSURANCE, GLOSSARY, METHOD_LIMITS, SIGNATURE_LIMITS, Term
from auditor.writer import ReportData
from auditor_html.block import Blocks, FigureView, NoteView, SectionView, TableView
from auditor_html.summary import headline_plots, operations_table, summary_table, summary_warnings
from auditor_html.text import shown

__all__ = ["Page", "build_page", "system_titles"]

_CORE_KINDS = {"stance", "verdict"}
_DISCLOSURE = {
    "run_by": "Run by",
    "on_behalf_of": "On behalf of",
    "paid_by": "Paid by",
    "conflicts": "Conflicts of interest",
    "access": "How access to the systems was got",
}


@dataclass(frozen=True, slots=True)
class Page:
    """All parts of the page. ``facts``, ``digests``, ``disclosure``: (what, what is known of it)."""

    name: str
    public: bool
    facts: tuple[tuple[str, str], ...]
    digests: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    first: SectionView | None
    summary: TableView | None
    summary_notes: tuple[NoteView, ...]
    figures: tuple[FigureView, ...]
    sections: tuple[SectionView, ...]
    operations: tuple[TableView | NoteView, ...]
    disclosure: tuple[tuple[str, str], ...]
    disclosures: tuple[str, ...]
    systems: TableView | None
    trial_count: int
    assurance: str = ASSURANCE
    signature: tuple[str, ...] = SIGNATURE_LIMITS
    limits: tuple[str, ...] = METHOD_LIMITS
    glossary: tuple[Term, ...] = GLOSSARY


def _systems(data: ReportData) -> tuple[SystemRow, ...]:
    return Skeleton(data.protocol).systems() if "systems" in data.protocol else ()


def system_titles(data: ReportData) -> tuple[str, ...]:
    """Titles of all systems, with their marks, by ordinal."""
    return tuple(shown(row.title) for row in _systems(data))


def build_page(data: ReportData) -> Page:
    """The page of a run's findings."""
    systems, titles = _systems(data), system_titles(data)
    blocks = Blocks({row.name: title for row, title in zip(systems, titles, strict=True) if row.name != title})
    summary = summary_table(data.findings, titles)
    return Page(
        name=shown(str(data.protocol.get("name", "audit"))),
        public=data.public,
        facts=tuple(_facts(data)),
        digests=tuple(_digests(data.findings.operations)),
        warnings=tuple(_warnings(data)),
        first=None if data.first_page is None else blocks.section(data.first_page),
        summary=None if summary is None else blocks.table(summary, sortable=False),
        summary_notes=tuple(NoteView("warning", shown(note.text)) for note in summary_warnings(data.findings)),
        figures=tuple(blocks.plot(plot, name) for name, plot in headline_plots(data.findings)),
        sections=tuple(blocks.section(section) for section in data.findings.sections),
        operations=tuple(_operations(data, blocks, titles)),
        disclosure=tuple(_disclosure(data.protocol)),
        disclosures=tuple(_disclosures(data, systems)),
        systems=blocks.table(_systems_table(data.protocol, systems)) if systems else None,
        trial_count=len(data.findings.trials),
    )


def _facts(data: ReportData) -> Iterator[tuple[str, str]]:
    protocol, operations = data.protocol, data.findings.operations
    for variant in _list(protocol.get("variants")):
        reason = variant.get("reason") or f"{variant.get('documents', 0):,} documents"
        yield f"Documents ({shown(str(variant.get('name')))})", f"{variant.get('form')}: {shown(str(reason))}"
    if "questions" in protocol:
        yield "Questions", f"{len(_list(protocol['questions'])):,}, each asked {_times(protocol.get('repeats'))}"
    yield "Trials", f"{len(data.findings.trials):,}"
    judges = [seat for seat in _list(protocol.get("seats")) if seat.get("kind") == "verdict"]
    if judges:
        yield "Judges", shown(", ".join(f"{seat['name']} ({seat['family']})" for seat in judges))
    ended = [str(end.get("time")) for end in _list(operations.get("ended"))]
    if ended:
        yield "Asked until", ", ".join(time.replace("T", " ").replace("+00:00", " UTC") for time in ended)


def _digests(operations: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What ties the page to its run."""
    if operations.get("protocol"):
        yield "Protocol", shown(str(operations["protocol"]))
    for seal in _list(operations.get("seals"))[-1:]:
        yield "Ledger", shown(f"{seal.get('count')} entries, head {seal.get('head')}")


def _times(repeats: object) -> str:
    return {1: "once", 2: "twice"}.get(repeats if isinstance(repeats, int) else 0, f"{repeats} times")


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _warnings(data: ReportData) -> Iterator[str]:
    operations = data.findings.operations
    if operations.get("complete") is False:
        yield "This run is incomplete: some trials were never asked. They are counted as not asked, and scored nowhere."
    if operations.get("accepted_versions"):
        yield "The auditor's code changed during this run; the change was accepted and is recorded in the ledger."
    if data.public:
        yield (
            "This is a public report: questions, references, answers, evidence and document names are kept out of it. "
            "Every number is that of the full report."
        )


def _operations(data: ReportData, blocks: Blocks, titles: Sequence[str]) -> Iterator[TableView | NoteView]:
    operations = data.findings.operations
    table = operations_table(data.findings, titles)
    if table is not None:
        yield blocks.table(table)
    labels = operations.get("labels")
    if isinstance(labels, Mapping):
        cost = labels.get("cost_usd")
        price = "at an unknown price" if cost is None else f"for ${cost}"
        yield NoteView("method", f"{labels.get('calls')} calls of judges and classifiers, {price}.")
    counts = [(name, operations.get(name)) for name in ("resends", "late_replies", "inherited") if name in operations]
    if counts:
        told = ", ".join(f"{name.replace('_', ' ')}: {count}" for name, count in counts)
        yield NoteView("method", f"Of all calls, {told}. A late reply is never scored.")
    for stop in _list(operations.get("stopped")):
        what = stop.get("endpoint") or "the whole run"
        yield NoteView(
            "warning", shown(f"{what} was stopped: {stop.get('reason')} ({stop.get('fault') or 'no fault'}).")
        )


def _disclosure(protocol: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The spec's block, as it stands; what it does not say is said to be missing."""
    stated = protocol.get("disclosure") or {}
    for key, title in _DISCLOSURE.items():
        yield title, shown(str(stated.get(key) or "not stated"))
    for key in sorted({*stated} - {*_DISCLOSURE}):
        yield shown(key.replace("_", " ")), shown(str(stated[key]))


def _disclosures(data: ReportData, systems: Sequence[SystemRow]) -> Iterator[str]:
    """What weighs on these very numbers."""
    for row in systems:
        title = shown(row.title)
        if row.role_conflicts:
            yield shown(f"{title} shares a model or family with: {', '.join(row.role_conflicts)}.")
        if row.traits.simulated:
            yield shown(f"{title}: {row.traits.simulated}. Its figures say nothing about a product.")
        if not row.traits.takes_system_prompt:
            yield f"{title} takes no system prompt with a question: it got the instructions in another way."
    later = _list(data.findings.operations.get("asked_later"))
    if later:
        yield shown(f"Asked later than the others, not interleaved with them: {', '.join(map(str, later))}.")
    seats = _list(data.protocol.get("seats"))
    if any(str(seat.get("family")).startswith("embedded:") for seat in seats if seat.get("kind") == "verdict"):
        yield "The panel has embedded judges: rules and small models without a vendor. It is weaker than a model panel."
    if data.protocol and not {*_list(data.protocol.get("label_kinds"))} - _CORE_KINDS:
        yield "No label of this run comes from a person: nobody checked by hand who answered a canary."


def _systems_table(protocol: Mapping[str, Any], systems: Sequence[SystemRow]) -> Table:
    columns = ("System", "Kind", "Release", "From documents", "May answer from", "Evidence", "Family") + (
        "System prompt",
        "Temperature",
        "Output cap",
    )
    rows = tuple(_system_row(protocol, row) for row in systems)
    return Table("systems", "Systems", tuple(Column(name, name) for name in columns), rows)


def _system_row(protocol: Mapping[str, Any], row: SystemRow) -> tuple[Cell, ...]:
    traits = row.traits
    number = Skeleton(protocol).pairs[row.ordinal].system
    return (
        row.title,
        row.kind,
        protocol["systems"][number].get("release") or "not stated",
        "yes" if traits.grounded else "no: baseline",
        row.contract.value.replace("_", " "),
        traits.evidence.value,
        traits.family or "not stated",
        "taken" if traits.takes_system_prompt else "not taken",
        "set" if traits.takes_temperature else "vendor's default",
        "set" if traits.takes_output_cap else "vendor's default",
    )
