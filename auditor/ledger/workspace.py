"""The workspace ledger: what crosses runs — how often a canary was shown, tries of a gate, stores made and deleted.

The form is a run's ledger's. Invariant: several processes append to it in turn, each under a lock of the file's own,
and whoever leaves it leaves one sealed file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from auditor.ledger.entry import Entry, Row
from auditor.ledger.form import utc_now
from auditor.ledger.lock import FileLock
from auditor.ledger.reader import Reader
from auditor.ledger.store import Ledger

__all__ = ["Workspace", "open_workspace"]


class Workspace:
    """A ledger shared by runs. Every use locks, opens, recomputes the chain and closes: it is small and rarely used."""

    def __init__(self, path: Path | str, *, clock: Callable[[], datetime] = utc_now, wait_s: float = 30.0) -> None:
        self._path, self._clock, self._wait_s = Path(path), clock, wait_s

    @property
    def path(self) -> Path:
        """The file; it exists once something was appended."""
        return self._path

    @contextmanager
    def exclusive(self) -> Iterator[Ledger]:
        """The ledger with nobody else in it, for reading and then appending what depends on what was read.

        Raises ``LockedRun`` when another process holds it for longer than the wait.
        """
        lock = self._path.with_name(self._path.name + ".lock")
        with FileLock(lock, subject=str(self._path), wait_s=self._wait_s, clock=self._clock):
            made = Ledger.open if self._path.exists() else Ledger.create
            with made(self._path, clock=self._clock) as ledger:
                yield ledger
                ledger.seal()

    def append(self, entries: Sequence[Entry]) -> None:
        """Append and wait until the entries are on the disk."""
        with self.exclusive() as ledger:
            ledger.append_wait(entries)

    def rows(self, kind: str | None = None) -> list[Row]:
        """Committed entries, of one kind if it is named; none where there is no file yet. Takes no lock."""
        if not self._path.exists():
            return []
        with Reader(self._path) as reader:
            return list(reader.rows(kind))


def open_workspace(path: Path | str, *, clock: Callable[[], datetime] = utc_now, wait_s: float = 30.0) -> Workspace:
    """The workspace ledger at ``path``, made on the first append. ``wait_s``: how long to wait for another process."""
    return Workspace(path, clock=clock, wait_s=wait_s)
