"""Ctrl-C, full disks and foreign files, met by the real command: one clear line, nothing destroyed."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from auditor.errors import ExitCode
from auditor.ledger import Reader, verify
from campaign_kit import Project, benchmark
from interruptible import interruptible
from scratch_site import ScratchSite

STUCK = """
from pydantic import BaseModel
from auditor.corpus import Corpus
from auditor.model import TransportOutcome
from auditor.system import EvidenceSupport, Reply, Request, Store, System, SystemTraits, Work

class Config(BaseModel):
    how: str
    mark: str

class Stuck(System):
    config_model = Config

    @property
    def traits(self) -> SystemTraits:
        return SystemTraits(grounded=True, evidence=EvidenceSupport.NONE)

    def open(self, corpus: Corpus, work: Work) -> Store:
        return Store("stuck")

    def ask(self, store: Store, request: Request) -> Reply:
        with request.wire():
            if request.text != "What is thing 1?":
                open(self.config.mark, "a").close()
                getattr(self, self.config.how)()
        return Reply(TransportOutcome.TEXT, "right 1")

    def socket(self) -> None:
        import socket
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            with socket.create_connection(server.getsockname()) as client:
                client.recv(1)

    def numpy(self) -> None:
        import numpy
        wide = numpy.ones((3000, 3000))
        while True:
            wide @ wide

    def executor(self) -> None:
        import time
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(2) as pool:
            pool.submit(time.sleep, 600).result()
"""
OFFER = """
from auditor.plugin import Offer, hookimpl

@hookimpl
def auditor_systems():
    return [Offer("stuck", "never answers", "auditor_stuck.system:Stuck")]
"""


def stuck_project(folder: Path, how: str) -> tuple[Project, Path]:
    """An audit whose second question never comes back, and the folder of the plugin."""
    site = ScratchSite(folder / "site")
    site.add("auditor-stuck", {"auditor_stuck/__init__.py": OFFER, "auditor_stuck/system.py": STUCK})
    project = Project(folder, questions=[benchmark(n) for n in range(1, 6)])
    config = {"how": how, "mark": str(folder / "mark")}
    project.systems.append({"name": "stuck", "kind": "stuck", "config": config})
    embedded(project)
    return project, site.folder


def embedded(project: Project) -> None:
    """The shipped judges, so that the real command finds them."""
    project.seats = tuple({"name": j, "judge": j} for j in ("answer-match", "embedding-agreement", "token-alignment"))
    project.extra |= {"stance": {"classifier": "rules"}, "limits": {"slots": 3, "deadline_s": 300}}


@contextmanager
def auditor(
    project: Project, site: Path | None = None, prepare: Callable[[], None] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """``auditor run`` on the project, as a user starts it."""
    environment = {**os.environ, "PYTHONPATH": str(site or "")}
    command = [sys.executable, "-m", "auditor", "run", str(project.write()), "--quiet", "--yes"]
    command += ["--runs-dir", str(project.folder / "runs")]
    with interruptible(command, environment=environment, prepare=prepare) as child:
        yield child


def finished(project: Project) -> int:
    """Exit code of a run to its end."""
    with auditor(project) as child:
        child.communicate(timeout=120)
        return int(child.returncode)


@pytest.mark.parametrize("how", ["socket", "numpy", "executor"])
def test_ctrl_c_ends_within_two_seconds_whatever_hangs(tmp_path: Path, how: str) -> None:
    """What was answered is on the disk, the chain holds, and the exit code says interrupted."""
    project, site = stuck_project(tmp_path, how)
    with auditor(project, site) as child:
        deadline = time.monotonic() + 60
        while not (tmp_path / "mark").exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, errors = child.communicate(timeout=30)
        took_s = time.monotonic() - started
    assert child.returncode == ExitCode.INTERRUPTED, errors
    assert took_s < 2.0
    assert "Traceback" not in errors
    (folder,) = (tmp_path / "runs").iterdir()
    report = verify(folder / "ledger.sqlite")
    assert report.exit_code is ExitCode.NOT_SEALED
    with Reader(folder / "ledger.sqlite") as reader:
        answered = [row.key for row in reader.rows("outcome") if row.key.startswith("ask/")]
    assert len(answered) == 1


def told(child: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and the one line on standard error."""
    _, errors = child.communicate(timeout=120)
    assert "Traceback" not in errors
    lines = [line for line in errors.splitlines() if line.startswith("auditor:")]
    assert len(lines) == 1, errors
    return child.returncode, lines[0]


def small_local(folder: Path, questions: int = 3) -> Project:
    """An audit of a local pipeline that the real command can run."""
    project = Project(folder, questions=[benchmark(n) for n in range(1, questions + 1)])
    project.systems.append({"name": "local", "kind": "local-rag", "config": {"policy": "answer_always"}})
    embedded(project)
    return project


def test_a_full_disk_is_one_clear_line_and_nothing_is_lost(tmp_path: Path) -> None:
    """A limit on file size stands in for it; with room again the run goes on and verifies."""
    project = small_local(tmp_path, questions=40)

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    with auditor(project, prepare=no_room) as child:
        code, line = told(child)
    assert code == ExitCode.STORAGE, line
    assert "ledger.sqlite" in line
    assert finished(project) == ExitCode.OK
    (folder,) = (tmp_path / "runs").iterdir()
    assert verify(folder / "ledger.sqlite").exit_code is ExitCode.OK


UNPRIVILEGED = """
import os, sys
from auditor.cli import cli

_, SPEC, OPEN, CLOSED = sys.argv

def started(*arguments):
    sys.argv = ["auditor", "run", *arguments, "--quiet"]
    cli()

try:  # as root first, so that every module is loaded; the interpreter's own folder may be closed to others
    started(SPEC, "--runs-dir", OPEN)
except SystemExit:
    pass
os.setgid(65534)
os.setuid(65534)
started(SPEC, "--runs-dir", CLOSED)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user; modes do not bind root")
def test_a_folder_that_may_only_be_read_is_one_clear_line() -> None:
    """An unprivileged user is told which folder cannot be written, and nothing is left behind."""
    with tempfile.TemporaryDirectory() as place:  # pytest's own folders are closed to other users
        folder = Path(place)
        project, closed = small_local(folder), folder / "closed"
        closed.mkdir()
        arguments = [str(project.write()), str(folder / "runs"), str(closed)]
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755)
        with interruptible([sys.executable, "-c", UNPRIVILEGED, *arguments]) as child:
            code, line = told(child)
        assert code == ExitCode.STORAGE, line
        assert str(closed) in line
        assert list(closed.iterdir()) == []


@pytest.mark.parametrize("damage", ["truncated", "foreign", "empty", "noise"])
def test_a_damaged_ledger_is_one_clear_line_and_stays_as_it_is(tmp_path: Path, damage: str) -> None:
    """The run neither repairs nor overwrites a file that it does not understand."""
    project = small_local(tmp_path)
    finished(project)
    (folder,) = (tmp_path / "runs").iterdir()
    ledger = folder / "ledger.sqlite"
    if damage == "truncated":
        ledger.write_bytes(ledger.read_bytes()[: ledger.stat().st_size // 2])
    elif damage == "foreign":
        ledger.unlink()
        with sqlite3.connect(ledger) as other:
            other.execute("CREATE TABLE someone_elses (x)")
    elif damage == "empty":
        ledger.write_bytes(b"")
    else:
        ledger.write_bytes(b"\x00\xff" * 4000)
    before = ledger.read_bytes()
    with auditor(project) as child:
        code, line = told(child)
    assert code in {ExitCode.TAMPERED, ExitCode.STORAGE}, line
    assert "ledger.sqlite" in line
    assert ledger.read_bytes() == before


def test_two_runs_on_one_folder_are_one_clear_line(tmp_path: Path) -> None:
    """The second is refused while the first holds the folder, and says who does."""
    project, site = stuck_project(tmp_path, "socket")
    with auditor(project, site) as first:
        deadline = time.monotonic() + 60
        while not (tmp_path / "mark").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        with auditor(project, site) as second:
            code, line = told(second)
        assert code == ExitCode.LOCKED, line
        assert str(first.pid) in line


def test_a_copied_run_folder_is_refused(tmp_path: Path) -> None:
    """A ledger under the name of another design's run is not gone on with."""
    project = small_local(tmp_path)
    finished(project)
    (folder,) = (tmp_path / "runs").iterdir()
    project.questions.append(benchmark(9))
    finished(project)
    (other,) = [path for path in (tmp_path / "runs").iterdir() if path != folder]
    shutil.copy(folder / "ledger.sqlite", other / "ledger.sqlite")
    with auditor(project) as child:
        code, line = told(child)
    assert code == ExitCode.TAMPERED, line
    assert "another design" in line


def test_the_result_is_json_where_a_script_wants_it(tmp_path: Path) -> None:
    """``--json`` prints one document and nothing else."""
    project = small_local(tmp_path)
    command = [sys.executable, "-m", "auditor", "run", str(project.write()), "--json", "--quiet"]
    done = subprocess.run(
        [*command, "--runs-dir", str(tmp_path / "runs")], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"]["schema_version"] == 1
