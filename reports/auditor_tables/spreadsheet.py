"""CSV for spreadsheets: opens with the right characters, and no cell that came from outside is ever a formula.

Invariant: a cell that a program could take for a formula begins with an apostrophe; a number is written as a number.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata

from auditor.canonical import clean_text
from auditor.findings import Estimate
from auditor_tables.sheet import Sheet, Value

__all__ = ["csv_bytes", "safe_text"]

# What begins a formula: the ASCII signs, and those that some programs fold to them (full width, small, minus signs).
_FORMULA_STARTS = frozenset("=+-@\t\r\n|%＝＋－＠﹢﹣﹦﹫−‐‑‒–—⁺⁻")
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
_CONTROL_PICTURES = 0x2400
_DELETE, _DELETE_PICTURE = 0x7F, 0x2421
_MAX_CELL_CHARACTERS = 32_000  # programs stop at 32,767
_CUT = " … [cut; whole in the .jsonl file]"
_ESTIMATE_PARTS = ("low", "high", "n", "reason")


def csv_bytes(sheet: Sheet) -> bytes:
    """The sheet in UTF-8 with a byte-order mark, CRLF and quotes where needed. An estimate fills five columns."""
    spread = [any(isinstance(row[i], Estimate) for row in sheet.rows) for i in range(len(sheet.columns))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(
        [name for column, wide in zip(sheet.columns, spread, strict=True) for name in _header(column, wide)]
    )
    for row in sheet.rows:
        writer.writerow([cell for value, wide in zip(row, spread, strict=True) for cell in _cells(value, wide)])
    return codecs.BOM_UTF8 + text.getvalue().encode("utf-8")


def _header(column: str, wide: bool) -> list[str]:
    names = [column, *(f"{column}_{part}" for part in _ESTIMATE_PARTS)] if wide else [column]
    return [safe_text(name) for name in names]


def _cells(value: Value, wide: bool) -> list[str]:
    if isinstance(value, Estimate):
        return [_cell(part) for part in (value.value, value.low, value.high, value.n, value.reason or None)]
    return [_cell(value), *([""] * len(_ESTIMATE_PARTS) if wide else [])]


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple):
        return safe_text(", ".join(value))
    return safe_text(str(value))


def safe_text(text: str) -> str:
    """``text`` as a cell: control characters visible, line ends alike, too long ones cut, formulas disarmed."""
    shown = "".join(_visible(character) for character in clean_text(text)[0].replace("\r\n", "\n"))
    if len(shown) > _MAX_CELL_CHARACTERS:
        shown = shown[:_MAX_CELL_CHARACTERS] + _CUT
    return f"'{shown}" if _could_be_formula(shown) else shown


def _visible(character: str) -> str:
    code = ord(character)
    if character in "\t\n" or code > _DELETE or 0x20 <= code < _DELETE:
        return character
    return "\n" if character == "\r" else chr(_DELETE_PICTURE if code == _DELETE else _CONTROL_PICTURES + code)


def _could_be_formula(text: str) -> bool:
    """Whether the first character that counts begins a formula; blanks and invisible ones before it do not count."""
    if _PLAIN_NUMBER.fullmatch(text):
        return False
    for character in text:
        if character in _FORMULA_STARTS:
            return True
        if unicodedata.category(character) not in ("Zs", "Cf", "Mn"):
            return False
    return False
