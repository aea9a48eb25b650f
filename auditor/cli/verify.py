"""``auditor verify``: is a run, a ledger, an export or a signed report whole, and do its numbers recompute?"""

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
    from auditor.signing.check import SignedReport

__all__ = ["verify"]

_VERDICTS = {
    ExitCode.OK: "whole, not vouched for: nothing is signed, and whoever can write the ledger could rebuild it",
    ExitCode.TAMPERED: "NOT WHOLE",
    ExitCode.NOT_SEALED: "whole as far as it goes, but not sealed: a cut tail would not show",
    ExitCode.NOT_VOUCHED: "whole, not vouched for",
    ExitCode.NOT_CHECKED: "could not be checked",
}
_REPORT_VERDICTS = {
    ExitCode.OK: "as it was signed, by the one asked for",
    ExitCode.TAMPERED: "NOT AS IT WAS SIGNED",
    ExitCode.NOT_VOUCHED: "as it was signed, but nothing here says by whom",
    ExitCode.NOT_CHECKED: "something that was asked for could not be checked",
}


@click.command()
@click.argument("run", type=RunName(), required=False)
@click.option("--ledger", metavar="RUN", help="The run or ledger that a signed report has to follow from.")
@click.option("--signer", metavar="FINGERPRINT|CERT", help="Who has to have signed a report, or stand above who did.")
@click.option(
    "--with-analysis",
    "trusted",
    multiple=True,
    metavar="NAME",
    help="Load a third party's analysis or label kind to recompute its section; may be repeated.",
)
@RUNS_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(
    run: str | None, ledger: str | None, signer: str | None, trusted: tuple[str, ...], runs_dir: Path, as_json: bool
) -> int:
    """Check RUN: a run folder, a ledger file or its JSONL export, by default the newest run; or a signed report (PDF).

    Prints a line a check: passed, failed, or not checked and why. What it is given is opened as hostile: read only, no
    plugin loaded, no connection made.
    """
    try:
        path = resolve_run(run, runs_dir)
        rests_on = None if ledger is None else resolve_run(ledger, runs_dir)
    except ConfigurationError as error:
        raise NotChecked(str(error)) from error
    outcome: VerifyReport | SignedReport
    if _is_report(path):
        outcome, verdicts = _verified_report(path, rests_on, signer, trusted), _REPORT_VERDICTS
    elif ledger is not None or signer is not None:
        raise click.UsageError("--ledger and --signer are for signed reports, and this is none")
    else:
        outcome, verdicts = _verified(path, trusted), _VERDICTS
    if as_json:
        say_json({"path": str(path), "exit_code": int(outcome.exit_code), "checks": _as_json(outcome.checks)})
    else:
        for line in columns([[check.state.value, check.name, check.detail or "-"] for check in outcome.checks]):
            say(line)
        say(f"{verdicts.get(outcome.exit_code, 'failed')}{_open_end(outcome)} (exit code {int(outcome.exit_code)})")
    return int(outcome.exit_code)


def _open_end(outcome: VerifyReport | SignedReport) -> str:
    left = any(check.name == "findings" and check.state.value == "not checked" for check in outcome.checks)
    return "; its numbers were not recomputed" if left and outcome.exit_code is not ExitCode.TAMPERED else ""


def _is_report(path: Path) -> bool:
    """By its name too: a report whose first bytes were changed is still one, and does not verify."""
    if path.is_dir():
        return False
    if path.suffix.lower() == ".pdf":
        return True
    from auditor.ledger.database import file_head

    return file_head(path).startswith(b"%PDF-")


def _verified_report(path: Path, ledger: Path | None, signer: str | None, trusted: tuple[str, ...]) -> SignedReport:
    from auditor.signing.certificate import read_wanted
    from auditor.signing.check import check_report

    wanted = None if signer is None else read_wanted(signer)
    return check_report(path, ledger=ledger, wanted=wanted, trusted=trusted)


def _verified(path: Path, trusted: tuple[str, ...]) -> VerifyReport:
    if path.is_dir():
        from auditor.archive import verify_run

        return verify_run(path, trusted=trusted)
    from auditor.ledger import verify as verify_ledger

    return verify_ledger(path)


def _as_json(checks: Sequence[Check]) -> list[dict[str, Any]]:
    return [{"name": c.name, "state": c.state.value, "detail": c.detail, "sequence": c.sequence} for c in checks]
