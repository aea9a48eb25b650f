"""The ledger as text: one entry a line, each line in canonical form.

Invariant: a line holds exactly what a row holds, with the body as a JSON value, so both forms verify alike.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from auditor.canonical import Json, canonical
from auditor.errors import LedgerError
from auditor.ledger.database import open_regular, ours
from auditor.ledger.rows import RowSource, StoredRow, row_of

__all__ = ["export_jsonl", "lines"]

_NAMES: Final = ("sequence", "kind", "key", "body", "body_digest", "digest")


def export_jsonl(source: RowSource, path: Path | str) -> None:
    """Write all committed entries to ``path``, which appears whole or not at all.

    Raises ``LedgerError`` at an entry whose stored body is not canonical (its line would no longer show that), and
    ``StorageError``.
    """
    path = Path(path)
    draft = path.with_name(path.name + ".new")
    with ours(path):
        try:
            with draft.open("wb") as file:
                file.writelines(_line(row) for row in source.stored())
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def lines(path: Path) -> Iterator[StoredRow]:
    """The entries of an export. Raises ``LedgerError`` at a line that is not one entry in canonical form."""
    with os.fdopen(open_regular(path), "rb") as file:
        for number, line in enumerate(file, 1):
            yield _parsed(line, number)


def _line(row: StoredRow) -> bytes:
    body = row_of(row).body
    line = _canonical_or_none(
        {
            "sequence": row.sequence,
            "kind": row.kind,
            "key": row.key,
            "body": body,
            "body_digest": row.body_digest,
            "digest": row.digest,
        }
    )
    if line is None or (body is not None and canonical(body) != row.stored):
        raise LedgerError("its body is not canonical", sequence=row.sequence)
    return line + b"\n"


def _parsed(line: bytes, number: int) -> StoredRow:
    try:
        entry = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise LedgerError("this line is not JSON in UTF-8", sequence=number) from error
    if not isinstance(entry, dict) or set(entry) != set(_NAMES):
        raise LedgerError("this line is not an entry", sequence=number)
    if _canonical_or_none(entry) != line.removesuffix(b"\n") or not line.endswith(b"\n"):
        raise LedgerError("this line is not in canonical form", sequence=number)
    sequence, kind, key, body, body_digest, chain = (entry[name] for name in _NAMES)
    texts = (kind, key, body_digest, chain)
    if type(sequence) is not int or not all(isinstance(text, str) for text in texts):
        raise LedgerError("this line has values of the wrong types", sequence=number)
    if body is not None and not isinstance(body, dict):
        raise LedgerError("its body is not an object", sequence=number)
    return StoredRow(sequence, kind, key, None if body is None else canonical(body), body_digest, chain)


def _canonical_or_none(value: Json) -> bytes | None:
    try:
        return canonical(value)
    except (ValueError, TypeError, RecursionError):
        return None
