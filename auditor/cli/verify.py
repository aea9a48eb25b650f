"""``auditor verify``: is a run, a ledger or an export whole, and do its numbers recompute?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditor.cli.output import columns, say, say_json
from auditor.cli.runs import RUNS_OPTION, RunName, resolve_run
from auditor.errors import ConfigurationError, ExitCode, NotChecked

if TYPE_CHECKING:
    from auditor.ledger import Check, VerifyReport

__all__ = ["verify"]

_VERDICTS = {
    ExitCode.OK: "whole, not vouched for: nothing is signed, and whoever can write the ledger could rebuild it",
    ExitCode.TAMPERED: "NOT WHOLE",
    ExitCode.NOT_SEALED: "whole as far as it goes, but not sealed: a cut tail would not show",
    ExitCode.NOT_VOUCHED: "whole, not vouched for",
    ExitCode.NOT_CHECKED: "could not be checked",
}


@click.command()
@click.argument("run", type=RunName(), required=False)
@click.option(
    "--with-analysis",
    "trusted",
    multiple=True,
    metavar="NAME",
    help="Load a third party's analysis or label kind to recompute its section; may be repeated.",
)
@RUNS_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(run: str | None, trusted: tuple[str, ...], runs_dir: Path, as_json: bool) -> int:
    """Check RUN: a run folder, a ledger file or its JSONL export; by default the newest run.

    Prints a line a check: passed, failed, or not checked and why. What it is given is opened as hostile: read only, no
    plugin loaded, no connection made.
    """
    try:
        path = resolve_run(run, runs_dir)
    except ConfigurationError as error:
        raise NotChecked(str(error)) from error
    outcome = _verified(path, trusted)
    if as_json:
        say_json({"path": str(path), "exit_code": int(outcome.exit_code), "checks": _as_json(outcome.checks)})
    else:
        for line in columns([[check.state.value, check.name, check.detail or "-"] for check in outcome.checks]):
            say(line)
        say(f"{_VERDICTS.get(outcome.exit_code, 'failed')} (exit code {int(outcome.exit_code)})")
    return int(outcome.exit_code)


def _verified(path: Path, trusted: tuple[str, ...]) -> VerifyReport:
    if path.is_dir():
        from auditor.archive import verify_run

        return verify_run(path, trusted=trusted)
    from auditor.ledger import verify as verify_ledger

    return verify_ledger(path)


def _as_json(checks: Sequence[Check]) -> list[dict[str, Any]]:
    return [{"name": c.name, "state": c.state.value, "detail": c.detail, "sequence": c.sequence} for c in checks]
