"""The synchronous interface called from asynchronous code: it works, and patches no loop."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import auditor
from campaign_kit import Project, states


def audit(folder: Path) -> list[str]:
    """A small audit, and what a notebook reads of it."""
    project = Project(folder)
    project.system("one", {"What is thing 1?": "right 1"})
    result = project.run()
    assert sorted(auditor.open(result.folder).trials["state"]) == ["abstained", "abstained", "correct"]
    return states(result)[0, 0]


@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_a_run_inside_a_running_loop(tmp_path: Path, kind: str) -> None:
    """Also under uvloop, whose loops cannot be patched: the audit runs to its end and the loop goes on."""
    make = pytest.importorskip("uvloop").new_event_loop if kind == "uvloop" else asyncio.new_event_loop

    async def main() -> list[str]:
        found = audit(tmp_path)
        await asyncio.sleep(0)
        return found

    with asyncio.Runner(loop_factory=make) as runner:
        assert runner.run(main()) == ["correct"]
