"""The writing connection: groups of entries into the chain, seals, and the way into WAL mode and out of it.

Used by one thread at a time. Invariant: ``state`` is what the file holds; it moves after a commit, never before.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from auditor.canonical import ALGORITHM, Json, digest
from auditor.errors import StorageError
from auditor.ledger.database import connect, pragma
from auditor.ledger.entry import Entry, Seal
from auditor.ledger.form import (
    APPLICATION_ID,
    FIRST_KIND,
    FORM,
    NO_DIGEST,
    SCHEMAS,
    SEAL_KIND,
    VERSION,
    chain_digest,
)

__all__ = ["State", "Writer", "leave_wal", "next_digest", "write_first"]

_PAGE_BYTES: Final = 8_192
_CHECKPOINT_PAGES: Final = 4_000
_FULL: Final = 2  # PRAGMA synchronous = FULL, as SQLite reads it back
# Many rows a statement: each statement gives the interpreter lock away and has to wait to get it back.
_INSERTS: Final = tuple(
    (rows, f"INSERT INTO entries VALUES {','.join(['(?,?,?,?,?,?)'] * rows)}")  # noqa: S608 - holds no value
    for rows in (64, 8, 1)
)
_COLUMNS: Final = 6


@dataclass(frozen=True, slots=True)
class State:
    """What is committed: how many entries, the digest of the last, and whether that is a seal."""

    count: int
    head: str
    sealed: bool


class Writer:
    """One connection that appends. Errors of SQLite pass through; the caller puts them into our words."""

    def __init__(self, path: Path, state: State, probe: Callable[[str], None], max_pages: int | None) -> None:
        self.state = state
        self._path, self._probe = path, probe
        self._wal = False
        self._connection = connect(path)
        if max_pages is not None:
            self._set("max_page_count", max_pages)

    def enter_wal(self) -> None:
        """WAL mode with ``synchronous = FULL``, both read back: a file system that cannot do it is refused."""
        if self._wal:
            return
        mode = self._set("journal_mode", "WAL")
        self._set("synchronous", "FULL")
        self._set("wal_autocheckpoint", _CHECKPOINT_PAGES)
        if mode != b"wal" or pragma(self._connection, "synchronous") != _FULL:
            raise StorageError(f"{self._path}: its file system does not support SQLite's write-ahead log")
        self._wal = True

    @property
    def in_wal(self) -> bool:
        """Whether this writer has entered WAL mode and not left it."""
        return self._wal

    def commit(self, groups: Iterable[Sequence[Entry]]) -> None:
        """Append all entries of all groups in one transaction."""
        values, count, head = self._chained(groups)
        if not values:
            return
        sealed = values[-5] == SEAL_KIND
        self._run("BEGIN IMMEDIATE")
        try:
            self._insert(values)
            self._probe("before-commit")
            self._run("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._run("ROLLBACK")
            raise
        self.state = State(count, head, sealed)
        self._probe("after-commit")

    def seal(self, note: str, time: str) -> Seal:
        """Commit a seal entry over what is there. WAL mode is left by ``finish_seal``."""
        seal = Seal(self.state.count, self.state.head, note, time)
        body: dict[str, Json] = {"count": seal.count, "head": seal.head, "note": seal.note, "time": seal.time}
        self.commit([[Entry(SEAL_KIND, f"seal/{seal.count + 1}", body)]])
        return seal

    def finish_seal(self) -> None:
        """Checkpoint and leave WAL mode: the ledger is one file afterwards. No other connection may be open."""
        leave_wal(self._connection, self._path)
        self._wal = False

    def close(self) -> None:
        """Close the connection; the last one to close checkpoints and removes the log."""
        self._connection.close()

    def _chained(self, groups: Iterable[Sequence[Entry]]) -> tuple[list[object], int, str]:
        """Column values of all rows, flat, with count and head after them."""
        count, head = self.state.count, self.state.head
        values: list[object] = []
        for group in groups:
            for entry in group:
                count += 1
                head = next_digest(head, count, entry)
                values += (count, entry.kind, entry.key, entry.encoded, entry.body_digest, head)
        return values, count, head

    def _insert(self, values: list[object]) -> None:
        start = 0
        for rows, statement in _INSERTS:
            step = rows * _COLUMNS
            while len(values) - start >= step:
                self._run(statement, values[start : start + step])
                start += step

    def _run(self, statement: str, values: Sequence[object] = ()) -> None:
        self._connection.execute(statement, values).close()

    def _set(self, name: str, value: str | int) -> object:
        return pragma(self._connection, f"{name} = {value}")


def write_first(path: Path, time: str) -> None:
    """A new database at ``path`` with the table, the triggers, the marks and the first entry, in one transaction."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
    entry = Entry(FIRST_KIND, FIRST_KIND, {"algorithm": ALGORITHM, "created": time, "form": FORM, "version": VERSION})
    row = (1, entry.kind, entry.key, entry.encoded, entry.body_digest)
    with closing(connect(path)) as connection:
        pragma(connection, f"page_size = {_PAGE_BYTES}")
        pragma(connection, "synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE").close()
        for kind in ("table", "trigger"):
            for statement in sorted(sql for made, _, _, sql in SCHEMAS[VERSION] if made == kind and sql is not None):
                connection.execute(statement).close()
        pragma(connection, f"application_id = {APPLICATION_ID}")
        pragma(connection, f"user_version = {VERSION}")
        first = chain_digest(NO_DIGEST, 1, entry.kind, entry.key, entry.body_digest)
        connection.execute(_INSERTS[-1][1], (*row, first)).close()
        connection.execute("COMMIT").close()


def leave_wal(connection: sqlite3.Connection, path: Path) -> None:
    """Move the log into the database and change its journal mode; nothing to do where that has been done."""
    pragma(connection, "synchronous = FULL")
    if pragma(connection, "journal_mode = DELETE") != b"delete":
        raise StorageError(f"{path}: another program has it open, so it cannot be sealed")


def next_digest(head: str, sequence: int, entry: Entry) -> str:
    """Digest of an entry that follows ``head``.

    The text that is hashed is written out: kinds, keys and digests hold nothing that JSON escapes, so it equals
    ``form.chain_digest``, at a fifth of the time.
    """
    return digest(f'["{ALGORITHM}","{head}",{sequence},"{entry.kind}","{entry.key}","{entry.body_digest}"]'.encode())
