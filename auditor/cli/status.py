"""``auditor status``: how far a run is."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.cli.grid import grid
from auditor.cli.output import say, say_json, width
from auditor.cli.runs import RUNS_OPTION, RunName, resolve_run
from auditor.cli.text import visible
from auditor.errors import ExitCode
from auditor.model import TransportOutcome

if TYPE_CHECKING:
    from auditor.analysis import AnalysisView, TrialRow

__all__ = ["RunStatus", "SystemStatus", "status", "status_of"]

_STANCE = "stance"


@dataclass(frozen=True, slots=True)
class SystemStatus:
    """One system × condition. ``asked``: trials with an outcome, of any kind. ``states``: trials by state.

    ``title`` is the name with its marks. ``role_conflicts``: labellers that share a model or family with it.
    """

    name: str
    title: str
    simulated: str
    role_conflicts: tuple[str, ...]
    asked: int
    total: int
    states: dict[str, int]


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run as its ledger stands."""

    run: str
    sealed: bool
    complete: bool
    entries: int
    systems: tuple[SystemStatus, ...]


@click.command()
@click.argument("run", type=RunName(), required=False)
@RUNS_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(run: str | None, runs_dir: Path, as_json: bool) -> int:
    """Say how far RUN is (by default the newest): trials asked, and their states by system.

    Exits with 5 while trials are not asked, with 11 when all are but the ledger is not sealed.
    """
    found = status_of(resolve_run(run, runs_dir))
    if as_json:
        say_json(asdict(found))
    else:
        _show(found)
    if not found.complete:
        return ExitCode.INCOMPLETE
    return ExitCode.OK if found.sealed else ExitCode.NOT_SEALED


def status_of(path: Path) -> RunStatus:
    """The status of the run at ``path``, read without changing anything."""
    from auditor.archive import Run
    from auditor.ledger import Reader
    from auditor.measure import is_complete

    run = Run(path)
    view = run.view
    with Reader(run.folder.ledger) as reader:
        sealed, entries = reader.is_sealed, reader.count
    systems = []
    for system in view.systems:
        trials = [trial for trial in view.trials if trial.system == system.ordinal]
        asked = sum(trial.outcome is not None for trial in trials)
        states = Counter(_state(trial, view) for trial in trials)
        systems.append(
            SystemStatus(
                name=system.name,
                title=system.title,
                simulated=system.traits.simulated,
                role_conflicts=system.role_conflicts,
                asked=asked,
                total=len(trials),
                states=dict(sorted(states.items())),
            )
        )
    return RunStatus(run.folder.name, sealed, is_complete(view), entries, tuple(systems))


def _state(trial: TrialRow, view: AnalysisView) -> str:
    """The trial's state; a text that nobody has labelled so far is not unsure, it is not labelled."""
    from auditor.record import BLANK

    labelled = trial.labels.get(_STANCE) in view.labels.get(_STANCE, {}) or BLANK in trial.flags
    return trial.state.value if labelled or trial.outcome is not TransportOutcome.TEXT else "not_labelled"


def _show(found: RunStatus) -> None:
    seal = "sealed" if found.sealed else "not sealed"
    whole = "complete" if found.complete else "not complete; auditor run SPEC goes on"
    say(f"{visible(found.run)}: {whole}; {found.entries} entries, {seal}")
    say()
    rows = [
        [
            visible(system.title),
            f"{system.asked}/{system.total}",
            ", ".join(f"{state.replace('_', ' ')} {count}" for state, count in system.states.items()),
        ]
        for system in found.systems
    ]
    for line in grid(["system", "asked", "states"], rows, width(), numeric=[False, True, False]):
        say(line)
