"""JSON Lines at the door: files of one object a line, read strictly and with line numbers.

Invariant: no number passes through a float; a number with a fraction is a ``Decimal``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from auditor.corpus import decode
from auditor.errors import ConfigurationError
from auditor.path import read_bytes

__all__ = ["JsonLine", "read_json_lines"]


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One line: its number (from 1) and its object."""

    number: int
    fields: Mapping[str, object]


def read_json_lines(path: Path, *, shown: str, error: type[ConfigurationError]) -> Iterator[JsonLine]:
    """Objects of the file in order; blank lines are passed over, byte-order marks and CRLF tolerated.

    :param shown: the path as the user named it, for messages. :param error: what is raised, with file and line, on
        bytes without meaning, on what is not exactly one JSON object, on duplicate keys and on NaN or Infinity.
    """
    try:
        decoded = decode(read_bytes(path))
    except OSError as cause:
        raise error(f"cannot be read: {cause.strerror or cause}", file=shown) from cause
    for number, line in enumerate(decoded.text.split("\n"), start=1):
        if decoded.lossy and "\ufffd" in line:
            raise error(f"bytes that mean nothing in {decoded.encoding}; save as UTF-8", file=shown, line=number)
        if line.strip():
            try:
                yield JsonLine(number, _object(line))
            except (ValueError, RecursionError) as cause:
                raise error(f"not one JSON object: {_reason(cause)}", file=shown, line=number) from cause


def _reason(cause: Exception) -> str:
    if isinstance(cause, RecursionError):
        return "nested too deeply"
    if isinstance(cause, json.JSONDecodeError):
        return f"{cause.msg} at character {cause.pos + 1}"
    return str(cause)


def _object(line: str) -> Mapping[str, object]:
    value = json.loads(line, object_pairs_hook=_pairs, parse_float=Decimal, parse_constant=_refuse_constant)
    if not isinstance(value, dict):
        raise ValueError(f"the line holds a {type(value).__name__}")
    return value


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r} stands twice")
    return made


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number that JSON knows")
