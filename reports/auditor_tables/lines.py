"""JSON Lines for programs: one object a row, texts as they are, no byte-order mark.

Invariant: every line is an object whose keys are the sheet's columns; a missing value is null.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from auditor.canonical import clean_text
from auditor.findings import Estimate
from auditor_tables.sheet import Sheet, Value

__all__ = ["json_lines"]


def json_lines(sheet: Sheet) -> bytes:
    """The sheet's rows. An estimate is an object of its own."""
    rows = [dict(zip(sheet.columns, map(_plain, row), strict=True)) for row in sheet.rows]
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode("utf-8")


def _plain(value: Value) -> object:
    if isinstance(value, Estimate):
        return {name: _text(part) for name, part in asdict(value).items()}
    return [_text(item) for item in value] if isinstance(value, tuple) else _text(value)


def _text(value: object) -> object:
    return clean_text(value)[0] if isinstance(value, str) else value
