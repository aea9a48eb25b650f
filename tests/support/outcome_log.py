"""A pytest plugin that writes each test's outcome as a line of JSON into the file named by ``OUTCOME_LOG``.

The sabotage harness reads it: an exit code cannot tell a test that failed from one whose fixture broke.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

__all__ = ["pytest_runtest_logreport"]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """One line for each phase of each test."""
    line = json.dumps({"test": report.nodeid, "phase": report.when, "outcome": report.outcome})
    with Path(os.environ["OUTCOME_LOG"]).open("a", encoding="utf-8") as log:
        log.write(line + "\n")
