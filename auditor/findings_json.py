"""Findings as JSON: written whole, read back typed, compared part by part.

Invariants: ``measurement_bytes`` of equal findings are equal bytes on any machine; a file that holds anything beside
what is read from it (a key twice, a member that nobody knows, NaN) is no findings document.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Any

from auditor.errors import NotChecked, StorageError
from auditor.findings import (
    SCHEMA_VERSION,
    Block,
    Cell,
    Column,
    Estimate,
    Figure,
    Findings,
    Note,
    NoteKind,
    Section,
    Series,
    Table,
    Unit,
)
from auditor.ledger.database import open_regular

__all__ = [
    "Comparison",
    "checked_section",
    "compare",
    "from_json",
    "measurement_bytes",
    "read_findings",
    "section_from_json",
    "section_json",
    "to_json",
    "write_findings",
]

_ROUNDING = 1e-5  # relative; estimates carry six significant digits
_MAX_BYTES = 2**29  # far above what any audit writes; a stranger's file has no end to rely on


def to_json(findings: Findings) -> dict[str, Any]:
    """The document: ``schema_version``, ``measurement``, ``operations``."""
    return {
        "schema_version": findings.schema_version,
        "measurement": {
            "trials": [dict(trial) for trial in findings.trials],
            "sections": [section_json(section) for section in findings.sections],
        },
        "operations": dict(findings.operations),
    }


def section_json(section: Section) -> dict[str, Any]:
    """One section as the document holds it."""
    return {
        "name": section.name,
        "title": section.title,
        "version": section.version,
        "blocks": [_block_json(block) for block in section.blocks],
    }


def _block_json(block: Block) -> dict[str, Any]:
    kind = type(block).__name__.lower()
    if isinstance(block, Table):
        rows = [[_cell_json(cell) for cell in row] for row in block.rows]
        return {"block": kind, "name": block.name, "title": block.title, "rows": rows} | {
            "columns": [asdict(column) for column in block.columns]
        }
    return {"block": kind} | asdict(block)


def _cell_json(cell: Cell) -> Any:
    return {"block": "estimate"} | asdict(cell) if isinstance(cell, Estimate) else cell


def from_json(document: Mapping[str, Any]) -> Findings:
    """Findings of a document. Raises ``NotChecked`` for another schema version."""
    version = document.get("schema_version")
    if version != SCHEMA_VERSION:
        raise NotChecked(f"findings of schema version {version!r}; this auditor reads version {SCHEMA_VERSION}")
    measurement = document["measurement"]
    return Findings(
        schema_version=SCHEMA_VERSION,
        trials=tuple(measurement["trials"]),
        sections=tuple(section_from_json(section) for section in measurement["sections"]),
        operations=document["operations"],
    )


def checked_section(section: object, name: str) -> Section:
    """``section``, if it is called ``name`` and reads back from JSON as it is written.

    Raises ``TypeError`` or ``ValueError``: for what is no section, NaN, text that UTF-8 cannot carry, ragged rows.
    """
    if not isinstance(section, Section) or section.name != name:
        raise TypeError(f"the analysis {name} returned {type(section).__name__}, not a Section of its own name")
    written = _dumps(section_json(section), indent=None)
    again = section_from_json(json.loads(written))
    if _dumps(section_json(again), indent=None) != written:
        raise ValueError(f"the section {name} does not read back as it was written")
    return again


def section_from_json(body: Mapping[str, Any]) -> Section:
    """The section that ``section_json`` made ``body`` from. Raises ``TypeError`` for what is none."""
    title, version = body["title"], body["version"]
    if not isinstance(title, str) or type(version) is not int:
        raise TypeError("a section's title is text, its version an integer")
    return Section(body["name"], title, version, tuple(_block(block) for block in body["blocks"]))


def _block(body: Mapping[str, Any]) -> Block:
    fields = {name: value for name, value in body.items() if name != "block"}
    match body["block"]:
        case "estimate":
            return _estimate(fields)
        case "table":
            columns = tuple(Column(c["name"], c["title"], Unit(c["unit"])) for c in fields["columns"])
            rows = tuple(tuple(_cell(cell) for cell in row) for row in fields["rows"])
            if any(len(row) != len(columns) for row in rows):
                raise ValueError(f"table {fields['name']} has rows of other lengths than its columns")
            return Table(fields["name"], fields["title"], columns, rows)
        case "figure":
            return Figure(**{**fields, "series": tuple(_series(series) for series in fields["series"])})
        case "note":
            return Note(NoteKind(fields["kind"]), fields["text"])
    raise NotChecked(f"a block of kind {body['block']!r} is unknown to this auditor")


def _estimate(fields: Mapping[str, Any]) -> Estimate:
    made = Estimate(**{**fields, "unit": Unit(fields["unit"])})
    if type(made.n) is not int or not all(_is_number(x) for x in (made.value, made.low, made.high) if x is not None):
        raise TypeError(f"estimate {made.name}: its value, interval and n are numbers")
    return made


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(cell: Any) -> Cell:
    if isinstance(cell, Mapping):
        return _estimate({name: value for name, value in cell.items() if name != "block"})
    plain: Cell = cell
    return plain


def _series(fields: Mapping[str, Any]) -> Series:
    made: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    return Series(**made)


def measurement_bytes(findings: Findings) -> bytes:
    """The measurement as bytes that two runs can be compared by."""
    return _dumps(to_json(findings)["measurement"], indent=None)


def _dumps(value: object, indent: int | None) -> bytes:
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    return text.encode("utf-8")


def write_findings(findings: Findings, path: Path) -> None:
    """Write the document beside its place and move it there: a kill leaves the old one or the new one, never half."""
    beside = path.with_name(path.name + ".part")
    try:
        with beside.open("wb") as file:
            file.write(_dumps(to_json(findings), indent=1))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}; the ledger is whole, run again") from error


def read_findings(path: Path) -> Findings:
    """The findings in a file. Raises ``NotChecked`` when there is none that can be read."""
    try:
        document = json.loads(
            _read(path), object_pairs_hook=_pairs, parse_float=_finite, parse_constant=_refuse_constant
        )
        findings = from_json(document)
        if _dumps(to_json(findings), indent=None) != _dumps(document, indent=None):
            raise ValueError("it holds more than findings do")
    except StorageError as error:
        raise NotChecked(str(error)) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotChecked(f"{path} is not a findings document: {type(error).__name__}: {error}") from error
    return findings


def _read(path: Path) -> bytes:
    with os.fdopen(open_regular(path), "rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"it is larger than {_MAX_BYTES} bytes")
    return data


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return made


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is larger than any number that a finding holds")
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number that JSON knows")


class Comparison(StrEnum):
    """What recomputed findings are to those that were written (DESIGN §3, Findings)."""

    EQUAL = "equal"
    EQUAL_WITHIN_ROUNDING = "equal within rounding"
    DIFFERENT = "different"
    OTHER_SCHEMA = "other schema version"


def compare(written: Findings, again: Findings) -> tuple[Comparison, tuple[str, ...]]:
    """How two findings compare, measurement and operations alike, and the first fields that differ."""
    one, two = to_json(written), to_json(again)
    if _dumps(one, indent=None) == _dumps(two, indent=None):
        return Comparison.EQUAL, ()
    exact: list[str] = []
    close: list[str] = []
    for part in ("measurement", "operations"):
        _differences(one[part], two[part], part, exact, close)
    if exact:
        return Comparison.DIFFERENT, tuple(exact[:10])
    return Comparison.EQUAL_WITHIN_ROUNDING, tuple(close[:10])


def _differences(one: Any, two: Any, path: str, exact: list[str], close: list[str]) -> None:
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        for name in sorted({*one, *two}):
            if name in one and name in two:
                _differences(one[name], two[name], f"{path}.{name}", exact, close)
            else:
                exact.append(f"{path}.{name}")
    elif _is_list(one) and _is_list(two) and len(one) == len(two):
        for number, (left, right) in enumerate(zip(one, two, strict=True)):
            _differences(left, right, f"{path}[{number}]", exact, close)
    elif type(one) is float and type(two) is float and one != two:
        (close if abs(one - two) <= _ROUNDING * max(abs(one), abs(two)) else exact).append(path)
    elif _dumps(one, indent=None) != _dumps(two, indent=None):  # 1, 1.0 and true are three things here
        exact.append(path)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
