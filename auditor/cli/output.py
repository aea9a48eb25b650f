"""Standard output: plain lines, and JSON for scripts."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click

from auditor.cli.text import visible

__all__ = ["columns", "is_terminal", "say", "say_json", "width"]

_PLAIN_WIDTH = 120


def say(line: str = "") -> None:
    """One line on standard output, as it is: what comes from data went through ``visible`` before."""
    click.echo(line)


def say_json(value: Any) -> None:
    """``value`` as indented JSON: ASCII only, so that it survives any terminal and any pipe."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True, default=str))


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def width() -> int:
    """Columns to write in: the terminal's, or ``COLUMNS``, or 120."""
    return max(20, shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns)


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """``rows`` as aligned lines, each cell made harmless; the last column is not padded."""
    cells = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[index]) for row in cells) for index in range(len(cells[0]) - 1)] if cells else []
    return ["  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]).rstrip() for row in cells]
