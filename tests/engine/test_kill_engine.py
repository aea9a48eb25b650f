"""SIGKILL at named points, then a new process: nothing is lost, nothing is asked without its intent, and each call that
was made twice was known as "perhaps sent".
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from auditor.ledger import CheckState, Ledger, Reader, verify
from tests.engine.stub_server import StubServer, serving

CHILD = Path(__file__).with_name("child.py")
COUNT, SLOTS = 24, 3


def _child(ledger: Path, server: StubServer, *point: str, count: int = COUNT) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(CHILD), str(ledger), str(server.server_address[1]), str(count), *point]
    return subprocess.Popen(command)


def _finish(ledger: Path, server: StubServer, count: int = COUNT) -> None:
    assert _child(ledger, server, count=count).wait(60) == 0


def _check_whole(path: Path, log: list[str], count: int = COUNT) -> int:
    """Each outcome once; no request without intent; repeats equal to resends that were really sent twice."""
    assert all(check.state is not CheckState.FAILED for check in verify(path).checks)
    ledger = Ledger.open(path)
    tasks = [f"ask/0.0.{n}.0.0" for n in range(count)]
    assert sorted(row.key for row in ledger.rows("outcome")) == sorted(f"{task}#1" for task in tasks)
    assert sorted(row.key for row in ledger.rows("intent")) == sorted(f"{task}#1" for task in tasks)
    for task in tasks:
        row = ledger.get("text", f"{task}#1/answer")
        assert row is not None and row.text == f"reply to /{task}"
    resends = Counter(row.key.split("#")[0] for row in ledger.rows("resend"))
    ledger.close()
    requests = Counter(log)
    assert set(requests) == set(tasks)
    for task in tasks:
        assert requests[task] - 1 <= resends[task], f"{task} was asked again without a resend"
    return sum(requests.values()) - count


@pytest.mark.parametrize("nth", [1, 7])
@pytest.mark.parametrize("point", ["after-intent", "on-wire", "before-outcome"])
def test_kill_at_a_named_point(tmp_path: Path, point: str, nth: int) -> None:
    """Killed after an intent's commit, on the wire, and before an outcome reaches the ledger; then run again."""
    path = tmp_path / "ledger.sqlite"
    with serving() as server:
        assert _child(path, server, point, str(nth)).wait(60) == -signal.SIGKILL
        sent = Counter(server.log)
        with Reader(path) as reader:
            intents = {row.key.split("#")[0] for row in reader.rows("intent")}
            outcomes = {row.key.split("#")[0] for row in reader.rows("outcome")}
        assert set(sent) <= intents, "a request went out before its intent was on the disk"
        # As many wait as there are slots, and as many are in flight, whose requests may not have arrived.
        assert len(intents - outcomes - set(sent)) <= 2 * SLOTS, "more intents waited than there are slots"
        _finish(path, server)
        twice = _check_whole(path, server.log)
    if point != "after-intent":
        assert twice >= 1, "the call that was killed on the wire had to be paid twice"


def test_second_kill_at_the_same_call(tmp_path: Path) -> None:
    """Killed three times on the wire: the attempt keeps its number, and each resend is an entry of its own."""
    path = tmp_path / "ledger.sqlite"
    with serving() as server:
        for _ in range(3):
            assert _child(path, server, "on-wire", "1", count=1).wait(60) == -signal.SIGKILL
        _finish(path, server, count=1)
        assert _check_whole(path, server.log, count=1) == 3
    ledger = Ledger.open(path)
    assert [row.key for row in ledger.rows("resend")] == [f"ask/0.0.0.0.0#1.{m}" for m in (1, 2, 3)]
    ledger.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_kill_at_a_random_moment(tmp_path: Path, seed: int) -> None:
    """Kill from outside, wherever the process happens to be, up to five times."""
    path, moments = tmp_path / "ledger.sqlite", random.Random(seed)  # noqa: S311 - moments, nothing secret
    with serving() as server:
        for _ in range(5):
            child = _child(path, server, count=400)
            time.sleep(moments.uniform(0.15, 0.6))
            child.kill()
            if child.wait() == 0:
                break
        _finish(path, server, count=400)
        _check_whole(path, server.log, count=400)
