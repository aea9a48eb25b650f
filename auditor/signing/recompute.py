"""Whether attached findings follow from a ledger: the one check that needs the auditor's own analyses."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from auditor.archive import check_findings
from auditor.errors import AuditorError, NotChecked
from auditor.findings import Findings
from auditor.ledger import Check, CheckState, Reader

__all__ = ["recomputed"]


def recomputed(
    findings: Findings, protocol_digest: str, ledger: Path, count: int, trusted: Collection[str]
) -> list[Check]:
    """A line for the findings, and one for each section that only a third party's code could recompute.

    Raises ``NotChecked`` that says why it cannot be done: an export in JSONL, a part that is not installed.
    """
    try:
        with Reader(ledger) as reader:
            row = reader.get("protocol", "0")
    except AuditorError as error:
        raise NotChecked(f"findings are recomputed from a ledger's database alone: {error}") from error
    if row is None or row.body_digest != protocol_digest:
        return [Check("findings", CheckState.FAILED, "the attached protocol is not the one in the ledger")]
    try:
        return check_findings(findings, ledger, count, trusted)
    except AuditorError as error:
        raise NotChecked(f"the findings cannot be recomputed here: {error}") from error
    except Exception as error:  # noqa: BLE001 - the findings are a stranger's: their parts may have any type
        return [Check("findings", CheckState.FAILED, f"they are not of the form of findings ({type(error).__name__})")]
