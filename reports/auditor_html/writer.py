"""The writer ``html``: ``report.html``, and beside it a folder of what is too long for the page.

Invariant: the page asks nobody for anything; it loads no file but one picture that tells whether the folder is there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.errors import StorageError
from auditor.writer import ReportData, ReportWriter
from auditor_html.page import build_page, system_titles
from auditor_html.payload import content_hash, pack
from auditor_html.trials import LongText, read_trials

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["HtmlWriter"]

_FILE, _FOLDER = "report.html", "report_files"
_OURS = re.compile(r"q-?[a-z0-9-]*\.html|present-[0-9a-f]{12}\.svg")
_PRESENT = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>\n'


class HtmlWriter(ReportWriter):
    """See the module."""

    def write(self, data: ReportData, folder: Path) -> Sequence[Path]:
        """Write into ``folder``. Raises ``StorageError`` when it cannot."""
        trials = read_trials(data, system_titles(data))
        index, texts = pack(trials.index), pack(trials.texts)
        name = hashlib.sha256(f"{index}|{texts}".encode()).hexdigest()[:12]
        environment = _environment()
        beside = f"{_FOLDER}/present-{name}.svg" if trials.files else ""
        page = _render(environment, "report.html.j2", page=build_page(data), index=index, texts=texts, beside=beside)
        try:
            _remove_old(folder / _FOLDER)
            (folder / _FILE).write_text(page, encoding="utf-8", newline="\n")
            return [folder / _FILE, *_write_beside(environment, trials.files, folder, beside)]
        except OSError as error:
            raise StorageError(f"cannot write the report into {folder}: {error.strerror or error}") from error


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("auditor_html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _render(environment: Environment, template: str, **values: object) -> str:
    """A template with the package's own style and script, which its security policy names by their hashes."""
    from markupsafe import Markup

    own = {name: files("auditor_html").joinpath("templates", f"report.{name}").read_text("utf-8") for name in _INLINE}
    inline = {name: Markup(source) for name, source in own.items()}  # noqa: S704 - files of this package
    hashes = {f"{name}_hash": content_hash(source) for name, source in own.items()}
    return environment.get_template(template).render(**inline, **hashes, **values)


_INLINE = ("css", "js")


def _remove_old(folder: Path) -> None:
    """Files that an earlier report left: a public report must not lie beside texts."""
    if folder.is_dir():
        for path in folder.iterdir():
            if _OURS.fullmatch(path.name) and path.is_file():
                path.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()


def _write_beside(
    environment: Environment, kept: Mapping[str, Sequence[LongText]], folder: Path, beside: str
) -> list[Path]:
    if not beside:
        return []
    (folder / _FOLDER).mkdir(parents=True, exist_ok=True)
    written = [folder / beside]
    written[0].write_text(_PRESENT, encoding="utf-8")
    for name, texts in kept.items():
        path = folder / _FOLDER / name
        path.write_text(_render(environment, "texts.html.j2", name=name, texts=texts), encoding="utf-8", newline="\n")
        written.append(path)
    return written
