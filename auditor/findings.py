"""Findings: the one document that every number of a report comes from.

``measurement`` depends on nothing but what was answered and is the same after a kill and a resume; ``operations`` holds
latency, cost, retries and digests. Sections are made of generic blocks, so that a writer can show one it has never met.
Invariant: every float in ``measurement`` went through ``rounded``; None always stands beside a reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

__all__ = [
    "SCHEMA_VERSION",
    "Block",
    "Cell",
    "Column",
    "Estimate",
    "Figure",
    "Findings",
    "Note",
    "NoteKind",
    "Section",
    "Series",
    "Table",
    "Unit",
    "rounded",
]

SCHEMA_VERSION = 1


def rounded(value: float, digits: int = 6) -> float:
    """``value`` to ``digits`` significant digits: what differs between kernels and libraries does not reach the
    document.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number that a finding may hold")
    return float(f"{value:.{digits}g}") + 0.0


class Unit(StrEnum):
    """How a value is shown."""

    RATE = "rate"  # 0 … 1, shown as a percentage
    POINTS = "points"  # score points an answer
    COUNT = "count"
    MILLISECONDS = "ms"
    USD = "usd"
    NUMBER = "number"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number with all that makes it a claim.

    ``value`` None means *unknown* or *not applicable*, and ``reason`` says which and why. ``low`` and ``high`` are None
    where no interval exists, and then ``reason`` says so. ``n`` counts the scored trials, of a paired estimate the
    questions, of agreement the inputs. ``estimand`` says what the interval is about (a superpopulation of questions, or
    these questions over reruns). ``source`` selects the trials it came from in ``measurement["trials"]`` by fields that
    a trial has, e.g. ``{"system": 0, "stratum": "benchmark"}``; ``other`` is the second system of a pair, ``beside`` a
    second stratum that is selected whatever the kind.
    """

    name: str
    value: float | None
    unit: Unit
    n: int
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    estimand: str = ""
    method: str = ""
    reason: str = ""
    source: Mapping[str, int | str] = field(default_factory=dict)


Cell: TypeAlias = "str | int | float | None | Estimate"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    title: str
    unit: Unit = Unit.TEXT


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells. A cell that is None is unknown."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Series:
    """One line or set of points of a figure; ``low`` and ``high`` are empty where there are no intervals."""

    name: str
    x: tuple[float | str, ...]
    y: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as data; a writer draws it, and shows the data as a table beside it."""

    name: str
    title: str
    kind: str  # "line", "points" or "bars"
    x_title: str
    y_title: str
    series: tuple[Series, ...]


class NoteKind(StrEnum):
    """How loud a note is."""

    RESULT = "result"  # a sentence that is itself a finding
    METHOD = "method"
    WARNING = "warning"
    DISCLOSURE = "disclosure"


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence that belongs to the numbers."""

    kind: NoteKind
    text: str


Block: TypeAlias = "Estimate | Table | Figure | Note"


@dataclass(frozen=True, slots=True)
class Section:
    """What one analysis found. ``version`` is the analysis's own; a change of its numbers changes it."""

    name: str
    title: str
    version: int
    blocks: tuple[Block, ...]

    def table(self, name: str) -> Table:
        """The table called ``name``; ``KeyError`` when there is none."""
        for block in self.blocks:
            if isinstance(block, Table) and block.name == name:
                return block
        raise KeyError(name)

    def estimate(self, name: str) -> Estimate:
        """The estimate called ``name``; ``KeyError`` when there is none."""
        for block in self.blocks:
            if isinstance(block, Estimate) and block.name == name:
                return block
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Findings:
    """The whole document. ``trials``: one row a cell of the schedule; ``sections`` by analysis or label kind."""

    schema_version: int
    trials: tuple[Mapping[str, str | int | float | bool | None | list[str]], ...]
    sections: tuple[Section, ...]
    operations: Mapping[str, object]
