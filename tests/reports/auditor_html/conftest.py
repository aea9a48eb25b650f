"""One rich run and its report for all tests of the HTML report, and one browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor.archive import Run
from auditor_html.writer import HtmlWriter
from browser import Browser, open_browser
from report_kit import rich_run


@pytest.fixture(scope="session")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A real run with marks, canaries, exclusions and hostile answers."""
    return rich_run(tmp_path_factory.mktemp("rich"))


@pytest.fixture(scope="session")
def report(rich: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its report."""
    folder = tmp_path_factory.mktemp("report")
    HtmlWriter().write(rich.report_data(), folder)
    return folder


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of one module; skips where there is none."""
    with open_browser() as browser:
        yield browser
