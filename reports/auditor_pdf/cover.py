"""The cover: what was audited, when, by whom, under which protocol, and how far that can be relied on.

Invariant: what is not stated is shown as not stated; a simulation or a role conflict stands beside the system's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from reportlab.platypus import Flowable, Spacer

from auditor.analysis import SystemRow
from auditor.protocol import Skeleton
from auditor.wording import ASSURANCE, SIGNATURE_LIMITS
from auditor.writer import ReportData
from auditor_pdf.section import boxed
from auditor_pdf.style import BOX, NoteLook
from auditor_pdf.table import CellText, facts, grid
from auditor_pdf.typesetter import Typesetter

__all__ = ["cover_flowables", "day_text", "ended_times", "report_title", "signature_box", "system_rows"]

_DISCLOSURES = {
    "run_by": "Run by",
    "on_behalf_of": "On behalf of",
    "paid_by": "Paid by",
    "conflicts": "Conflicts of interest",
    "access": "Access to the systems",
}
_PLAIN = NoteLook("", "#163a5f", BOX)


def report_title(data: ReportData) -> str:
    """The audit's name."""
    return str(data.protocol.get("name") or "Audit without a name")


def system_rows(data: ReportData) -> Sequence[SystemRow]:
    """The systems of the protocol; none where the protocol is not there."""
    return Skeleton(data.protocol).systems() if "systems" in data.protocol else ()


def ended_times(data: ReportData) -> list[datetime]:
    """When the run ended, each time."""
    found = []
    for entry in _listed(data.findings.operations.get("ended")):
        try:
            found.append(datetime.fromisoformat(str(entry.get("time"))))
        except ValueError:
            continue
    return found


def day_text(moment: datetime) -> str:
    """A date as people write it, in the zone that it was recorded in."""
    zone = moment.tzname() or ""
    return f"{moment.day} {moment:%B %Y, %H:%M} {zone}".strip()


def cover_flowables(setter: Typesetter, data: ReportData) -> Iterator[Flowable]:
    """Title, facts, systems, assurance, disclosure."""
    yield Spacer(0, 42)
    yield setter.paragraph("RAG AUDIT REPORT", "kicker")
    yield setter.paragraph(report_title(data), "title", limit=160)
    yield setter.paragraph("Does it answer from the documents it was given, or decline?", "subtitle")
    yield from facts(setter, _facts(data))
    yield setter.paragraph("Systems", "h2")
    yield from _systems(setter, data)
    yield Spacer(0, 10)
    yield boxed(
        [setter.paragraph("Level of assurance", "box_head"), setter.paragraph(ASSURANCE, "body")],
        _PLAIN,
    )
    yield setter.paragraph("Disclosure", "h2")
    yield from facts(setter, _disclosure(data.protocol.get("disclosure")))


def _facts(data: ReportData) -> list[tuple[str, str]]:
    operations = data.findings.operations
    times = ended_times(data)
    rows = [("Asked until", "; ".join(map(day_text, times)) or "not stated")]
    rows.append(("Protocol", str(operations.get("protocol") or "not stated")))
    seals = _listed(operations.get("seals"))
    if seals:
        rows.append(("Ledger", f"{seals[-1].get('count')} entries, head {seals[-1].get('head')}"))
    else:
        rows.append(("Ledger", "not sealed: nothing vouches for its end"))
    if operations.get("complete") is False:
        rows.append(("Completeness", "Incomplete: some cells were never asked."))
    if data.public:
        rows.append(("Edition", "Public: texts, evidence, document names and question wording are left out."))
    return rows


def _listed(value: object) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, (list, tuple)) else []


def _systems(setter: Typesetter, data: ReportData) -> Iterator[Flowable]:
    rows = [
        [CellText(row.title, strong=True), CellText(row.kind), CellText(_promise(row)), CellText(_marks(row))]
        for row in system_rows(data)
    ]
    if not rows:
        yield setter.paragraph("The protocol names no systems.", "body")
        return
    yield from grid(setter, ["System", "Kind", "Promise", "Marks"], rows)


def _promise(row: SystemRow) -> str:
    grounded = "answers from the documents" if row.traits.grounded else "baseline: no documents"
    condition = ", ".join(f"{name} = {value}" for name, value in sorted(row.condition.items()))
    return f"{grounded}{f' ({condition})' if condition else ''}"


def _marks(row: SystemRow) -> str:
    marks = []
    if row.traits.simulated:
        marks.append(f"Simulated: {row.traits.simulated}")
    if row.role_conflicts:
        marks.append(f"† Role conflict with {', '.join(sorted(row.role_conflicts))}")
    return "; ".join(marks) or "none"


def _disclosure(block: object) -> list[tuple[str, str]]:
    stated = block if isinstance(block, Mapping) else {}
    rows = [(title, str(stated.get(name) or "not stated")) for name, title in _DISCLOSURES.items()]
    return rows + [(str(name), str(value)) for name, value in stated.items() if name not in _DISCLOSURES]


def signature_box(setter: Typesetter) -> Flowable:
    """What the signature does and does not show."""
    first, *rest = SIGNATURE_LIMITS
    inside = [setter.paragraph("What the signature does not prove", "box_head"), setter.paragraph(first, "body")]
    inside += [setter.paragraph(f"– {line}", "body") for line in rest]
    inside.append(
        setter.paragraph(
            "Whether this copy is signed, and by which key, is what “auditor verify” says of the file; "
            "a copy without a signature is as good as any other text.",
            "small",
        )
    )
    return boxed(inside, _PLAIN)
