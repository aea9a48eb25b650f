"""Tickets: what ``append`` hands back while the entries are still on their way to the disk.

Invariant: a ticket ends once, either committed or with the error that stopped it; then every waiter wakes and every
callback is called, also one that is added afterwards.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from auditor.errors import AuditorError
from auditor.ledger.entry import Entry

__all__ = ["Ticket"]

_LOG = logging.getLogger(__name__)


class Ticket:
    """One call of ``append``. Made thousands of times a second, so a lock stands in for ``threading.Event``."""

    __slots__ = ("_callbacks", "_ended", "_gate", "_guard", "entries", "error", "observed")

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.error: AuditorError | None = None
        self.observed = False  # somebody will hear of a failure
        self._callbacks: list[Callable[[Ticket], None]] = []
        self._ended = False
        self._guard = threading.Lock()
        self._gate = threading.Lock()
        self._gate.acquire()

    @property
    def done(self) -> bool:
        """Committed or failed."""
        return self._ended

    def wait(self, timeout: float | None = None) -> None:
        """Return once the entries are on the disk.

        Raises what stopped them (``StorageError``, ``LedgerError``), or ``TimeoutError`` after ``timeout`` seconds.
        """
        self.observed = True
        if not self._ended:
            if not self._gate.acquire(timeout=-1 if timeout is None else max(0.0, timeout)):
                raise TimeoutError(f"not committed within {timeout} s")
            self._gate.release()
        if self.error is not None:
            raise self.error

    def add_done_callback(self, function: Callable[[Ticket], None]) -> None:
        """Call ``function(ticket)`` from the writer thread after the commit, or here and now if that has been.

        It must be quick and must not wait for another ticket. ``ticket.error`` is None when all is well.
        """
        self.observed = True
        with self._guard:
            if not self._ended:
                self._callbacks.append(function)
                return
        self._call(function)

    def end(self, error: AuditorError | None = None) -> None:
        """For the writer: the ticket is over. A second call changes nothing."""
        with self._guard:
            if self._ended:
                return
            self.error, self._ended = error, True
            callbacks, self._callbacks = self._callbacks, []
        self._gate.release()
        for function in callbacks:
            self._call(function)

    def _call(self, function: Callable[[Ticket], None]) -> None:
        try:
            function(self)
        except Exception:  # noqa: BLE001 - the writer thread serves everybody; one caller's mistake must not end it
            _LOG.exception("a callback of a ledger ticket failed")
