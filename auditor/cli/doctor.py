"""``auditor doctor``: is this machine fit to run an audit, and is this spec?

Invariant: a check that could not be made is *not checked* with its reason, never passed.
"""

from __future__ import annotations

import locale
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import click

import auditor
from auditor.cli.output import columns, say, say_json
from auditor.errors import AuditorError, ExitCode

if TYPE_CHECKING:
    from auditor.spec import LoadedSpec

__all__ = ["Finding", "State", "doctor", "examine"]

_PYTHON = (3, 11)
_SQLITE = (3, 37, 0)  # STRICT tables
_FREE_BYTES = 500 * 1024 * 1024
_EARLIEST_YEAR = 2025


class State(StrEnum):
    """What a check came to."""

    PASSED = "passed"
    WARNING = "warning"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's. ``code``: the exit code it calls for when it failed."""

    name: str
    state: State
    detail: str
    code: ExitCode = ExitCode.OK


@click.command()
@click.argument("spec", required=False)
@click.option(
    "--runs-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Where runs are to be written.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(spec: str | None, runs_dir: Path, as_json: bool) -> int:
    """Check this machine and the plugins; with SPEC also all that a run of it needs: plugins, documents, questions,
    proofs.

    Exits with the code of the first check that failed. Calls no system and no model.
    """
    findings = list(examine(runs_dir, spec))
    if as_json:
        say_json([{"name": f.name, "state": f.state.value, "detail": f.detail} for f in findings])
    else:
        for line in columns([[f.state.value, f.name, part] for f in findings for part in f.detail.split("\n")]):
            say(line)
    return next((finding.code for finding in findings if finding.state is State.FAILED), ExitCode.OK)


def examine(runs: Path, spec: str | None = None) -> Iterator[Finding]:
    """All checks, in order."""
    checks: list[tuple[str, Callable[[], Finding]]] = [
        ("python", _python),
        ("sqlite", _sqlite),
        ("disk", lambda: _disk(runs)),
        ("clock", _clock),
        ("encoding", _encoding),
    ]
    for name, check in checks:
        yield _guarded(name, check)
    yield from _plugins()
    if spec is not None:
        yield from _spec(spec)


def _guarded(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except AuditorError as error:
        return Finding(name, State.FAILED, str(error), error.exit_code)
    except Exception as error:  # noqa: BLE001 - a doctor reports what it meets
        return Finding(name, State.NOT_CHECKED, f"{type(error).__name__}: {error}")


def _python() -> Finding:
    detail = f"{platform.python_implementation()} {platform.python_version()}, rag-auditor {auditor.__version__}"
    if sys.version_info < _PYTHON:
        return Finding("python", State.FAILED, f"{detail}; Python 3.11 or later is needed", ExitCode.FAILED)
    return Finding("python", State.PASSED, detail)


def _sqlite() -> Finding:
    """STRICT tables, WAL and synchronous=FULL, tried and not only read off the version."""
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < _SQLITE:
        return Finding("sqlite", State.FAILED, f"{version}; 3.37 or later is needed", ExitCode.STORAGE)
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "trial.sqlite")
        try:
            mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            connection.execute("PRAGMA synchronous=FULL")
            full = connection.execute("PRAGMA synchronous").fetchone()[0]
            connection.execute("CREATE TABLE trial (number INTEGER) STRICT")
        finally:
            connection.close()
    if mode != "wal" or full != 2:
        detail = f"{version}, but journal mode {mode} and synchronous {full}"
        return Finding("sqlite", State.FAILED, detail, ExitCode.STORAGE)
    return Finding("sqlite", State.PASSED, f"{version}, WAL, STRICT, synchronous=FULL")


def _disk(runs: Path) -> Finding:
    """The folder that would hold the runs, or the nearest that exists above it, is written to with fsync."""
    folder = runs.absolute()
    while not folder.is_dir():
        if folder.exists():
            return Finding("disk", State.FAILED, f"{folder} is no folder", ExitCode.STORAGE)
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder) as handle:
            handle.write(b"trial")
            handle.flush()
            os.fsync(handle.fileno())
        free_bytes = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding("disk", State.FAILED, f"{folder}: {error.strerror or error}", ExitCode.STORAGE)
    detail = f"{folder}: writable, fsync works, {free_bytes / 1e9:.1f} GB free"
    return Finding("disk", State.PASSED if free_bytes >= _FREE_BYTES else State.WARNING, detail)


def _clock() -> Finding:
    now = datetime.now(UTC)
    if now.year < _EARLIEST_YEAR:
        return Finding("clock", State.FAILED, f"{now.isoformat()} is in the past; set the clock", ExitCode.FAILED)
    return Finding("clock", State.PASSED, now.isoformat(timespec="seconds"))


def _encoding() -> Finding:
    preferred = locale.getpreferredencoding(False)
    names = f"output {sys.stdout.encoding}, files {sys.getfilesystemencoding()}, locale {preferred}"
    try:
        "† μ 東京".encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return Finding("encoding", State.WARNING, f"{names}: some characters are shown as escapes")
    return Finding("encoding", State.PASSED, names)


def _plugins() -> Iterator[Finding]:
    from auditor.discovery import discover
    from auditor.plugins import PluginState

    records = discover().records
    broken = [record for record in records if record.state is not PluginState.LOADED]
    yield Finding("plugins", State.PASSED, f"{len(records) - len(broken)} of {len(records)} loaded")
    for record in broken:
        detail = f"{record.distribution} {record.version} {record.state}: {record.reason}"
        yield Finding(f"plugin {record.name}", State.FAILED, detail, ExitCode.PLUGIN)


def _spec(name: str) -> Iterator[Finding]:
    from auditor.cli.run import resolve_spec
    from auditor.spec import load_spec

    try:
        path = resolve_spec(name)
        loaded = load_spec(path)
    except AuditorError as error:
        yield Finding("spec", State.FAILED, str(error), error.exit_code)
        return
    spec = loaded.spec
    detail = f"{path}: {len(spec.systems)} systems, {len(spec.panel.judges)} judges, {spec.repeats} repeats"
    yield Finding("spec", State.PASSED, detail)
    if loaded.variables:
        yield Finding("variables", State.PASSED, ", ".join(loaded.variables))
    names = _guarded("names", lambda: _names(loaded))
    yield names
    if names.state is State.PASSED:
        settings = _guarded("settings", lambda: _settings(loaded))
    else:
        settings = Finding("settings", State.NOT_CHECKED, "not every name is installed")
    yield settings
    if settings.state is State.PASSED:
        yield _guarded("campaign", lambda: _campaign(loaded))
    else:
        yield Finding("campaign", State.NOT_CHECKED, "the spec is to be right first")


def _names(loaded: LoadedSpec) -> Finding:
    from auditor.discovery import discover
    from auditor.spec import check_names, installed_names

    check_names(loaded, installed_names(discover()))
    return Finding("names", State.PASSED, "every kind, source, judge, analysis and prompt is installed")


def _settings(loaded: LoadedSpec) -> Finding:
    from auditor.discovery import discover
    from auditor.spec import check_configs

    check_configs(loaded, discover())
    return Finding("settings", State.PASSED, "every plugin accepts its settings")


def _campaign(loaded: LoadedSpec) -> Finding:
    """What a run does before it asks, which is offline; so whatever would stop it there is told here."""
    from auditor.discovery import discover
    from auditor.freeze import freeze

    campaign = freeze(loaded, discover())
    documents = sum(len(corpus.documents) for corpus in campaign.corpora)
    canaries = sum(question.is_canary for question in campaign.questions)
    counts = f"{documents} documents, {len(campaign.questions)} questions ({canaries} of them canaries)"
    return Finding("campaign", State.PASSED, f"{counts}, {len(campaign.cells)} trials")
