"""``auditor run``: begin an audit, or go on with one."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.cli.interrupt import on_interrupt
from auditor.cli.output import say, say_json
from auditor.cli.runs import RUNS_OPTION, RunName, resolve_run
from auditor.cli.text import visible
from auditor.errors import ExitCode, SpecError
from auditor.suggestion import did_you_mean

if TYPE_CHECKING:
    from auditor.campaign.run import RunResult
    from auditor.engine import Engine
    from auditor.ledger import Ledger

__all__ = ["resolve_spec", "run"]

_SHUTDOWN_S = 0.5


@click.command()
@click.argument("spec")
@click.option("--new", is_flag=True, help="Ask everything again, in a run of its own.")
@click.option("--retry", is_flag=True, help="Ask again what failed for technical reasons, in the run that is there.")
@click.option("--from", "parent", type=RunName(), metavar="RUN", help="Take over what RUN has unchanged; ask the rest.")
@click.option("--accept-version", is_flag=True, help="Go on although installed versions have changed; it is recorded.")
@click.option("--yes", is_flag=True, help="Ask nothing before starting; for scripts.")
@RUNS_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
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
    if new and retry:
        raise click.UsageError("--new asks everything again, --retry only what failed: choose one")
    path = resolve_spec(spec)
    source = None if parent is None else resolve_run(parent, runs_dir)
    from auditor.campaign.run import RunOptions, run_campaign
    from auditor.cli.progress import observer_for
    from auditor.discovery import discover
    from auditor.event import Event

    options = RunOptions(path, runs=runs_dir, new=new, retry=retry, parent=source, accept_version=accept_version)
    # A plugin's print goes to standard error: what stands on standard output is the result alone.
    with observer_for(quiet=quiet) as shown, redirect_stdout(sys.stderr):

        def observe(event: Event) -> None:
            shown(event)
            discover().notify(event)

        result = run_campaign(options, observe, on_engine=_close_on_interrupt)
    return _show(result, as_json=as_json)


def resolve_spec(spec: str) -> Path:
    """The file that ``spec`` names: a path, else a bundled spec."""
    path = Path(spec)
    if path.is_file():
        return path
    if path.is_dir():
        inside = path / "audit.yaml"
        raise SpecError(f"is a folder; did you mean {str(inside)!r}?" if inside.is_file() else "is a folder", file=spec)
    from auditor.discovery import discover

    names = [offered.name for offered in discover().bundled_specs()]
    if spec in names:
        return discover().bundled_spec(spec)
    hint = did_you_mean(spec, names) or (f" (shipped: {', '.join(names)})" if names else "")
    raise SpecError(f"there is no such file, nor a shipped spec of that name{hint}", file=spec)


def _close_on_interrupt(engine: Engine, ledger: Ledger) -> None:
    """On Ctrl-C: no new call, then what is recorded goes to the disk."""
    on_interrupt(ledger.close)
    on_interrupt(lambda: engine.shutdown(_SHUTDOWN_S))


def _show(result: RunResult, *, as_json: bool) -> int:
    from auditor.campaign.run import RunState
    from auditor.cli.show import show_findings
    from auditor.findings_json import to_json

    complete = bool(result.findings.operations.get("complete"))
    if as_json:
        document = to_json(result.findings)
        say_json({"run": str(result.folder), "state": result.state.value, "complete": complete, "findings": document})
    else:
        show_findings(result.findings, whole=False)
        say()
        ended = visible(result.ended)
        already = f", asked until {ended}; nothing was asked now (--new asks anew)"
        how = already if result.state is RunState.ALREADY else f", ended {ended}"
        say(f"auditor report {visible(result.folder.name)} shows every table.")
        say(f"{visible(str(result.folder))}: {'complete' if complete else 'NOT COMPLETE'}{how}")
    return ExitCode.OK if complete else ExitCode.INCOMPLETE
