"""``auditor init``: a commented audit.yaml to start from."""

from __future__ import annotations

import os
import re
import secrets
from importlib import resources
from pathlib import Path

import click

from auditor.cli.output import say
from auditor.cli.text import visible
from auditor.errors import SpecError, StorageError

__all__ = ["init", "template"]

_FILE_NAME = "audit.yaml"
_SUFFIXES = (".yaml", ".yml")


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=Path())
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
def init(path: Path, force: bool) -> None:
    """Write a commented audit.yaml to PATH, a folder or a file (by default the current folder).

    Nothing is asked and nothing is run. The seed is drawn at random once and then part of the spec.
    """
    target = path if path.suffix in _SUFFIXES else path / _FILE_NAME
    text = template(name=_name_for(target), seed=secrets.randbelow(10**8))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target, text, force=force)
    except FileExistsError as error:
        raise SpecError("is there already; --force overwrites it", file=visible(str(target))) from error
    except OSError as error:
        raise StorageError(f"{visible(str(target))}: {error.strerror or error}") from error
    say(f"Wrote {visible(str(target))}. Put documents/ and questions.jsonl beside it, then:")
    say(f"  auditor prove {visible(str(target))}   # when there are canaries")
    say(f"  auditor doctor {visible(str(target))}")
    say(f"  auditor run {visible(str(target))}")


def template(*, name: str, seed: int) -> str:
    """The text of a new spec."""
    text = resources.files("auditor.spec").joinpath("template.yaml").read_text(encoding="utf-8")
    return text.replace("@NAME@", name).replace("@SEED@", str(seed))


def _name_for(target: Path) -> str:
    """A name for the audit from the folder's; a folder called otherwise than names may be gets a plain one."""
    folder = re.sub(r"[^a-z0-9]+", "-", target.absolute().parent.name.lower()).strip("-")
    return folder[:41].rstrip("-") or "my-audit"


def _write(target: Path, text: str, *, force: bool) -> None:
    """Never half a file in the place of a whole one."""
    if not force:
        with target.open("x", encoding="utf-8", newline="\n") as handle:
            handle.write(text)
        return
    if target.is_dir():
        raise IsADirectoryError(21, "is a folder")
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
