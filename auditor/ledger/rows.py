"""Reading entries: pages of stored rows, each checked for its types, and the reading half of every ledger object.

Invariant: no transaction stays open between two rows, so a slow reader never holds up a checkpoint or a seal.
"""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from auditor.canonical import Json, digest
from auditor.errors import LedgerError
from auditor.ledger.entry import Row, Seal
from auditor.ledger.form import NO_DIGEST, SEAL_KIND, chain_digest

__all__ = ["RowSource", "StoredRow", "check_chain", "last_row", "row_of", "seal_of", "stored_rows"]

_PAGE_ROWS: Final = 500
_LAST: Final = 2**63 - 1

# The type test is spelt out because a doctored file need not keep to what STRICT promises.
_SELECT: Final = """\
SELECT sequence, kind, key, body, body_digest, digest,
       typeof(kind) = 'text' AND typeof(key) = 'text' AND typeof(body) IN ('blob', 'null')
       AND typeof(body_digest) = 'text' AND typeof(digest) = 'text'
FROM entries """
_PAGE: Final = _SELECT + f"WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT {_PAGE_ROWS}"
_OF_KIND: Final = _SELECT + "WHERE sequence BETWEEN ? AND ? AND +kind = ? ORDER BY sequence"
_END: Final = _SELECT + "ORDER BY sequence DESC LIMIT 1"
_ONE: Final = _SELECT + "WHERE kind = ? AND key = ?"


@dataclass(frozen=True, slots=True)
class StoredRow:
    """One entry with its body as it is stored: bytes that should be canonical, or None where withheld."""

    sequence: int
    kind: str
    key: str
    stored: bytes | None
    body_digest: str
    digest: str


class RowSource(ABC):
    """The reading half of a ledger, shared by the writer's ``Ledger`` and by ``Reader``."""

    @property
    @abstractmethod
    def path(self) -> Path:
        """The file as the user named it."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Committed entries, the first one and seals included."""

    @property
    @abstractmethod
    def head(self) -> str:
        """Digest of the last committed entry."""

    @property
    @abstractmethod
    def is_sealed(self) -> bool:
        """Whether the last committed entry is a seal."""

    @abstractmethod
    def _lease(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection for one short read; SQLite's errors inside become ours."""

    def get(self, kind: str, key: str) -> Row | None:
        """The committed entry of this kind and key; None when there is none."""
        with self._lease() as connection:
            found = _page(connection, _ONE, (kind, key))
        return row_of(found[0]) if found else None

    def rows(self, kind: str | None = None) -> Iterator[Row]:
        """Entries in order of sequence, those committed when the iteration begins; of one kind if it is named."""
        return map(row_of, self.stored(kind))

    def stored(self, kind: str | None = None) -> Iterator[StoredRow]:
        """As ``rows``, with bodies as stored."""
        last = self.count
        return self._all(last) if kind is None else self._of_kind(kind, last)

    def everything(self) -> Iterator[StoredRow]:
        """All stored rows, whatever sequence they claim: for a verifier, which trusts no count."""
        return self._all(_LAST)

    def last_seal(self) -> Seal | None:
        """What the last seal states; None in a ledger that was never sealed. Entries may follow it."""
        seals = list(self.stored(SEAL_KIND))
        return seal_of(seals[-1]) if seals else None

    def _all(self, last: int) -> Iterator[StoredRow]:
        after = 0
        while True:
            with self._lease() as connection:
                page = _page(connection, _PAGE, (after, last))
            yield from page
            if len(page) < _PAGE_ROWS:
                return
            after = page[-1].sequence

    def _of_kind(self, kind: str, last: int) -> Iterator[StoredRow]:
        with self._lease() as connection:
            numbers = _sequences(connection, kind, last)
        for start in range(0, len(numbers), _PAGE_ROWS):
            wanted = numbers[start : start + _PAGE_ROWS]
            with self._lease() as connection:
                page = _page(connection, _OF_KIND, (wanted[0], wanted[-1], kind))
            yield from page


def stored_rows(connection: sqlite3.Connection) -> Iterator[StoredRow]:
    """All rows in order of sequence, page by page. Raises ``LedgerError`` at a row with other types or not UTF-8."""
    after = 0
    while page := _page(connection, _PAGE, (after, _LAST)):
        yield from page
        after = page[-1].sequence


def last_row(connection: sqlite3.Connection) -> StoredRow | None:
    """The row with the highest sequence."""
    rows = _page(connection, _END, ())
    return rows[0] if rows else None


def check_chain(connection: sqlite3.Connection, path: Path) -> StoredRow:
    """Recompute every digest and return the last row; raises ``LedgerError`` at the first that is wrong.

    What a writer asks before it goes on with a file. ``verify`` asks more: canonical bodies, structure, seals.
    """
    previous, expected, row = NO_DIGEST, 1, None
    for row in stored_rows(connection):
        if row.sequence != expected:
            raise LedgerError(f"missing or out of its place in {path}", sequence=expected)
        if row.stored is not None and digest(row.stored) != row.body_digest:
            raise LedgerError(f"its body was changed in {path}", sequence=expected)
        if chain_digest(previous, row.sequence, row.kind, row.key, row.body_digest) != row.digest:
            raise LedgerError(f"does not follow from the entry before it in {path}", sequence=expected)
        previous, expected = row.digest, expected + 1
    if row is None:
        raise LedgerError(f"missing in {path}, which holds no entry at all", sequence=1)
    return row


def row_of(stored: StoredRow) -> Row:
    """The row with its body parsed; raises ``LedgerError`` when it is not one JSON object in UTF-8."""
    body: dict[str, Json] | None = None
    if stored.stored is not None:
        try:
            body = json.loads(stored.stored.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise LedgerError("its body is not JSON", sequence=stored.sequence) from error
        if not isinstance(body, dict):
            raise LedgerError("its body is not an object", sequence=stored.sequence)
    return Row(stored.sequence, stored.kind, stored.key, body, stored.body_digest, stored.digest)


def seal_of(stored: StoredRow) -> Seal:
    """What a seal entry states; raises ``LedgerError`` when it is malformed."""
    body = row_of(stored).body or {}
    count, head, note, time = (body.get(name) for name in ("count", "head", "note", "time"))
    if type(count) is int and isinstance(head, str) and isinstance(note, str) and isinstance(time, str):
        return Seal(count, head, note, time)
    raise LedgerError("the seal does not state count, head, note and time", sequence=stored.sequence)


def _sequences(connection: sqlite3.Connection, kind: str, last: int) -> list[int]:
    """Answered by the index on (kind, key) alone; sorted here, since the index orders them by key."""
    with closing(connection.execute("SELECT sequence FROM entries WHERE kind = ?", (kind,))) as cursor:
        return sorted(number for (number,) in cursor if number <= last)


def _page(connection: sqlite3.Connection, query: str, values: tuple[object, ...]) -> list[StoredRow]:
    with closing(connection.execute(query, values)) as cursor:
        return [_stored(row) for row in cursor]


def _stored(row: tuple[object, ...]) -> StoredRow:
    sequence, kind, key, body, body_digest, chain, typed = row
    if type(sequence) is not int or typed != 1:
        raise LedgerError("its columns have the wrong types", sequence=sequence if type(sequence) is int else None)
    try:
        names = [value.decode("utf-8") for value in (kind, key, body_digest, chain) if isinstance(value, bytes)]
    except UnicodeDecodeError as error:
        raise LedgerError("its kind, key or digest is not UTF-8", sequence=sequence) from error
    return StoredRow(sequence, names[0], names[1], body if isinstance(body, bytes) else None, names[2], names[3])
