"""``auditor report``: the findings of a run, shown or written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.cli.output import say
from auditor.cli.runs import RUNS_OPTION, RunName, resolve_run
from auditor.cli.text import visible
from auditor.errors import PluginError, StorageError

if TYPE_CHECKING:
    from auditor.archive import Run

__all__ = ["report"]


@click.command()
@click.argument("run", type=RunName(), required=False)
@click.option("--format", "formats", multiple=True, metavar="NAME", help="Write this format; may be repeated.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write into; by default report/ in the run folder.",
)
@click.option(
    "--public",
    is_flag=True,
    help="Keep texts, evidence, document names and question wording out; the default for a private corpus.",
)
@RUNS_OPTION
def report(run: str | None, formats: tuple[str, ...], out: Path | None, public: bool, runs_dir: Path) -> None:
    """Show the findings of RUN (by default the newest), or write them as files.

    Without --format and --out the tables are shown here; --out alone writes the format "tables" (CSV and JSONL).
    """
    import auditor

    path = resolve_run(run, runs_dir)
    opened = auditor.open(path)
    if not formats and out is None:
        from auditor.cli.show import show_findings

        show_findings(opened.findings)
        return
    folder = out or (path if path.is_dir() else path.parent) / "report"
    shared = public or bool(opened.skeleton.body.get("private"))
    written, failed = _write(opened, formats or ("tables",), folder, public=shared)
    for path in written:
        say(visible(str(path)))
    if failed:
        raise PluginError(f"not written: {'; '.join(failed)}")


def _write(run: Run, formats: tuple[str, ...], folder: Path, *, public: bool) -> tuple[list[Path], list[str]]:
    from auditor.discovery import discover

    writers = [discover().report_writer(name)() for name in dict.fromkeys(formats)]
    data = run.report_data(public=public)
    written: list[Path] = []
    failed: list[str] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for writer in writers:
            try:
                written += writer.write(data, folder)
            except OSError:
                raise
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything; the other formats are written
                failed.append(f"{type(writer).__name__}: {type(error).__name__}: {error}")
    except OSError as error:
        raise StorageError(f"{folder}: {error.strerror or error}") from error
    return written, failed
