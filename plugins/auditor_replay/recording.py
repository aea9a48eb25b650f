"""Recordings: rows of JSON Lines, of which only the columns that a mapping names are ever looked at.

Invariant: what is not mapped cannot reach an answer, a label, a digest or a message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from auditor.canonical import clean_text
from auditor.errors import ConfigurationError
from auditor.jsonl import read_json_lines
from auditor.suggestion import did_you_mean

__all__ = ["Row", "Scalar", "read_rows"]

Scalar = str | int | bool | Decimal

_MAX_NUMBER = Decimal(10) ** 15


@dataclass(frozen=True, slots=True)
class Row:
    """One recorded answer: the mapped columns of one line. A column that is absent or null is None."""

    number: int
    values: Mapping[str, object]
    shown: str
    error: type[ConfigurationError]

    def wrong(self, message: str) -> ConfigurationError:
        """An error that names the line."""
        return self.error(message, file=self.shown, line=self.number)

    def text(self, column: str | None) -> str | None:
        """Text of a column; a number or truth value is written out. Lone surrogates become U+FFFD."""
        value = self._value(column)
        if value is None:
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str | int | Decimal):
            return clean_text(str(value))[0]
        raise self.wrong(f"column {column!r} holds a {type(value).__name__}, not text")

    def number_of(self, column: str | None) -> Decimal | None:
        """A number that is at least 0."""
        value = self._value(column)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 <= value < _MAX_NUMBER:
            raise self.wrong(f"column {column!r} holds no number of 0 or more")
        return Decimal(value)

    def count(self, column: str | None) -> int | None:
        """A whole number that is at least 0."""
        value = self.number_of(column)
        if value is not None and value != int(value):
            raise self.wrong(f"column {column!r} holds no whole number")
        return None if value is None else int(value)

    def flag(self, column: str) -> bool:
        """A truth value; there is no default."""
        value = self._value(column)
        if not isinstance(value, bool):
            raise self.wrong(f"column {column!r} holds neither true nor false")
        return value

    def items(self, column: str | None) -> tuple[object, ...] | None:
        """The items of a list; None when the column is absent or null, which is not an empty list."""
        value = self._value(column)
        if value is None:
            return None
        if not isinstance(value, list):
            raise self.wrong(f"column {column!r} holds no list")
        return tuple(value)

    def _value(self, column: str | None) -> object:
        return None if column is None else self.values.get(column)


def read_rows(
    path: Path,
    columns: Iterable[str],
    select: Mapping[str, Scalar],
    *,
    shown: str,
    error: type[ConfigurationError],
) -> list[Row]:
    """Rows whose selected columns have the selected values, in order of the file.

    Raises ``error`` when a column is in no line, or no line has the selected values.
    """
    wanted = sorted({*columns, *select})
    known: dict[str, None] = {}
    seen: dict[str, dict[str, None]] = {column: {} for column in select}
    rows = []
    for line in read_json_lines(path, shown=shown, error=error):
        known.update(dict.fromkeys(line.fields))
        for column in select:
            seen[column][str(line.fields.get(column))] = None
        if all(_equal(line.fields.get(column), value) for column, value in select.items()):
            values = {column: line.fields[column] for column in wanted if column in line.fields}
            rows.append(Row(line.number, values, shown, error))
    for message in _complaints(wanted, known, select, seen, rows):
        raise error(message, file=shown)
    return rows


def _equal(found: object, wanted: Scalar) -> bool:
    """Equality that tells true from 1."""
    return isinstance(found, bool) is isinstance(wanted, bool) and found == wanted


def _complaints(
    wanted: list[str],
    known: Mapping[str, None],
    select: Mapping[str, Scalar],
    seen: Mapping[str, Mapping[str, None]],
    rows: list[Row],
) -> Iterator[str]:
    for column in wanted:
        if column not in known:
            yield f"no line has a column {column!r}{did_you_mean(column, known)}"
    if not rows:
        near = [f"{column}: {value}{did_you_mean(str(value), seen[column])}" for column, value in select.items()]
        yield f"no line has {', '.join(near)}" if near else "the recording is empty"
