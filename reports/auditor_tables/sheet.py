"""Sheets: everything that findings hold, as named tables of rows — also what no writer has met before.

Invariant: no block of no section is left out, and a missing value stays missing, beside its reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

from auditor.findings import Cell, Column, Estimate, Figure, Note, Section, Table
from auditor.protocol import Skeleton
from auditor.writer import ReportData, VoteRow

__all__ = ["Sheet", "Value", "sheets"]

Value: TypeAlias = "Cell | bool | tuple[str, ...]"

_ANSWER = "/answer"
_FIRST_COLUMNS = ("key", "system", "system_name", "variant", "question", "question_id", "form", "repeat", "stratum") + (
    "state",
    "detail",
    "score",
    "question_text",
    "answer",
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table with its place: ``group`` is the section it is from, empty for the run's own."""

    group: str
    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


def sheets(data: ReportData) -> list[Sheet]:
    """Systems, trials and votes, then every block of every section in its order."""
    systems = _systems(data.protocol)
    own = [_trials(data, _titles(data.protocol)), _votes(data.votes)]
    of_sections = [sheet for section in data.findings.sections for sheet in _section(section)]
    return [*([systems] if systems.rows else []), *own, *of_sections]


def _systems(protocol: Mapping[str, Any]) -> Sheet:
    columns = ("ordinal", "name", "kind", "contract", "grounded", "family", "evidence", "simulated", "role_conflicts")
    rows = [
        (
            row.ordinal,
            row.name,
            row.kind,
            row.contract.value,
            row.traits.grounded,
            row.traits.family,
            row.traits.evidence.value,
            row.traits.simulated or None,
            row.role_conflicts,
        )
        for row in (Skeleton(protocol).systems() if "systems" in protocol else ())
    ]
    return Sheet("", "systems", "Systems", columns, tuple(rows))


def _titles(protocol: Mapping[str, Any]) -> list[str]:
    """The systems' names with the marks of a shared role and of a simulation."""
    return [row.title for row in Skeleton(protocol).systems()] if "systems" in protocol else []


def _trials(data: ReportData, systems: Sequence[str]) -> Sheet:
    """One row a trial as the findings have it, with its system's marked name and, unless public, its texts."""
    texts = {} if data.public else data.texts
    answers = dict(_answers(texts))
    rows: list[dict[str, Value]] = []
    for trial in data.findings.trials:
        row = {name: _plain(value) for name, value in trial.items()}
        row["system_name"] = _at(systems, trial.get("system"))
        if texts:
            row["question_id"], row["question_text"] = _question(texts, data.protocol, trial)
            row["answer"] = answers.get(str(trial.get("key")))
        rows.append(row)
    named = {name for row in rows for name in row}
    columns = (*(name for name in _FIRST_COLUMNS if name in named), *sorted(named - {*_FIRST_COLUMNS}))
    return Sheet("", "trials", "Trials", columns, tuple(tuple(row.get(name) for name in columns) for row in rows))


def _plain(value: str | float | bool | list[str] | None) -> Value:
    return tuple(value) if isinstance(value, list) else value


def _at(names: Sequence[str], ordinal: object) -> str | None:
    return names[ordinal] if isinstance(ordinal, int) and 0 <= ordinal < len(names) else None


def _answers(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Task key and answer, in the order of attempts, so that the last one stands."""
    found = []
    for key, text in texts.items():
        task, _, attempt = key.removesuffix(_ANSWER).rpartition("#")
        if key.endswith(_ANSWER) and attempt.isdecimal():
            found.append((int(attempt), task, text))
    yield from ((task, text) for _, task, text in sorted(found))


def _question(
    texts: Mapping[str, str], protocol: Mapping[str, Any], trial: Mapping[str, Any]
) -> tuple[str | None, str | None]:
    """Id and wording of a trial's question; None where the text is withheld."""
    ordinal = trial.get("question")
    private = json.loads(texts.get(f"question/{ordinal}/private", "{}"))
    forms: list[str] = []
    if isinstance(ordinal, int) and "questions" in protocol:
        forms = list(Skeleton(protocol).forms(ordinal))
    form = forms.index(trial["form"]) if trial.get("form") in forms else 0
    return private.get("id"), texts.get(f"question/{ordinal}/{form}")


def _votes(votes: Iterable[VoteRow]) -> Sheet:
    columns = tuple(field.name for field in fields(VoteRow))
    return Sheet("", "votes", "Votes", columns, tuple(tuple(asdict(vote).values()) for vote in votes))


def _section(section: Section) -> Iterator[Sheet]:
    """Tables and figures one by one; lone estimates together, notes together."""
    estimates = tuple(block for block in section.blocks if isinstance(block, Estimate))
    notes = tuple(block for block in section.blocks if isinstance(block, Note))
    if estimates:
        rows = tuple((one.name, one) for one in estimates)
        yield Sheet(section.name, "estimates", f"{section.title}: estimates", ("name", "estimate"), rows)
    for block in section.blocks:
        if isinstance(block, Table):
            yield Sheet(section.name, block.name, block.title, _names(block.columns), block.rows)
        elif isinstance(block, Figure):
            yield _figure(section.name, block)
    if notes:
        sentences = tuple((note.kind.value, note.text) for note in notes)
        yield Sheet(section.name, "notes", f"{section.title}: notes", ("kind", "text"), sentences)


def _names(columns: Sequence[Column]) -> tuple[str, ...]:
    """Names of columns; a name that comes again gets a number."""
    seen: dict[str, int] = {}
    names = []
    for column in columns:
        seen[column.name] = seen.get(column.name, 0) + 1
        names.append(column.name if seen[column.name] == 1 else f"{column.name}_{seen[column.name]}")
    return tuple(names)


def _figure(group: str, figure: Figure) -> Sheet:
    rows = []
    for series in figure.series:
        low, high = (_padded(limits, len(series.y)) for limits in (series.low, series.high))
        rows += [(series.name, *point) for point in zip(series.x, series.y, low, high, strict=True)]
    return Sheet(group, figure.name, figure.title, ("series", "x", "y", "low", "high"), tuple(rows))


def _padded(limits: Sequence[float | None], length: int) -> Sequence[float | None]:
    return limits or (None,) * length
