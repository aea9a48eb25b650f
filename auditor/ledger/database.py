"""SQLite underneath: connections, what SQLite says in our words, and the schema check that comes before any reading.

Invariant: nothing is read from a database before its marks and its schema were compared with a published version, so
that no view, trigger or virtual table of a stranger ever runs.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from auditor.errors import AuditorError, LedgerError, StorageError
from auditor.ledger.form import APPLICATION_ID, SCHEMAS

__all__ = [
    "MAGIC",
    "check_schema",
    "connect",
    "damage",
    "file_head",
    "in_our_words",
    "open_regular",
    "ours",
    "pragma",
    "refuse_foreign",
]

MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_MARK_AT: Final = 68  # where the header holds the application id
_JOURNAL_MAGIC: Final = bytes.fromhex("d9d505f920a163d7")
_WORDS: Final = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it may not be written",
    sqlite3.SQLITE_IOERR: "reading or writing it failed",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "it may not be opened",
    sqlite3.SQLITE_BUSY: "another program holds it",
    sqlite3.SQLITE_LOCKED: "another program holds it",
    sqlite3.SQLITE_TOOBIG: "an entry is larger than a ledger can hold",
}
_BROKEN: Final = {sqlite3.SQLITE_CORRUPT: "the database is damaged", sqlite3.SQLITE_NOTADB: "it is not a ledger"}


def connect(path: Path, *, timeout_s: float = 30.0) -> sqlite3.Connection:
    """A connection to an existing file that trusts nothing in its schema. Never creates the file."""
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(path.absolute()))}?mode=rw",
        uri=True,
        timeout=timeout_s,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = bytes
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {pragma}").close()
    return connection


def in_our_words(path: Path, error: sqlite3.Error | OSError) -> AuditorError:
    """``StorageError`` or ``LedgerError``, one line, naming the file."""
    if isinstance(error, OSError):
        return StorageError(f"{path}: {error.strerror or error}")
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if isinstance(code, int) else None
    detail = " ".join(str(error).split())
    if primary in _BROKEN:
        return LedgerError(f"{path}: {_BROKEN[primary]} ({detail})")
    return StorageError(f"{path}: {_WORDS.get(primary, 'storage failed') if primary else 'storage failed'} ({detail})")


@contextmanager
def ours(path: Path) -> Iterator[None]:
    """Errors of SQLite and of the operating system inside become ours."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise in_our_words(path, error) from error


def open_regular(path: Path, *, follow: bool = True) -> int:
    """A descriptor for reading a regular file. A directory, pipe or device is refused, not waited for."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    raise StorageError(f"{path}: {'is a directory' if stat.S_ISDIR(mode) else 'is not a regular file'}")


def file_head(path: Path) -> bytes:
    """The first bytes of a regular file, as many as an SQLite header has. Raises ``StorageError``."""
    with os.fdopen(open_regular(path), "rb") as file, ours(path):
        return file.read(_HEADER_BYTES)


def refuse_foreign(path: Path) -> None:
    """Raise ``LedgerError`` unless the header is a ledger's; no connection is made, so the file stays as it is.

    Asked before the first connection, which would move a stranger's write-ahead log into his database.
    """
    head = file_head(path)
    if not head:
        raise LedgerError(f"{path}: it is not a ledger, the file is empty")
    if not head.startswith(MAGIC):
        raise LedgerError(f"{path}: it is not a ledger")
    if len(head) < _HEADER_BYTES:
        raise LedgerError(f"{path}: the file is cut off")
    mark = int.from_bytes(head[_MARK_AT : _MARK_AT + 4], "big")
    if mark != APPLICATION_ID:
        raise LedgerError(f"{path}: it is not a ledger (application id {mark})")
    _refuse_foreign_journal(path)


def _refuse_foreign_journal(path: Path) -> None:
    """Refuse a rollback journal that names a super-journal: SQLite would delete the file that it names.

    A ledger's own journal (left by a kill while it leaves WAL mode) never names one.
    """
    journal = path.with_name(path.name + "-journal")
    if not os.path.lexists(journal):
        return
    with os.fdopen(open_regular(journal, follow=False), "rb") as file, ours(journal):
        if file.seek(0, os.SEEK_END) >= len(_JOURNAL_MAGIC):
            file.seek(-len(_JOURNAL_MAGIC), os.SEEK_END)
            if file.read() == _JOURNAL_MAGIC:
                raise LedgerError(f"{journal}: is not a ledger's journal")


def check_schema(connection: sqlite3.Connection, path: Path) -> int:
    """The ledger's version. Raises ``LedgerError`` unless marks and every schema object are a published version's."""
    version, mark = pragma(connection, "user_version"), pragma(connection, "application_id")
    if mark != APPLICATION_ID:
        raise LedgerError(f"{path}: it is not a ledger (application id {mark!r})")
    if not isinstance(version, int) or version not in SCHEMAS:
        raise LedgerError(f"{path}: its form has version {version!r}; known are {sorted(SCHEMAS)}")
    if pragma(connection, "encoding") != b"UTF-8":
        raise LedgerError(f"{path}: its text is not UTF-8")
    found = set()
    with closing(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")) as cursor:
        for row in cursor:
            found.add(tuple(_decoded(value) for value in row))
    strange = sorted(found - SCHEMAS[version], key=repr) + sorted(SCHEMAS[version] - found, key=repr)
    if strange:
        kind, name = strange[0][:2]
        raise LedgerError(f"{path}: {kind} {name!r} is {'not a ledger’s' if strange[0] in found else 'missing'}")
    return version


def damage(connection: sqlite3.Connection) -> str | None:
    """What SQLite's own check of the file finds first, an index that disagrees with its table included."""
    try:
        answer = pragma(connection, "integrity_check(1)")
    except sqlite3.DatabaseError as error:
        answer = str(error).encode()
    if answer == b"ok":
        return None
    return " ".join(answer.decode("utf-8", "replace").split()) if isinstance(answer, bytes) else "no answer"


def pragma(connection: sqlite3.Connection, name: str) -> object:
    """First value that a PRAGMA answers with; None when it answers nothing. Text comes as bytes."""
    with closing(connection.execute(f"PRAGMA {name}")) as cursor:
        row = cursor.fetchone()
        return None if row is None else row[0]


def _decoded(value: object) -> object:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
