"""``auditor run``: begin an audit, or go on with one."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditor.cli.output import say, say_json
from auditor.cli.runs import RUNS_OPTION, RunName, resolve_run
from auditor.errors import ExitCode, SpecError
from auditor.suggestion import did_you_mean

if TYPE_CHECKING:
    from auditor.findings import Findings

__all__ = ["resolve_spec", "run"]


@click.command()
@click.argument("spec")
@click.option("--new", is_flag=True, help="Ask everything again, in a run of its own.")
@click.option("--retry", is_flag=True, help="Ask again what failed for technical reasons, in the run that is there.")
@click.option(
    "--from",
    "parent",
    type=RunName(),
    metavar="RUN",
    help="Take over from RUN what is unchanged, and ask only the rest.",
)
@click.option("--accept-version", is_flag=True, help="Go on although installed versions have changed; it is recorded.")
@click.option("--yes", is_flag=True, help="Do not ask before calls that cost money or leave this machine.")
@RUNS_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def run(
    spec: str,
    new: bool,
    retry: bool,
    parent: str | None,
    accept_version: bool,
    yes: bool,
    runs_dir: Path,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run the audit that SPEC describes: the path of an audit.yaml, or the name of a spec that is shipped (demo).

    A run that was stopped, by whatever, is gone on with; a finished one is shown and nothing is asked.
    """
    from auditor.cli.progress import observer_for

    if new and retry:
        raise click.UsageError("--new asks everything again, --retry only what failed: choose one")
    campaign: Any = import_module("auditor.campaign")
    options = campaign.RunOptions(
        spec=resolve_spec(spec),
        runs=runs_dir,
        new=new,
        retry=retry,
        parent=None if parent is None else resolve_run(parent, runs_dir),
        accept_version=accept_version,
        yes=yes,
    )
    with observer_for(quiet=quiet) as observer:
        result = campaign.run_campaign(options, observer)
    _show(result, as_json=as_json)
    return ExitCode.OK if result.complete else ExitCode.INCOMPLETE


def resolve_spec(spec: str) -> Path:
    """The file that ``spec`` names: a path, else a bundled spec."""
    from auditor.discovery import discover

    path = Path(spec)
    if path.is_file():
        return path
    names = [offered.name for offered in discover().bundled_specs()]
    if spec in names:
        return discover().bundled_spec(spec)
    if path.is_dir():
        inside = path / "audit.yaml"
        raise SpecError(f"is a folder; did you mean {str(inside)!r}?" if inside.is_file() else "is a folder", file=spec)
    shipped = f" (shipped: {', '.join(names)})" if names else ""
    hint = f"{did_you_mean(spec, names)}{shipped}"
    raise SpecError(f"there is no such file, nor a shipped spec of that name{hint}", file=spec)


def _show(result: Any, *, as_json: bool) -> None:
    from auditor.cli.show import show_findings
    from auditor.findings_json import to_json

    findings: Findings = result.findings
    if as_json:
        say_json({"run": str(result.folder), "complete": result.complete, "findings": to_json(findings)})
        return
    show_findings(findings)
    say()
    say(f"{result.folder}: {'complete' if result.complete else 'not complete'}")
