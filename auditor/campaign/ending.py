"""The end of a run: seal, findings, files. Each step can be cut short and is made good by running again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from auditor.analysis import Analysis
from auditor.campaign.folder import RunFolder
from auditor.canonical import Json
from auditor.errors import LedgerError
from auditor.findings import Findings
from auditor.findings_json import section_json, write_findings
from auditor.first_page import first_page
from auditor.freeze import Campaign
from auditor.label import LabelKind
from auditor.ledger import Entry, Ledger, RowSource, Seal
from auditor.measure import analysis_view, is_complete, measure
from auditor.operations import operations
from auditor.protocol import Skeleton
from auditor.record import Rows, read_record

__all__ = ["compute", "conclude", "findings_of", "is_current", "last_end", "stated_seal"]

Probe = Callable[[str], None]


def last_end(ledger: Ledger) -> str | None:
    """When the run last ended; None while it has not."""
    rows = list(ledger.rows("ended"))
    return str(rows[-1].body["time"]) if rows and rows[-1].body else None


def stated_seal(findings: Findings) -> Seal | None:
    """The seal that findings say they rest on; None where they name none that can be read."""
    try:
        last = list(findings.operations["seals"])[-1]  # type: ignore[call-overload] # hostile: see the except clause
        return Seal(int(last["count"]), str(last["head"]))
    except (KeyError, IndexError, TypeError, ValueError):
        return None


def is_current(findings: Findings, ledger: RowSource) -> bool:
    """Whether findings rest on all that the ledger holds: nothing came after the seal that they name."""
    seal, end = stated_seal(findings), ledger.last_seal() if ledger.is_sealed else None
    return seal is not None and end is not None and (seal.count, seal.head) == (end.count, end.head)


def conclude(campaign: Campaign, ledger: Ledger, folder: RunFolder, now: datetime, probe: Probe) -> Findings:
    """Mark the end, seal, compute the findings and write them."""
    if not ledger.is_sealed:
        number = sum(1 for _ in ledger.rows("ended"))
        ledger.append_wait([Entry("ended", str(number), {"time": now.isoformat(timespec="seconds")})])
        ledger.seal()
    findings = findings_of(campaign, ledger)
    probe("writing-findings")
    write_findings(findings, folder.findings)
    return findings


def findings_of(campaign: Campaign, ledger: Rows) -> Findings:
    """The findings of a ledger under the installed analyses and label kinds."""
    return compute(ledger, campaign.kinds, campaign.analyses)


def compute(
    ledger: Rows, kinds: Sequence[LabelKind], analyses: Iterable[tuple[Analysis, Mapping[str, Json]]]
) -> Findings:
    """Findings as a pure function of the ledger."""
    protocol = next(iter(ledger.rows("protocol")), None)
    if protocol is None or protocol.body is None:
        raise LedgerError("the ledger holds no protocol")
    skeleton, record = Skeleton(protocol.body), read_record(ledger)
    view = analysis_view(skeleton, record, kinds)
    facts = {
        "protocol": protocol.body_digest,
        "seals": [{"sequence": row.sequence, **(row.body or {})} for row in ledger.rows("seal")],
        "ended": [dict(row.body or {}) for row in ledger.rows("ended")],
        "accepted_versions": sum(1 for _ in ledger.rows("accepted")),
        "stopped": [dict(row.body or {}) for row in ledger.rows("stopped")],
        "complete": is_complete(view),
        "first_page": section_json(first_page(view, skeleton.requirements)),
    }
    return measure(view, analyses, operations(view.systems, view.trials, record, facts))
