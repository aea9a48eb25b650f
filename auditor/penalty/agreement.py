"""The panel: how far its judges agree, on unique judge inputs, before and after repair.

Invariant: equal inputs count once (METHODS §2, *Panel*); rows are by the judge's name, so that the order of seats shows
nowhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from auditor.analysis import AnalysisView, LabellerRow, LabelRow
from auditor.findings import Cell as TableCell
from auditor.findings import Column, Estimate, Table, Unit, rounded
from auditor.label import NonLabel, Vote
from auditor.statistics import (
    Coefficient,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    lone_dissents,
    specific_agreement,
    unanimity,
)

__all__ = [
    "agreement_table",
    "judges_table",
    "pairwise_table",
]

_KIND = "verdict"
_VALUES = ("correct", "partial", "incorrect")
_COLUMNS = (
    ("unanimity", "Unanimous", Unit.RATE),
    ("fleiss", "Fleiss κ", Unit.NUMBER),
    ("ac1", "Gwet AC1", Unit.NUMBER),
    ("specific", "Specific agreement on incorrect", Unit.RATE),
)


def _seats(view: AnalysisView) -> list[LabellerRow]:
    return sorted((row for row in view.labellers if row.kind == _KIND), key=lambda row: row.name)


def _rows(view: AnalysisView, grounded_only: bool) -> list[LabelRow]:
    """The unique inputs that trials refer to."""
    systems = {row.ordinal: row.traits.grounded for row in view.systems}
    keys = {
        trial.labels[_KIND]
        for trial in view.trials
        if _KIND in trial.labels and (systems[trial.system] or not grounded_only)
    }
    found = view.labels.get(_KIND, {})
    return [found[key] for key in sorted(keys)]


def _votes(votes: Sequence[Vote], seats: Sequence[LabellerRow]) -> tuple[str | None, ...]:
    """One vote a seat, in the order of ``seats``; None is no vote."""
    by_seat = {vote.labeller: vote.value for vote in votes}
    found = (by_seat.get(seat.ordinal) for seat in seats)
    return tuple(value if isinstance(value, str) and value in _VALUES else None for value in found)


def _full(rows: Sequence[LabelRow], seats: Sequence[LabellerRow]) -> list[tuple[str, ...]]:
    panels = []
    for row in rows:
        votes = tuple(vote for vote in _votes(row.votes, seats) if vote is not None)
        if seats and len(votes) == len(seats):
            panels.append(votes)
    return panels


def agreement_table(view: AnalysisView) -> Table:
    """Agreement of the whole panel, over all systems and over grounded ones alone."""
    columns = (
        Column("inputs", "Inputs of"),
        Column("unique", "Unique inputs", Unit.COUNT),
        Column("full", "Full panels", Unit.COUNT),
        *(Column(name, title, unit) for name, title, unit in _COLUMNS),
        Column("degraded_before", "Incomplete before repair", Unit.COUNT),
        Column("degraded_after", "Incomplete after repair", Unit.COUNT),
        Column("undecided", "Undecided", Unit.COUNT),
    )
    rows = tuple(_panel_row(view, title, only) for title, only in (("all systems", False), ("grounded systems", True)))
    return Table("panel", "Agreement of the panel on unique inputs", columns, rows)


def _panel_row(view: AnalysisView, title: str, grounded_only: bool) -> tuple[TableCell, ...]:
    seats, rows = _seats(view), _rows(view, grounded_only)
    panels = _full(rows, seats)
    figures = (
        unanimity(panels),
        fleiss_kappa(panels),
        gwet_ac1(panels, len(_VALUES)),
        specific_agreement(panels, "incorrect"),
    )
    return (
        title,
        len(rows),
        len(panels),
        *(_cell(f"{name}/{title}", found, unit) for (name, _, unit), found in zip(_COLUMNS, figures, strict=True)),
        sum(None in _votes(row.first_votes, seats) for row in rows),
        len(rows) - len(panels),
        sum(row.value is None for row in rows),
    )


def _cell(name: str, found: Coefficient, unit: Unit) -> Estimate:
    return Estimate(
        name,
        None if found.value is None else rounded(found.value),
        unit,
        found.n,
        estimand="these inputs",
        method="unique judge inputs with a full panel",
        reason=found.reason or "no interval: describes these inputs",
    )


def pairwise_table(view: AnalysisView) -> Table:
    """κ and AC1 of every two judges, on the inputs that both voted on."""
    columns = (
        Column("judge", "Judge"),
        Column("other", "Other judge"),
        Column("kappa", "Cohen κ", Unit.NUMBER),
        Column("ac1", "Gwet AC1", Unit.NUMBER),
    )
    seats, rows = _seats(view), _rows(view, grounded_only=False)
    made = []
    for first, second in combinations(seats, 2):
        votes = [_votes(row.votes, (first, second)) for row in rows]
        both = [(a, b) for a, b in votes if a is not None and b is not None]
        name = f"{first.name}/{second.name}"
        made.append(
            (
                first.name,
                second.name,
                _cell(f"kappa/{name}", cohen_kappa(both), Unit.NUMBER),
                _cell(f"ac1/{name}", gwet_ac1(both, len(_VALUES)), Unit.NUMBER),
            )
        )
    return Table("panel_pairs", "Agreement of judges, two by two", columns, tuple(made))


def judges_table(view: AnalysisView) -> Table:
    """Each judge: its votes, its lone dissents, and what it failed to give."""
    columns = (
        Column("judge", "Judge"),
        Column("family", "Family"),
        *(Column(value, value.capitalize(), Unit.COUNT) for value in _VALUES),
        Column("lone_dissents", "Alone against all others", Unit.COUNT),
        *(Column(str(reason), f"{reason.capitalize()} after repair", Unit.COUNT) for reason in NonLabel),
        Column("repaired", "Repaired", Unit.COUNT),
    )
    seats, rows = _seats(view), _rows(view, grounded_only=False)
    alone = lone_dissents(_full(rows, seats), len(seats))
    return Table(
        "judges",
        "Judges",
        columns,
        tuple(_judge_row(seat, rows, dissents) for seat, dissents in zip(seats, alone, strict=True)),
    )


def _judge_row(seat: LabellerRow, rows: Sequence[LabelRow], dissents: int) -> tuple[TableCell, ...]:
    last = [vote for row in rows for vote in row.votes if vote.labeller == seat.ordinal]
    first = [vote for row in rows for vote in row.first_votes if vote.labeller == seat.ordinal]
    values = Counter(vote.value for vote in last if isinstance(vote.value, str))
    gaps = Counter(vote.non_label for vote in last)
    missing_before = sum(vote.non_label is not None for vote in first)
    return (
        seat.name,
        seat.family,
        *(values[value] for value in _VALUES),
        dissents,
        *(gaps[reason] for reason in NonLabel),
        missing_before - sum(gaps[reason] for reason in NonLabel),
    )
