"""Ledgers made for the tests of the ledger: a fixed clock, calls as the engine records them, child processes."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.canonical import Json
from auditor.ledger import Entry, Ledger, commitment, text_entry

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)

Call = Callable[..., list[Entry]]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def clock() -> Callable[[], datetime]:
    """Always the same moment."""
    return lambda: MOMENT


@pytest.fixture(scope="session")
def call() -> Call:
    """All entries of one call, salted from its number, so that a ledger of a test is the same each time."""

    def entries(number: int, answer: str = "4 December 2001") -> list[Entry]:
        key = f"ask/0.0.{number}.plain.0#1"
        text = text_entry(f"{key}/answer", f"{answer} ({number})", entropy=lambda size: bytes([number % 256]) * size)
        body: dict[str, Json] = {"latency_ms": "12.5", "outcome": "text", "texts": {"answer": commitment(text)}}
        return [Entry("intent", key, {"endpoint": "stub", "input": "f" * 32}), text, Entry("outcome", key, body)]

    return entries


@pytest.fixture(scope="session")
def sealed_ledger(call: Call, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sealed ledger of three calls: 11 entries. Copy it before changing it."""
    path = tmp_path_factory.mktemp("sealed") / "ledger.sqlite"
    with Ledger.create(path, clock=lambda: MOMENT) as ledger:
        for number in range(3):
            ledger.append(call(number))
        ledger.seal("asked")
    return path


@pytest.fixture
def sealed(sealed_ledger: Path, tmp_path: Path) -> Path:
    """A sealed ledger of the test's own."""
    return Path(shutil.copy(sealed_ledger, tmp_path / "ledger.sqlite"))


@pytest.fixture(scope="session")
def without_triggers() -> Callable[[Path, Sequence[tuple[str, Sequence[object]]]], None]:
    """Run statements on a ledger as a forger would: triggers dropped before and put back, word for word, after."""

    def run(path: Path, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")  # nobody loses power in a test
            triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            for statement, values in statements:
                connection.execute(statement, values)
            for _, sql in triggers:
                connection.execute(sql)

    return run


@pytest.fixture
def child() -> Run:
    """Run Python source in a process of its own, from the repository's environment; ``expect`` is its return code."""

    def run(source: str, *arguments: object, expect: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "error", "-c", textwrap.dedent(source), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == expect, f"{done.returncode}: {done.stdout}{done.stderr}"
        return done

    return run


@pytest.fixture
def killed(child: Run) -> Run:
    """Run a source that must end by SIGKILL."""
    return lambda source, *arguments: child(source, *arguments, expect=-signal.SIGKILL)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can reach (pytest's own are closed to others); skips unless root."""
    if os.getuid() != 0:
        pytest.skip("needs root, to become a user without rights")
    folder = Path(tempfile.mkdtemp(prefix="auditor-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
