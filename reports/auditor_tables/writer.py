"""The writer ``tables``: a folder of CSV and JSON Lines, two files a table, and a table of contents.

Invariant: file names are plain ASCII, distinct also where case does not count, and depend on the findings alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from auditor.errors import StorageError
from auditor.writer import ReportData, ReportWriter
from auditor_tables.lines import json_lines
from auditor_tables.sheet import Sheet, sheets
from auditor_tables.spreadsheet import csv_bytes

__all__ = ["TablesWriter"]

_FOLDER = "tables"
_UNSAFE = re.compile(r"[^a-z0-9_-]+")
_MAX_PART_CHARACTERS = 60
_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})


class TablesWriter(ReportWriter):
    """See the module."""

    def write(self, data: ReportData, folder: Path) -> Sequence[Path]:
        """Write into ``folder/tables``. Raises ``StorageError`` when it cannot."""
        made = sheets(data)
        named = dict(_named(made))
        contents = Sheet(
            "",
            "contents",
            "Contents",
            ("file", "section", "table", "title", "rows"),
            tuple((name, sheet.group, sheet.name, sheet.title, len(sheet.rows)) for name, sheet in named.items()),
        )
        written = []
        try:
            (folder / _FOLDER).mkdir(parents=True, exist_ok=True)
            for name, sheet in {"contents": contents, **named}.items():
                for ending, content in ((".csv", csv_bytes(sheet)), (".jsonl", json_lines(sheet))):
                    path = folder / _FOLDER / f"{name}{ending}"
                    path.write_bytes(content)
                    written.append(path)
        except OSError as error:
            raise StorageError(f"cannot write the tables into {folder}: {error.strerror}") from error
        return written


def _named(made: Sequence[Sheet]) -> Iterator[tuple[str, Sheet]]:
    """Each sheet under a name of its own: its section's and its own, and a number where that is taken."""
    taken = {"contents"}
    for sheet in made:
        name = ".".join(_part(part) for part in (sheet.group, sheet.name) if part)
        free = next(one for one in _candidates(name) if one not in taken)
        taken.add(free)
        yield free, sheet


def _candidates(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def _part(text: str) -> str:
    plain = _UNSAFE.sub("-", text.casefold()).strip("-")[:_MAX_PART_CHARACTERS]
    return f"{plain}-table" if plain in _RESERVED else plain or "table"
