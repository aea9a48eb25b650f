"""Locks between processes: a run folder, and files that several runs share.

Invariant: the lock is the kernel's (``flock``) and dies with its holder; what the file says is for the reader of the
error only, and a file without a holder locks nothing.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from auditor.errors import LockedRun, StorageError
from auditor.ledger.form import time_text, utc_now

__all__ = ["FileLock", "FolderLock"]

_POLL_S: Final = 0.02
_NOTE_BYTES: Final = 200


class FileLock:
    """An exclusive lock on a file of its own, as a context manager. Not re-entrant, also within one process.

    :param wait_s: how long to wait for another holder before ``LockedRun`` is raised; 0 does not wait.
    """

    def __init__(
        self, path: Path | str, *, subject: str = "", wait_s: float = 0.0, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self._path = Path(path)
        self._subject = subject or str(self._path)
        self._wait_s, self._clock = wait_s, clock
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock; raises ``LockedRun`` that names the holder, or ``StorageError``."""
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise StorageError(f"{self._path}: cannot lock it: {error.strerror}") from error
        try:
            self._take(descriptor)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} since {time_text(self._clock())}\n".encode("ascii"), 0)
        except OSError as error:
            os.close(descriptor)
            raise StorageError(f"{self._path}: cannot lock it: {error.strerror}") from error
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back. The file stays: removing it would let two processes lock two files of one name."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.ftruncate(descriptor, 0)
            os.close(descriptor)

    def _take(self, descriptor: int) -> None:
        end = time.monotonic() + self._wait_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError as error:
                if time.monotonic() >= end:
                    note = os.pread(descriptor, _NOTE_BYTES, 0).decode("ascii", "replace")
                    holder = "".join(c for c in note if c.isprintable()).strip() or "another process"
                    raise LockedRun(f"{self._subject}: in use by {holder}") from error
            time.sleep(_POLL_S)


class FolderLock(FileLock):
    """The lock of a run folder: two runs never share one."""

    def __init__(self, folder: Path | str, *, clock: Callable[[], datetime] = utc_now) -> None:
        super().__init__(Path(folder) / ".lock", subject=str(folder), clock=clock)
