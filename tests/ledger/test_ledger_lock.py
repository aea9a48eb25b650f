"""Locks: two runs never share a folder, and a lock never outlives its holder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import ExitCode, LockedRun, StorageError
from auditor.ledger import FileLock, FolderLock

Clock = Callable[[], Any]

_HOLDER = """
    import sys, time
    from auditor.ledger import FolderLock
    with FolderLock(sys.argv[1]):
        print("held", flush=True)
        time.sleep(60)
"""


def test_a_second_process_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    """The second gets ``LockedRun`` with the holder's process and time; after SIGKILL the folder is free at once."""
    command = [sys.executable, "-c", textwrap.dedent(_HOLDER), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(LockedRun, match=rf"in use by process {process.pid} since 20\d\d-.*Z$") as raised:
            FolderLock(tmp_path).acquire()
        assert raised.value.exit_code is ExitCode.LOCKED
        assert str(raised.value).startswith(f"{tmp_path}: ")
        process.send_signal(signal.SIGKILL)
        process.wait()
    with FolderLock(tmp_path):
        pass


def test_a_lock_is_exclusive_within_one_process_too(tmp_path: Path, clock: Clock) -> None:
    """Two notebooks' threads are two runs; leaving the block frees the folder, an error inside included."""
    with pytest.raises(ZeroDivisionError), FolderLock(tmp_path, clock=clock):
        with pytest.raises(LockedRun, match=rf"process {os.getpid()} since 2026-01-02T03:04:05.678Z"):
            FolderLock(tmp_path).acquire()
        raise ZeroDivisionError
    with FolderLock(tmp_path):
        pass


def test_a_file_without_a_holder_locks_nothing(tmp_path: Path) -> None:
    """What a killed process or a copy left in the lock file does not matter."""
    (tmp_path / ".lock").write_text("process 1 since 2020-01-01T00:00:00.000Z\n", encoding="ascii")
    with FolderLock(tmp_path):
        pass


def test_what_the_lock_file_says_cannot_reach_the_terminal(tmp_path: Path) -> None:
    """Only printable characters of a note are shown, on one line."""
    with FolderLock(tmp_path):
        (tmp_path / ".lock").write_bytes(b"process 1\x1b[31m\nsince \xff\0never")
        with pytest.raises(LockedRun) as raised:
            FolderLock(tmp_path).acquire()
    assert str(raised.value).isprintable()


def test_a_lock_can_be_waited_for(tmp_path: Path) -> None:
    """With a wait, the lock is taken as soon as the holder leaves; without one, or past it, it is refused."""
    first = FileLock(tmp_path / "x.lock")
    first.acquire()
    started = time.monotonic()
    with pytest.raises(LockedRun):
        FileLock(tmp_path / "x.lock", wait_s=0.1).acquire()
    assert time.monotonic() - started >= 0.1
    first.release()
    first.release()
    with FileLock(tmp_path / "x.lock", wait_s=5):
        pass


def test_a_lock_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    """No folder, or a link in the lock's place: one line, and the link's target is untouched."""
    with pytest.raises(StorageError, match="nowhere"):
        FolderLock(tmp_path / "nowhere").acquire()
    (tmp_path / "mine").write_text("precious", encoding="utf-8")
    (tmp_path / ".lock").symlink_to(tmp_path / "mine")
    with pytest.raises(StorageError, match="cannot lock it"):
        FolderLock(tmp_path).acquire()
    assert (tmp_path / "mine").read_text(encoding="utf-8") == "precious"
