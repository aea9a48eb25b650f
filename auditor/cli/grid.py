"""Aligned columns of text that fit a width.

Invariant: nothing is dropped. A table that is too wide wraps its cells; one that still does not fit is split into parts
that each repeat the first columns, as many as tell the rows apart.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

__all__ = ["cell_width", "grid", "wrapped"]

_GAP = 2
_WRAPPED_WIDTH = 14  # a column that has to wrap is not made narrower than this, if its words allow


def cell_width(text: str) -> int:
    """Columns that a terminal needs for ``text``: wide East Asian characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def wrapped(text: str, width: int) -> list[str]:
    """``text`` in lines of at most ``width`` columns, broken at blanks where there are any."""
    lines, line = [], ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_width(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        *full, line = _pieces(word, width)
        lines += full
    return [*lines, line]


def _pieces(word: str, width: int) -> list[str]:
    """A word cut into pieces of at most ``width`` columns."""
    pieces, piece, used = [], "", 0
    for character in word:
        taken = _character_width(character)
        if used + taken > width and piece:
            pieces.append(piece)
            piece, used = "", 0
        piece, used = piece + character, used + taken
    return [*pieces, piece]


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, numeric: Sequence[bool]) -> list[str]:
    """Lines of a table: the header, a rule, the rows. ``numeric``: columns that are set flush right.

    Cells are single lines of harmless text.
    """
    table = [list(header), *(list(row) for row in rows)]
    natural = [max(cell_width(row[index]) for row in table) for index in range(len(header))]
    least = [min(size, max(_WRAPPED_WIDTH, _longest_word(table, i)), _half(width)) for i, size in enumerate(natural)]
    lines: list[str] = []
    for part in _parts(least, width, _keys(rows, least, width)):
        widths = _fitted([natural[i] for i in part], [least[i] for i in part], width)
        if lines:
            lines.append("")
        lines += _set(table, part, widths, numeric)
    return lines


def _half(width: int) -> int:
    """So that the first column and any other always fit side by side."""
    return max(1, (width - _GAP) // 2)


def _longest_word(table: Sequence[Sequence[str]], index: int) -> int:
    return max((cell_width(word) for row in table for word in row[index].split(" ")), default=0)


def _keys(rows: Sequence[Sequence[str]], least: Sequence[int], width: int) -> int:
    """How many columns name a row: the fewest that are unique, if another column still fits beside them."""
    for count in range(1, len(least)):
        others = max(least[count:])
        if count > 1 and sum(least[:count]) + _GAP * count + others > width:
            break
        if len({tuple(row[:count]) for row in rows}) == len(rows):
            return count
    return 1


def _parts(least: Sequence[int], width: int, keys: int) -> list[list[int]]:
    """Columns by part; each part begins with the ``keys`` first columns."""
    names = list(range(keys))
    start = sum(least[:keys]) + _GAP * (keys - 1)
    parts, part, used = [], [*names], start
    for index in range(keys, len(least)):
        if used + _GAP + least[index] > width and len(part) > keys:
            parts.append(part)
            part, used = [*names], start
        part.append(index)
        used += _GAP + least[index]
    return [*parts, part]


def _fitted(natural: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Widths between ``least`` and ``natural``: the widest columns give way first."""
    widths = list(natural)
    spare = sum(widths) + _GAP * (len(widths) - 1) - width
    while spare > 0:
        index = max(range(len(widths)), key=lambda i: (widths[i] > least[i], widths[i]))
        if widths[index] <= least[index]:
            break
        widths[index] -= 1
        spare -= 1
    return widths


def _set(
    table: Sequence[Sequence[str]], part: Sequence[int], widths: Sequence[int], numeric: Sequence[bool]
) -> list[str]:
    lines = []
    for number, row in enumerate(table):
        cells = [wrapped(row[index], size) for index, size in zip(part, widths, strict=True)]
        for line in range(max(map(len, cells))):
            pieces = [cell[line] if line < len(cell) else "" for cell in cells]
            lines.append(_joined(pieces, part, widths, numeric))
        if number == 0:
            lines.append((" " * _GAP).join("-" * size for size in widths))
    return lines


def _joined(pieces: Sequence[str], part: Sequence[int], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = []
    for piece, index, size in zip(pieces, part, widths, strict=True):
        blank = " " * (size - cell_width(piece))
        padded.append(blank + piece if numeric[index] else piece + blank)
    return (" " * _GAP).join(padded).rstrip()
