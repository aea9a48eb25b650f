"""Reading a ledger that nobody vouches for: a private copy, a schema that is compared first, no trust in anything else.

Invariant: neither the file, nor what lies beside it, nor its folder is touched; a folder that may only be read will do.
(``immutable`` beside a write-ahead log silently reads nothing, and ``mode=ro`` cannot open one in a read-only folder.)
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from auditor.errors import LedgerError, StorageError
from auditor.ledger import database
from auditor.ledger.form import SEAL_KIND
from auditor.ledger.rows import RowSource, last_row

__all__ = ["Reader", "private_copy"]

_TRIES: Final = 20
_PAUSE_S: Final = 0.05
_CHUNK_BYTES: Final = 2**20
_LOG_HEADER_BYTES: Final = 32  # its salts change when the log starts again from the beginning


class Reader(RowSource):
    """A ledger file, read only, of any published version. A context manager; thread-safe.

    Raises ``StorageError`` when the file cannot be read, ``LedgerError`` when it is not a ledger. Reading says nothing
    of whether the ledger is whole: that is ``verify``. While somebody writes, a copy is taken between two checkpoints.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        database.refuse_foreign(self._path)
        folder = Path(tempfile.mkdtemp(prefix="auditor-ledger-"))
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        try:
            copy = private_copy(self._path, folder)
            with database.ours(self._path):
                self._connection = database.connect(copy)
                self.version = database.check_schema(self._connection, self._path)
                database.pragma(self._connection, "query_only = ON")
                last = last_row(self._connection)
            if last is None:
                raise LedgerError(f"missing in {self._path}, which holds no entry at all", sequence=1)
        except BaseException:
            self.close()
            raise
        self._last = last

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The file as the user named it, not the copy."""
        return self._path

    @property
    def count(self) -> int:
        """Sequence of the last entry, which in a whole ledger is how many there are."""
        return self._last.sequence

    @property
    def head(self) -> str:
        """Digest of the last entry."""
        return self._last.digest

    @property
    def is_sealed(self) -> bool:
        """Whether the last entry is a seal. What it states is checked by ``verify``."""
        return self._last.kind == SEAL_KIND

    def damage(self) -> str | None:
        """What SQLite's own check of the file finds first, an index that disagrees with the table included."""
        with self._lease() as connection:
            return database.damage(connection)

    def close(self) -> None:
        """Close the copy and remove it; a second call does nothing."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()
        self._remove()

    @contextmanager
    def _lease(self) -> Iterator[sqlite3.Connection]:
        with self._lock, database.ours(self._path):
            if self._connection is None:
                raise StorageError(f"{self._path}: the reader is closed")
            yield self._connection


def private_copy(path: Path, folder: Path) -> Path:
    """Copy a database, its write-ahead log and its rollback journal into ``folder`` as one consistent state.

    The log only grows between two checkpoints, so the copy holds together if no checkpoint fell into it.
    """
    copy = folder / "ledger.sqlite"
    for _ in range(_TRIES):
        before = _generation(path)
        _copy_file(path, copy)
        for suffix in ("-wal", "-journal"):
            beside = path.with_name(path.name + suffix)
            target = copy.with_name(copy.name + suffix)
            target.unlink(missing_ok=True)
            if os.path.lexists(beside):
                _copy_beside(beside, target)
        if _generation(path) == before:
            return copy
        time.sleep(_PAUSE_S)
    raise StorageError(f"{path}: it is being written to all the time; try again when the run is quieter")


def _generation(path: Path) -> tuple[object, ...]:
    """What changes when a checkpoint moves the log into the database, or a seal removes the log."""
    log = path.with_name(path.name + "-wal")
    with database.ours(path):
        status = path.stat()
        try:
            with os.fdopen(database.open_regular(log, follow=False), "rb") as file:
                start = file.read(_LOG_HEADER_BYTES)
        except StorageError:
            if os.path.lexists(log):
                raise
            start = b""
        return status.st_ino, status.st_size, status.st_mtime_ns, start


def _copy_beside(source: Path, target: Path) -> None:
    """As ``_copy_file``, without following links, and without complaint about a file that went away."""
    try:
        _copy_file(source, target, follow=False)
    except StorageError:
        if os.path.lexists(source):
            raise
        target.unlink(missing_ok=True)


def _copy_file(source: Path, target: Path, *, follow: bool = True) -> None:
    with os.fdopen(database.open_regular(source, follow=follow), "rb") as file:
        try:
            with target.open("wb") as copy:
                shutil.copyfileobj(file, copy, _CHUNK_BYTES)
        except OSError as error:
            raise StorageError(f"{source}: cannot be copied for reading: {error.strerror or error}") from error
