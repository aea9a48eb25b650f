"""Run folders as the command line names them: a path, a name under the runs folder, or the newest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from auditor.errors import ConfigurationError
from auditor.suggestion import did_you_mean

__all__ = ["RUNS_OPTION", "RunName", "resolve_run", "run_names"]

_LEDGER = "ledger.sqlite"

RUNS_OPTION = click.option(
    "--runs-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Folder that holds the run folders.",
)


class RunName(click.ParamType[str]):
    """The name or path of a run, completed from the runs folder."""

    name = "run"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        runs = Path(ctx.params.get("runs_dir") or "runs")
        names = [CompletionItem(name) for name in run_names(runs) if name.startswith(incomplete)]
        return names or [CompletionItem(incomplete, type="file")]


def run_names(runs: Path) -> list[str]:
    """Names of the run folders, newest first."""
    try:
        folders = [path for path in runs.iterdir() if (path / _LEDGER).is_file()]
        folders.sort(key=lambda path: (path / _LEDGER).stat().st_mtime_ns, reverse=True)
    except OSError:
        return []
    return [path.name for path in folders]


def resolve_run(name: str | None, runs: Path) -> Path:
    """The folder or file that ``name`` means; without a name the newest run.

    Raises ``ConfigurationError`` when there is none.
    """
    names: Sequence[str] = run_names(runs)
    if name is None:
        if not names:
            raise ConfigurationError(f"there is no run in {runs}; name one, or --runs-dir")
        return runs / names[0]
    for path in (Path(name), runs / name):
        if path.exists():
            return path
    raise ConfigurationError(f"there is no run {name!r}, neither here nor in {runs}{did_you_mean(name, names)}")
