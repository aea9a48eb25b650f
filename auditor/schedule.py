"""The schedule: which cells are asked, and in which order (METHODS §2, Protocol).

Invariant: the order is a function of the seed and of ordinals alone, so that every machine asks in the same order and a
resumed run goes on where it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Cell", "Pair", "ordered", "parse_key"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A system under a condition, by ordinals of the protocol's lists, with the condition's name."""

    system: int
    condition: int
    condition_name: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One trial to be asked, by ordinals of the protocol's lists; ``repeat`` counts from 0."""

    pair: int
    variant: int
    question: int
    form: int
    repeat: int

    @property
    def key(self) -> str:
        """The key of the trial's task in the ledger."""
        return f"ask/{self.pair}.{self.variant}.{self.question}.{self.form}.{self.repeat}"


def parse_key(key: str) -> Cell:
    """The cell that ``Cell.key`` made ``key`` from."""
    return Cell(*(int(part) for part in key.removeprefix("ask/").split(".")))


def ordered(cells: Iterable[Cell], seed: int) -> tuple[Cell, ...]:
    """Cells in blocks of repeats; within a block one fresh seeded order of the questions, shared by all systems;
    systems interleaved question by question, each block turning who goes first.
    """
    listed = list(cells)
    width = 1 + max((cell.pair for cell in listed), default=0)

    def place(cell: Cell) -> tuple[int, bytes, int]:
        item = f"{seed}|{cell.repeat}|{cell.variant}.{cell.question}.{cell.form}"
        shuffled = hashlib.sha256(item.encode()).digest()
        return cell.repeat, shuffled, (cell.pair + shuffled[0]) % width

    return tuple(sorted(listed, key=place))
