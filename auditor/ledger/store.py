"""The ledger as its one writer sees it: entries go in through a queue, one thread commits them in groups.

Invariants: the entries of one ``append`` are committed together or not at all, in the order of the calls; after a
storage failure nothing more is written, so that no entry ever follows one that was lost.
The caller holds the folder's lock. Only the writer thread touches the writing connection.
"""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from auditor.errors import AuditorError, LedgerError, StorageError
from auditor.ledger import database
from auditor.ledger.entry import Entry, Seal
from auditor.ledger.form import FIRST_KIND, SEAL_KIND, VERSION, time_text, utc_now
from auditor.ledger.rows import RowSource, check_chain
from auditor.ledger.ticket import Ticket
from auditor.ledger.writer import State, Writer, leave_wal, write_first

__all__ = ["Clock", "Ledger", "Probe"]

Clock = Callable[[], datetime]
Probe = Callable[[str], None]

_RESERVED: Final = frozenset({FIRST_KIND, SEAL_KIND})
_GROUP_ENTRIES: Final = 2_000
_GROUP_BYTES: Final = 8 * 2**20


class _Request:
    """Something other than entries that the writer thread does when its turn comes."""

    __slots__ = ("action", "last", "seal", "ticket")

    def __init__(self, action: Callable[[], Seal | None], *, last: bool = False) -> None:
        self.action, self.last = action, last
        self.seal: Seal | None = None
        self.ticket = Ticket(())


def _no_probe(point: str) -> None:
    """Nobody looks on."""


class Ledger(RowSource):
    """An append-only ledger, open for writing. Made by ``create`` or ``open``; thread-safe; a context manager.

    ``clock`` returns a moment with a time zone. ``probe`` is called from the writer thread with "before-commit" and
    "after-commit" (each commit) and "sealing" (the seal is committed, WAL mode not yet left), for tests that kill the
    process there. ``max_pages`` caps the file, in pages of 8 KiB.
    """

    def __init__(self, path: Path, state: State, clock: Clock, probe: Probe | None, max_pages: int | None) -> None:
        self._path, self._clock, self._probe = path, clock, probe or _no_probe
        self._writer = Writer(path, state, self._probe, max_pages)
        self._queue: queue.SimpleQueue[Ticket | _Request] = queue.SimpleQueue()
        self._failure: AuditorError | None = None
        self._refused: list[Ticket] = []
        self._closing = self._ended = False
        self._reading: sqlite3.Connection | None = None
        self._reading_lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"ledger {path.name}", daemon=True)
        self._thread.start()

    @classmethod
    def create(
        cls, path: Path | str, *, clock: Clock = utc_now, probe: Probe | None = None, max_pages: int | None = None
    ) -> Ledger:
        """A new ledger that holds its first entry. Raises ``StorageError`` if there is anything at ``path``.

        The file appears whole or not at all: a kill leaves at most ``<path>.new``, which the next try removes.
        """
        path = Path(path)
        draft = path.with_name(path.name + ".new")
        if os.path.lexists(path):
            raise StorageError(f"{path}: there is a file of this name already")
        with database.ours(path):
            try:
                _remove(draft)
                write_first(draft, time_text(clock()))
                draft.rename(path)
                _sync_folder(path.absolute().parent)
            except BaseException:
                _remove(draft)
                raise
        return cls.open(path, clock=clock, probe=probe, max_pages=max_pages)

    @classmethod
    def open(
        cls, path: Path | str, *, clock: Clock = utc_now, probe: Probe | None = None, max_pages: int | None = None
    ) -> Ledger:
        """An existing ledger of the current version, whose whole chain is recomputed first.

        Raises ``StorageError`` when the file cannot be opened or written, ``LedgerError`` when it is not a ledger or
        not whole. Nothing is altered by a refusal; a sealed ledger stays as it is until something is appended.
        """
        path = Path(path)
        database.refuse_foreign(path)
        if not (os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)):
            raise StorageError(f"{path}: it may not be written, or its folder may not")
        with database.ours(path):
            return cls(path, _checked_state(path), clock, probe, max_pages)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def count(self) -> int:
        """Committed entries, the first one and seals included."""
        return self._writer.state.count

    @property
    def head(self) -> str:
        """Digest of the last committed entry."""
        return self._writer.state.head

    @property
    def is_sealed(self) -> bool:
        """Whether the last committed entry is a seal."""
        return self._writer.state.sealed

    @property
    def failure(self) -> AuditorError | None:
        """What stopped the ledger for good; None while it takes entries."""
        return self._failure

    def append(self, entries: Sequence[Entry]) -> Ticket:
        """Queue entries; returns at once. They are committed together, after everything that was queued before.

        Their ticket fails with ``LedgerError`` when a (kind, key) is in the ledger already (others' entries are not
        concerned), and with ``StorageError`` when the disk refuses, after which nothing more is written.
        """
        entries = tuple(entries)
        for entry in entries:
            if entry.kind in _RESERVED:
                raise ValueError(f"entries of kind {entry.kind!r} are the ledger's own")
        ticket = Ticket(entries)
        self._put(ticket, ticket)
        return ticket

    def append_wait(self, entries: Sequence[Entry]) -> None:
        """Append and wait until the entries are on the disk."""
        self.append(entries).wait()

    def flush(self, timeout: float | None = None) -> None:
        """Wait until all that was appended is on the disk; ``TimeoutError`` after ``timeout`` seconds.

        Raises ``StorageError`` if the ledger failed, and the error of a refused append whose ticket nobody looked at.
        """
        self.append(()).wait(timeout)
        self._raise_refused()

    def seal(self, note: str = "") -> Seal:
        """State count and head in an entry, checkpoint, and leave WAL mode, so that the ledger is one file.

        A ledger that is sealed stays as it is, and its seal is returned: sealing again after a kill adds nothing.
        """
        request = _Request(lambda: self._seal(note))
        self._put(request, request.ticket)
        request.ticket.wait()
        self._raise_refused()
        if request.seal is None:
            raise LedgerError(f"{self._path}: the seal was not written")
        return request.seal

    def close(self, timeout: float | None = None) -> None:
        """Commit what is queued and close the file; a second call does nothing.

        Raises like ``flush`` for what was lost and nobody has heard of, ``TimeoutError`` after ``timeout`` seconds.
        """
        if not self._closing:
            self._closing = True
            self._queue.put(_Request(lambda: None, last=True))
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError(f"{self._path}: not closed within {timeout} s")
        self._raise_refused()

    @contextmanager
    def _lease(self) -> Iterator[sqlite3.Connection]:
        with self._reading_lock, database.ours(self._path):
            if self._reading is None:
                if self._ended:
                    raise StorageError(f"{self._path}: the ledger is closed")
                self._reading = database.connect(self._path)
                database.pragma(self._reading, "query_only = ON")
            yield self._reading

    def _put(self, item: Ticket | _Request, ticket: Ticket) -> None:
        if self._closing:
            raise StorageError(f"{self._path}: the ledger is closed")
        self._queue.put(item)
        if self._ended:  # the writer thread ended between the two lines
            ticket.end(self._failure or StorageError(f"{self._path}: the ledger is closed"))

    def _raise_refused(self) -> None:
        refused, self._refused = self._refused, []
        for ticket in refused:
            if ticket.error is not None and not ticket.observed:
                raise ticket.error

    def _run(self) -> None:
        """The writer thread: one group after the other until the closing request, or the end of the process."""
        last = False
        while not last:
            tickets, request = self._next_group()
            self._commit(tickets)
            if request is not None:
                self._serve(request)
                last = request.last
        with self._no_reader():
            try:
                self._writer.close()
            except sqlite3.Error as error:
                self._failure = self._failure or database.in_our_words(self._path, error)
            self._ended = True
        with suppress(queue.Empty):
            while True:
                item = self._queue.get_nowait()
                ticket = item if isinstance(item, Ticket) else item.ticket
                ticket.end(StorageError(f"{self._path}: the ledger is closed"))

    def _next_group(self) -> tuple[list[Ticket], _Request | None]:
        """What waits in the queue, up to a bound and up to the first request; waits for the first item."""
        tickets: list[Ticket] = []
        entries = size = 0
        item = self._queue.get()
        while isinstance(item, Ticket):
            tickets.append(item)
            entries += len(item.entries)
            size += sum([len(entry.encoded) for entry in item.entries])
            if entries >= _GROUP_ENTRIES or size >= _GROUP_BYTES:
                return tickets, None
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return tickets, None
        return tickets, item

    def _commit(self, tickets: Sequence[Ticket]) -> None:
        """One transaction for all; where an entry is refused, one transaction a ticket, so that only its own fails."""
        if not tickets:
            return
        error = self._attempt(tickets)
        if isinstance(error, sqlite3.IntegrityError) and len(tickets) > 1:
            for ticket in tickets:
                self._commit([ticket])
            return
        if error is None:
            for ticket in tickets:
                ticket.end()
            return
        ours = self._in_our_words(error, tickets[0])
        self._refused.extend(tickets)
        for ticket in tickets:
            ticket.end(ours)

    def _attempt(self, tickets: Sequence[Ticket]) -> Exception | None:
        if self._failure is not None:
            return self._failure
        try:
            if any(ticket.entries for ticket in tickets):
                self._enter_wal()
                self._writer.commit([ticket.entries for ticket in tickets])
        except Exception as error:  # noqa: BLE001 - every ticket must end, whatever broke; the error goes to its waiters
            return error
        return None

    def _in_our_words(self, error: Exception, ticket: Ticket) -> AuditorError:
        """The error for a ticket. A repeated key is one caller's mistake; anything else ends the writing for good."""
        if isinstance(error, sqlite3.IntegrityError) and "are there" in str(error):
            return LedgerError(f"{self._path}: {self._repeated(ticket)} is in the ledger already")
        if isinstance(error, AuditorError):
            self._failure = error
        elif isinstance(error, sqlite3.IntegrityError):
            self._failure = LedgerError(f"{self._path}: somebody else has written to it ({error})")
        elif isinstance(error, (sqlite3.Error, OSError)):
            self._failure = database.in_our_words(self._path, error)
        else:
            self._failure = StorageError(f"{self._path}: writing failed: {type(error).__name__}: {error}")
        return self._failure

    def _repeated(self, ticket: Ticket) -> str:
        seen: set[tuple[str, str]] = set()
        for entry in ticket.entries:
            name = (entry.kind, entry.key)
            if name in seen or self.get(*name) is not None:
                return f"{entry.kind} {entry.key}"
            seen.add(name)
        return "an entry"

    def _serve(self, request: _Request) -> None:
        error: AuditorError | None = self._failure
        if error is None:
            try:
                request.seal = request.action()
            except Exception as raised:  # noqa: BLE001 - as in _attempt: the waiter gets it
                error = self._in_our_words(raised, request.ticket)
        request.ticket.end(error)

    def _seal(self, note: str) -> Seal:
        if not self.is_sealed:
            self._enter_wal()
            self._writer.seal(note, time_text(self._clock()))
        seal = self.last_seal()
        if seal is None:
            raise LedgerError(f"{self._path}: the seal was not written")
        self._probe("sealing")
        with self._no_reader():
            self._writer.finish_seal()
        return seal

    def _enter_wal(self) -> None:
        if not self._writer.in_wal:
            with self._no_reader():
                self._writer.enter_wal()

    @contextmanager
    def _no_reader(self) -> Iterator[None]:
        """The reading connection closed and kept so: the journal mode changes only while nobody else is connected."""
        with self._reading_lock:
            reading, self._reading = self._reading, None
            if reading is not None:
                reading.close()
            yield


def _checked_state(path: Path) -> State:
    with closing(database.connect(path)) as connection:
        version = database.check_schema(connection, path)
        if version != VERSION:
            raise LedgerError(f"{path}: its form has version {version}; only version {VERSION} is written to")
        last = check_chain(connection, path)
        damage = database.damage(connection)  # a resumed run looks entries up through the index
        if damage is not None:
            raise LedgerError(f"{path}: the database is damaged ({damage})")
        sealed = last.kind == SEAL_KIND
        if sealed:  # a kill may have come between the seal and this
            leave_wal(connection, path)
        return State(last.sequence, last.digest, sealed)


def _remove(draft: Path) -> None:
    for name in (draft, draft.with_name(draft.name + "-journal")):
        name.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
