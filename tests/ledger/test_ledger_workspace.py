"""The workspace ledger: several processes, one sealed file."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import LedgerError, LockedRun
from auditor.ledger import Entry, FileLock, open_workspace, verify

Clock = Callable[[], Any]

_PROCESS = """
    import sys
    from auditor.ledger import Entry, open_workspace
    workspace = open_workspace(sys.argv[1])
    for number in range(12):
        with workspace.exclusive() as ledger:
            shown = sum(1 for row in ledger.rows("shown"))
            ledger.append_wait([Entry("shown", f"canary/3/{shown + 1}", {"by": sys.argv[2]})])
"""


def test_two_processes_append_in_turn(tmp_path: Path) -> None:
    """Counting and then appending is one step: no count is used twice or lost; at rest it is one sealed file."""
    path = tmp_path / "workspace.sqlite"
    command = [sys.executable, "-c", textwrap.dedent(_PROCESS), str(path)]
    processes = [subprocess.Popen([*command, name]) for name in ("a", "b", "c")]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    rows = open_workspace(path).rows("shown")
    assert [row.key for row in rows] == [f"canary/3/{number}" for number in range(1, 37)]
    assert sorted(str(row.body and row.body["by"]) for row in rows) == ["a"] * 12 + ["b"] * 12 + ["c"] * 12
    assert verify(path).exit_code == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["workspace.sqlite", "workspace.sqlite.lock"]


def test_a_workspace_begins_empty_and_is_made_on_the_first_append(tmp_path: Path, clock: Clock) -> None:
    """Reading makes nothing; appending makes the file; other kinds are left out of what is asked for."""
    workspace = open_workspace(tmp_path / "w.sqlite", clock=clock)
    assert workspace.rows() == []
    assert list(tmp_path.iterdir()) == []
    workspace.append([Entry("store", "s1", {"made": True}), Entry("gate", "g1", {})])
    assert [row.key for row in workspace.rows("store")] == ["s1"]
    with pytest.raises(LedgerError, match="store s1"):
        workspace.append([Entry("store", "s1", {})])
    workspace.append([Entry("store", "s2", {})])
    assert verify(workspace.path).exit_code == 0


def test_a_held_workspace_is_refused_after_the_wait(tmp_path: Path, clock: Clock) -> None:
    """One line that names the file and the holder; what was read before is not lost."""
    path = tmp_path / "w.sqlite"
    workspace = open_workspace(path, clock=clock, wait_s=0.05)
    workspace.append([Entry("store", "s1", {})])
    with FileLock(path.with_name("w.sqlite.lock")), pytest.raises(LockedRun, match=r"w\.sqlite: in use by process"):
        workspace.append([Entry("store", "s2", {})])
    assert len(workspace.rows("store")) == 1
