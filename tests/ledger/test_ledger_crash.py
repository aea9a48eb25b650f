"""Crashes: SIGKILL at named points and at random, a full disk, a file-size limit; what was promised is there, whole."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import ExitCode, StorageError
from auditor.ledger import Entry, Ledger, Reader, verify

Clock = Callable[[], Any]
Call = Callable[..., list[Entry]]
Run = Callable[..., Any]

_KILL = """
    import os, signal, sys
    from auditor.ledger import Entry, Ledger
    path, point, passes = sys.argv[1], sys.argv[2], int(sys.argv[3])

    def probe(reached):
        global passes
        if reached == point:
            passes -= 1
            if passes < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    ledger = Ledger.open(path, probe=probe)
    for number in (1, 2, 3):
        ledger.append_wait([Entry("intent", f"a#{number}", {}), Entry("outcome", f"a#{number}", {})])
    ledger.seal()
"""


@pytest.mark.parametrize(
    ("point", "passes", "kept", "sealed"),
    [
        ("before-commit", 0, 1, False),
        ("before-commit", 1, 3, False),
        ("after-commit", 0, 3, False),
        ("before-commit", 3, 7, False),
        ("after-commit", 3, 8, True),
        ("sealing", 0, 8, True),
    ],
)
def test_killed_at_a_named_point(
    tmp_path: Path, clock: Clock, killed: Run, point: str, passes: int, kept: int, sealed: bool
) -> None:
    """Exactly the committed entries are there, no append in part; the next start goes on to one sealed file."""
    path = tmp_path / "l.sqlite"
    Ledger.create(path, clock=clock).close()
    killed(_KILL, path, point, passes)
    with Reader(path) as reader:
        assert (reader.count, reader.is_sealed) == (kept, sealed)
    assert verify(path).exit_code == (ExitCode.OK if sealed else ExitCode.NOT_SEALED)
    with Ledger.open(path, clock=clock) as ledger:
        assert (ledger.count, ledger.is_sealed) == (kept, sealed)
        for number in (1, 2, 3):
            if ledger.get("intent", f"a#{number}") is None:
                ledger.append([Entry("intent", f"a#{number}", {}), Entry("outcome", f"a#{number}", {})])
        ledger.seal()
    report = verify(path)
    assert (report.exit_code, report.count) == (0, 8)
    assert [file.name for file in tmp_path.iterdir()] == ["l.sqlite"]


def test_a_sealed_ledger_is_one_file_after_the_next_start(tmp_path: Path, clock: Clock, killed: Run) -> None:
    """A kill between the seal and leaving WAL mode is made good by opening, without an append."""
    path = tmp_path / "l.sqlite"
    Ledger.create(path, clock=clock).close()
    killed(_KILL, path, "sealing", 0)
    assert len(list(tmp_path.iterdir())) == 3
    Ledger.open(path, clock=clock).close()
    assert [file.name for file in tmp_path.iterdir()] == ["l.sqlite"]
    assert path.read_bytes()[18:20] == b"\1\1"  # the header's mark of a database that has left WAL mode


_BUSY = """
    import sys
    from auditor.ledger import Entry, Ledger
    ledger = Ledger.open(sys.argv[1])
    print("ready", flush=True)
    for number in range(1, 1_000_000):
        intent = Entry("intent", f"a#{number}", {"text": "x" * 500})
        ticket = ledger.append([intent, Entry("outcome", f"a#{number}", {})])
        ticket.add_done_callback(lambda ticket, number=number: print(number, flush=True))
        if number % 10 == 0:
            ticket.wait()
        if number % 50 == 0:
            ledger.seal()
"""


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_a_random_moment(tmp_path: Path, clock: Clock, seed: int) -> None:
    """Whatever was confirmed is there, the ledger is whole, and no append is there in part."""
    path = tmp_path / "l.sqlite"
    Ledger.create(path, clock=clock).close()
    command = [sys.executable, "-c", textwrap.dedent(_BUSY), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(random.Random(seed).uniform(0.01, 0.3))  # noqa: S311 - a moment, not a secret
        process.send_signal(signal.SIGKILL)
        confirmed = [int(line) for line in process.stdout.read().split("\n")[:-1] if line]
    assert verify(path).exit_code in {ExitCode.OK, ExitCode.NOT_SEALED}
    with Ledger.open(path, clock=clock) as ledger:
        intents = [row.key for row in ledger.rows("intent")]
        assert intents == [row.key for row in ledger.rows("outcome")]
        assert intents == [f"a#{number}" for number in range(1, len(intents) + 1)]
        assert len(intents) >= max(confirmed, default=0)
        ledger.seal()
    assert verify(path).exit_code == 0


def test_killed_while_it_is_made(tmp_path: Path, clock: Clock, killed: Run) -> None:
    """A ledger that is being made is not there yet; the next try makes it."""
    path = tmp_path / "l.sqlite"
    killed(
        """
        import os, signal, sys
        from pathlib import Path
        from auditor.ledger import Ledger
        Path.rename = lambda self, target: os.kill(os.getpid(), signal.SIGKILL)
        Ledger.create(sys.argv[1])
        """,
        path,
    )
    assert not path.exists()
    with Ledger.create(path, clock=clock) as ledger:
        ledger.seal()
    assert [file.name for file in tmp_path.iterdir()] == ["l.sqlite"]


def test_a_full_disk_stops_the_writing_and_loses_nothing(tmp_path: Path, clock: Clock, call: Call) -> None:
    """The append that does not fit fails with one line, and so does all after it; what was confirmed stays."""
    path = tmp_path / "l.sqlite"
    ledger = Ledger.create(path, clock=clock, max_pages=40)
    confirmed, number = 0, 0
    with pytest.raises(StorageError) as raised:
        for number in range(1_000):
            ledger.append_wait(call(number, "x" * 3_000))
            confirmed += 1
    assert str(raised.value).startswith(f"{path}: the disk is full")
    assert "\n" not in str(raised.value)
    small = ledger.append([Entry("intent", "small#1", {})])
    for wait in (small.wait, ledger.flush, ledger.seal):
        with pytest.raises(StorageError, match="the disk is full"):
            wait()
    assert ledger.get("outcome", f"ask/0.0.{confirmed - 1}.plain.0#1") is not None
    ledger.close()
    with Ledger.open(path, clock=clock) as again:
        assert again.count == 1 + 3 * confirmed
        again.append_wait(call(number))
        again.seal()
    assert verify(path).exit_code == 0


def test_a_failure_that_nobody_waited_for_comes_up_at_close(tmp_path: Path, clock: Clock) -> None:
    """Outcomes are not awaited; losing one is still an error of the run."""
    ledger = Ledger.create(tmp_path / "l.sqlite", clock=clock, max_pages=8)
    ledger.append([Entry("note", "n", {"text": "x" * 200_000})])
    with pytest.raises(StorageError, match="the disk is full"):
        ledger.close()


_LIMITED = """
    import resource, sys
    from pathlib import Path
    from auditor.errors import StorageError
    from auditor.ledger import Entry, Ledger
    path, limit = sys.argv[1], int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    confirmed = 0
    try:
        ledger = Ledger.create(path)
        for number in range(1, 1_000):
            ledger.append_wait([Entry("intent", f"a#{number}", {"text": "x" * 3_000})])
            confirmed = number
    except StorageError as error:
        assert str(error).startswith(path + ": ") and "\\n" not in str(error), str(error)
        print(confirmed)
    else:
        raise AssertionError("no limit was met")
"""


@pytest.mark.parametrize("limit", [0, 1_000, 20_000, 100_000, 400_000])
def test_a_file_size_limit_is_a_storage_error(tmp_path: Path, clock: Clock, child: Run, limit: int) -> None:
    """RLIMIT_FSIZE at any point of a ledger's life: one line, and every confirmed entry is there afterwards."""
    path = tmp_path / "l.sqlite"
    confirmed = int(child(_LIMITED, path, limit).stdout)
    assert (confirmed > 0) == (limit >= 100_000)
    if limit == 0 or not path.exists():
        assert list(tmp_path.iterdir()) == []
        return
    with Ledger.open(path, clock=clock) as ledger:
        keys = [row.key for row in ledger.rows("intent")]
        assert keys[:confirmed] == [f"a#{number}" for number in range(1, confirmed + 1)]
        ledger.seal()
    assert verify(path).exit_code == 0


def test_a_folder_that_vanishes_is_a_storage_error(tmp_path: Path, clock: Clock) -> None:
    """Making a ledger where there is no folder is one line that names the path."""
    with pytest.raises(StorageError, match="nowhere"):
        Ledger.create(tmp_path / "nowhere" / "l.sqlite", clock=clock)


def test_a_lock_by_another_program_is_a_storage_error(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database shell that holds the file stops the run with one line instead of hanging it."""
    from auditor.ledger import database

    path = tmp_path / "l.sqlite"
    Ledger.create(path, clock=clock).close()
    content = path.read_bytes()
    monkeypatch.setattr(database.connect, "__kwdefaults__", {"timeout_s": 0.05})
    stranger = sqlite3.connect(path, isolation_level=None)
    stranger.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StorageError, match="another program holds it"):
        Ledger.open(path, clock=clock)
    stranger.execute("ROLLBACK")
    with Ledger.open(path, clock=clock) as ledger:
        stranger.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="another program holds it"):
            ledger.append_wait([Entry("intent", "a#1", {})])
        stranger.execute("ROLLBACK")
    stranger.close()
    assert path.read_bytes() == content


def test_a_hot_journal_of_its_own_is_rolled_back(sealed: Path, tmp_path: Path, clock: Clock) -> None:
    """A kill while WAL mode is left can leave a rollback journal; reading and writing both make it good."""
    killed_at = tmp_path / "killed"
    killed_at.mkdir()
    path = killed_at / "ledger.sqlite"
    connection = sqlite3.connect(sealed, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("PRAGMA cache_spill = 1")
    connection.execute("BEGIN IMMEDIATE")
    for number in range(300):
        connection.execute("CREATE TABLE IF NOT EXISTS scratch (x)")
        connection.execute("INSERT INTO scratch VALUES (zeroblob(4000 + ?))", (number,))
    shutil.copy(sealed, path)
    shutil.copy(f"{sealed}-journal", f"{path}-journal")
    connection.execute("ROLLBACK")
    connection.close()
    assert os.stat(path).st_size > os.stat(sealed).st_size  # noqa: PTH116 - sizes only
    assert verify(path).exit_code == 0
    Ledger.open(path, clock=clock).close()
    assert verify(path).exit_code == 0
    assert path.read_bytes()[100:] == sealed.read_bytes()[100:]
