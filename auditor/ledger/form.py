"""The form of a ledger file: its table, its triggers, its marks, and the digest that ties each entry to the one before.

Invariant: ``SCHEMAS`` holds the exact SQL of every published version; what is not in it has no place in a ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from auditor.canonical import ALGORITHM, canonical, digest

__all__ = [
    "APPLICATION_ID",
    "FIRST_KIND",
    "FORM",
    "NO_DIGEST",
    "SCHEMAS",
    "SEAL_KIND",
    "TEXT_KIND",
    "VERSION",
    "SchemaObject",
    "chain_digest",
    "time_text",
    "utc_now",
]

FORM: Final = "rag-auditor ledger"
VERSION: Final = 1
APPLICATION_ID: Final = 0x52414731  # "RAG1", so that `file` and other tools can tell a ledger from any other database

FIRST_KIND: Final = "ledger"  # kind and key of entry 1, which states form, version and algorithm
SEAL_KIND: Final = "seal"
TEXT_KIND: Final = "text"  # the one kind whose body may be withheld
NO_DIGEST: Final = ""  # stands for "previous digest" in entry 1

SchemaObject = tuple[str, str, str, str | None]  # type, name, table, SQL: a row of sqlite_schema

_TABLE: Final = """\
CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    body BLOB,
    body_digest TEXT NOT NULL,
    digest TEXT NOT NULL,
    UNIQUE (kind, key)
) STRICT"""

# `recursive_triggers` is per connection and off by default: then the row that INSERT OR REPLACE removes fires no
# DELETE trigger. So the insertion itself is guarded.
_IN_ORDER: Final = """\
CREATE TRIGGER entries_in_order BEFORE INSERT ON entries
WHEN NEW.sequence IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM entries)
BEGIN
    SELECT RAISE(ABORT, 'ledger: an entry goes to the end');
END"""

_ONCE: Final = """\
CREATE TRIGGER entries_once BEFORE INSERT ON entries
WHEN EXISTS (SELECT 1 FROM entries WHERE kind = NEW.kind AND key = NEW.key)
BEGIN
    SELECT RAISE(ABORT, 'ledger: this kind and key are there');
END"""

_NO_UPDATE: Final = """\
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
BEGIN
    SELECT RAISE(ABORT, 'ledger: entries do not change');
END"""

_NO_DELETE: Final = """\
CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
BEGIN
    SELECT RAISE(ABORT, 'ledger: entries stay');
END"""

SCHEMAS: Final[Mapping[int, frozenset[SchemaObject]]] = {
    1: frozenset(
        {
            ("table", "entries", "entries", _TABLE),
            ("index", "sqlite_autoindex_entries_1", "entries", None),
            ("trigger", "entries_in_order", "entries", _IN_ORDER),
            ("trigger", "entries_once", "entries", _ONCE),
            ("trigger", "entries_no_update", "entries", _NO_UPDATE),
            ("trigger", "entries_no_delete", "entries", _NO_DELETE),
        }
    ),
}


def chain_digest(previous: str, sequence: int, kind: str, key: str, body_digest: str) -> str:
    """Digest of one entry (DESIGN §3): over a canonical list, since plain concatenation is ambiguous."""
    return digest(canonical([ALGORITHM, previous, sequence, kind, key, body_digest]))


def utc_now() -> datetime:
    """The system's clock; everything that writes times takes a clock, and this is the one of production."""
    return datetime.now(UTC)


def time_text(moment: datetime) -> str:
    """UTC with milliseconds, as all times in a ledger are written. A moment without a zone raises ``ValueError``."""
    if moment.tzinfo is None:
        raise ValueError("a time in a ledger needs a time zone")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
