"""``auditor report``: the findings of a run, shown or written."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.cli.output import say
from auditor.cli.runs import RUNS_OPTION, RunName, resolve_run
from auditor.cli.text import visible
from auditor.errors import ConfigurationError, PluginError, StorageError

if TYPE_CHECKING:
    from auditor.archive import Run
    from auditor.signing.keys import SigningKey
    from auditor.writer import ReportData

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
@click.option("--sign", is_flag=True, help="Sign the PDF, with the files attached that it can be recomputed from.")
@click.option("--key", metavar="NAME", help='Sign with this key (auditor keys show); by default "default".')
@click.option(
    "--throwaway-key",
    "throwaway",
    is_flag=True,
    help="Sign with a key made in memory for this one report, which says so: it shows no change, and no signer.",
)
@click.option(
    "--timestamp",
    "authority",
    metavar="URL",
    envvar="AUDITOR_TIMESTAMP_URL",
    help="Have a timestamp authority (RFC 3161) stamp the signature; also $AUDITOR_TIMESTAMP_URL.",
)
@RUNS_OPTION
def report(
    run: str | None,
    formats: tuple[str, ...],
    out: Path | None,
    public: bool,
    sign: bool,
    key: str | None,
    throwaway: bool,
    authority: str | None,
    runs_dir: Path,
) -> None:
    """Show the findings of RUN (by default the newest), or write them as files.

    Without --format and --out the tables are shown here; --out alone writes the format "tables" (CSV and JSONL).
    --sign, --key or --throwaway-key write the format "pdf" and sign it.
    """
    import auditor

    path = resolve_run(run, runs_dir)
    opened = auditor.open(path)
    signs = sign or key is not None or throwaway
    if key is not None and throwaway:
        raise click.UsageError("--key and --throwaway-key exclude each other")
    if signs:
        formats = tuple(dict.fromkeys((*formats, "pdf")))
    if not formats and out is None:
        from auditor.cli.show import show_findings

        show_findings(opened.findings)
        return
    folder = out or (path if path.is_dir() else path.parent) / "report"
    shared = public or bool(opened.skeleton.body.get("private"))
    signing_key = _signing_key(opened, key, throwaway=throwaway) if signs else None
    written, failed = _write(opened, formats or ("tables",), folder, public=shared, throwaway=throwaway)
    if signing_key is not None:
        _sign(opened, [file for file in written if file.suffix == ".pdf"], signing_key, authority)
    for file in written:
        say(visible(str(file)))
    if failed:
        raise PluginError(f"not written: {'; '.join(failed)}")


def _signing_key(run: Run, name: str | None, *, throwaway: bool) -> SigningKey:
    """The key, open; asked for before anything is written, as is whether the run may be signed at all."""
    from auditor.cli.keys import key_passphrase, key_store
    from auditor.signing.keys import DEFAULT_NAME, throwaway_key
    from auditor.signing.report import require_signable

    require_signable(run)
    return throwaway_key(datetime.now(UTC)) if throwaway else key_store().open(name or DEFAULT_NAME, key_passphrase)


def _sign(run: Run, files: list[Path], key: SigningKey, authority: str | None) -> None:
    from auditor.signing.report import sign_report
    from auditor.signing.timestamp import http_authority

    stamp = http_authority(authority, os.urandom) if authority else None
    if not files:
        raise ConfigurationError("no PDF was written, so there is nothing to sign")
    for file in files:
        sign_report(run, file, key, datetime.now(UTC), stamp)


def _noted(data: ReportData) -> ReportData:
    """A report that is signed with a throwaway key says so on its first page, in whatever format."""
    from auditor.findings import Note, NoteKind
    from auditor.signing.sign import THROWAWAY_REASON

    if data.first_page is None:
        return data
    note = Note(NoteKind.WARNING, f"{THROWAWAY_REASON}.")
    return replace(data, first_page=replace(data.first_page, blocks=(*data.first_page.blocks, note)))


def _write(
    run: Run, formats: tuple[str, ...], folder: Path, *, public: bool, throwaway: bool
) -> tuple[list[Path], list[str]]:
    from auditor.discovery import discover

    writers = [discover().report_writer(name)() for name in dict.fromkeys(formats)]
    data = run.report_data(public=public)
    data = _noted(data) if throwaway else data
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
