"""The ledger: everything that was asked, answered and said, in one append-only, hash-chained file.

``Ledger`` writes, ``Reader`` reads a file that is not trusted, ``verify`` says whether one is whole, ``export_jsonl``
writes the same entries as text. A body refers to texts by commitment under the name ``texts``:
``{"texts": {"answer": "sha256:…", "evidence": ["sha256:…", …], "prompt": null}}``; ``verify`` looks each of them up.
"""

from __future__ import annotations

from auditor.ledger.entry import Entry, Row, Seal, commitment, raw_entry, text_entry
from auditor.ledger.export import export_jsonl
from auditor.ledger.form import time_text, utc_now
from auditor.ledger.lock import FileLock, FolderLock
from auditor.ledger.reader import Reader
from auditor.ledger.redaction import redact
from auditor.ledger.rows import RowSource
from auditor.ledger.store import Ledger
from auditor.ledger.ticket import Ticket
from auditor.ledger.verification import Check, CheckState, VerifyReport, verify
from auditor.ledger.workspace import Workspace, open_workspace

__all__ = [
    "Check",
    "CheckState",
    "Entry",
    "FileLock",
    "FolderLock",
    "Ledger",
    "Reader",
    "Row",
    "RowSource",
    "Seal",
    "Ticket",
    "VerifyReport",
    "Workspace",
    "commitment",
    "export_jsonl",
    "open_workspace",
    "raw_entry",
    "redact",
    "text_entry",
    "time_text",
    "utc_now",
    "verify",
]
