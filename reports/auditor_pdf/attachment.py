"""What is attached to a signed report, so that a third party can recompute it from the report and the ledger alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from auditor.findings_json import to_json
from auditor.writer import ReportData

__all__ = ["attachments"]


def attachments(data: ReportData) -> Mapping[str, bytes]:
    """Files by name: the findings, the protocol without its texts, and count and head of the ledger's last seal.

    ``ledger.json`` holds nulls where the ledger is not sealed.
    """
    seals: Any = data.findings.operations.get("seals") or ()
    last: Mapping[str, Any] = seals[-1] if seals else {}
    files: Mapping[str, object] = {
        "findings.json": to_json(data.findings),
        "protocol.json": data.protocol,
        "ledger.json": {"count": last.get("count"), "head": last.get("head")},
    }
    return {name: _json(value) for name, value in files.items()}


def _json(value: object) -> bytes:
    made = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), default=dict)
    return made.encode("utf-8", "surrogatepass")
