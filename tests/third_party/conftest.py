"""The third party's distribution, really built into a wheel and installed beside the auditor."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def acme_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for ``PYTHONPATH`` that holds the built and installed package ``auditor-acme``."""
    folder = tmp_path_factory.mktemp("acme")
    source, wheels, site = folder / "source", folder / "wheels", folder / "site"
    shutil.copytree(Path(__file__).parent / "acme_project", source)
    offline = ("--no-deps", "--no-index", "--quiet", "--disable-pip-version-check")
    _pip("wheel", *offline, "--no-build-isolation", "--wheel-dir", str(wheels), str(source))
    (wheel,) = wheels.glob("auditor_acme-2.3.4-*.whl")
    _pip("install", *offline, "--target", str(site), str(wheel))
    return site


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
