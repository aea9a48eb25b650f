"""A run that is killed and started again: nothing lost, nothing asked twice that was not perhaps paid twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from answering_server import AnsweringServer, answering_server
from auditor.archive import Run, verify_run
from auditor.campaign.folder import RunFolder
from auditor.canonical import keyed_digest
from auditor.errors import ExitCode
from auditor.findings_json import measurement_bytes, read_findings
from auditor.ledger import CheckState, Reader
from campaign_kit import Project, benchmark, canary, measured, states

SUPPORT = Path(__file__).resolve().parent.parent / "support"
QUESTIONS = 12
ANSWERS = {f"What is thing {n}?": f"right {n}" if n % 3 else "wrong" for n in range(QUESTIONS)}


def small(folder: Path, url: str, **extra: object) -> Project:
    """One system behind the server, asked twice, with canaries."""
    project = Project(folder)
    project.questions = [benchmark(n) for n in range(QUESTIONS)]
    project.questions += [canary(n, project.corpus_digest) for n in range(3)]
    project.system("served", url=url)
    project.system("local", ANSWERS)
    project.extra = {"repeats": 2, **extra}
    return project


def start(project: Project, *point: str) -> subprocess.Popen[str]:
    """The run in a process of its own."""
    command = [sys.executable, str(SUPPORT / "campaign_child.py"), str(project.folder / "audit.yaml")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen(
        [*command, str(project.folder / "runs"), *point], stdout=subprocess.PIPE, text=True, env=environment
    )


def finish(project: Project) -> RunFolder:
    """Run to the end; the one run folder there is."""
    child = start(project)
    output, _ = child.communicate(timeout=120)
    assert child.returncode == 0
    folders = list((project.folder / "runs").iterdir())
    assert [str(folder) for folder in folders] == [output.strip()]
    return RunFolder(folders[0])


def uninterrupted(folder: Path) -> bytes:
    """The measurement of the same audit without a kill."""
    with answering_server(ANSWERS) as server:
        return measured(small(folder, server.url).run())


def check_whole(run: RunFolder, server: AnsweringServer) -> int:
    """The run verifies, each trial has one outcome, and the vendor saw what the ledger says; how many were resent."""
    assert verify_run(run.path).exit_code is ExitCode.OK
    with Reader(run.ledger) as reader:
        outcomes = Counter(row.key for row in reader.rows("outcome") if row.key.startswith("ask/0."))
        intents = {row.key for row in reader.rows("intent") if row.key.startswith("ask/0.")}
        every = [row.key for row in reader.rows("resend") if row.key.startswith("ask/")]
        key = reader.get("text", "run/key")
    assert key is not None and key.text is not None
    assert set(outcomes.values()) == {1}
    assert len(outcomes) == 2 * (QUESTIONS + 3)
    resends = [name for name in every if name.startswith("ask/0.")]  # those that went to the server
    run_key = bytes.fromhex(key.text)
    named = {keyed_digest(run_key, ["opaque", intent.partition("#")[0]]): intent for intent in intents}
    arrived = Counter(named[opaque] for opaque, _ in server.log)  # KeyError: a call without a committed intent
    assert sum(arrived.values()) - len(arrived) <= len(resends)
    perhaps_twice = Counter(key.rpartition(".")[0] for key in resends)
    assert all(count - 1 <= perhaps_twice[intent] for intent, count in arrived.items())
    return len(every)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The measurement of an uninterrupted run. The server's address is part of no measurement."""
    return uninterrupted(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize(
    ("point", "nth", "resent"),
    [
        ("after-intent", "9", True),
        ("on-wire", "7", True),
        ("before-outcome", "8", True),
        ("before-commit", "12", False),
        ("sealing", "1", False),
        ("writing-findings", "1", False),
    ],
)
def test_a_kill_at_a_named_point_changes_nothing(
    tmp_path: Path, expected: bytes, point: str, nth: str, resent: bool
) -> None:
    """Killed there and started again, the measurement is byte for byte that of an uninterrupted run."""
    with answering_server(ANSWERS) as server:
        project = small(tmp_path, server.url)
        project.write()
        child = start(project, point, nth)
        child.communicate(timeout=120)
        assert child.returncode == -signal.SIGKILL
        run = finish(project)
        count = check_whole(run, server)
        assert not resent or count > 0
        assert measurement_bytes(read_findings(run.findings)) == expected
        asked = len(server.log)
        assert measurement_bytes(Run(finish(project).path).findings) == expected
        assert len(server.log) == asked


@pytest.mark.parametrize(
    ("point", "nth", "verified"),
    [
        ("on-wire", "1", ExitCode.NOT_SEALED),
        ("sealing", "1", ExitCode.NOT_CHECKED),
        ("writing-findings", "1", ExitCode.NOT_CHECKED),
    ],
)
def test_a_kill_during_a_retry_leaves_no_old_number_in_force(
    tmp_path: Path, point: str, nth: str, verified: ExitCode
) -> None:
    """The earlier findings are never called tampered with, nor taken for those of what was asked since."""
    answers = tmp_path / "answers.json"
    project = Project(tmp_path)
    project.system("one", answers_file=str(answers))
    answers.write_text(json.dumps({"What is thing 1?": "!permanent"}), encoding="utf-8")
    first = project.run()
    answers.write_text(json.dumps({"What is thing 1?": "right 1"}), encoding="utf-8")
    child = start(project, point, nth, "retry")
    child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL
    report = verify_run(first.folder)
    assert report.exit_code is verified
    checks = {check.name: check.state for check in report.checks}
    assert (checks["findings"], checks["findings current"]) == (CheckState.PASSED, CheckState.NOT_CHECKED)
    frame = Run(first.folder).trials
    scored = dict(zip(frame["state"], frame["score"], strict=True))
    assert "correct" not in scored or scored["correct"] == 1  # states and scores of one ledger, never of two
    again = project.run()
    assert measured(again) == measurement_bytes(Run(first.folder).findings)
    assert states(again)[0, 0] == ["correct"]
    assert verify_run(first.folder).exit_code is ExitCode.OK


@pytest.mark.slow
def test_kills_at_random_moments_of_the_asking_stage_change_nothing(tmp_path: Path, expected: bytes) -> None:
    """Fifty runs, each killed at a moment of its own while the system is being asked."""
    chance = random.Random(20261130)  # noqa: S311 - moments, not secrets
    resent = 0
    for number in range(50):
        with answering_server(ANSWERS) as server:
            project = small(tmp_path / str(number), server.url)
            project.write()
            child = start(project)
            wanted = chance.randrange(1, 2 * (QUESTIONS + 3))
            deadline = time.monotonic() + 60
            while len(server.log) < wanted and child.poll() is None and time.monotonic() < deadline:
                time.sleep(0.0005)
            time.sleep(chance.random() * 0.003)
            child.kill()
            child.communicate()
            run = finish(project)
            resent += check_whole(run, server)
            assert measurement_bytes(read_findings(run.findings)) == expected
    assert resent > 0
