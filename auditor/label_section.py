"""The section of a label kind that no analysis of its own speaks for: what it says, beside what the audit says."""

from __future__ import annotations

from collections import Counter

from auditor.analysis import AnalysisView, TrialRow, TrialState
from auditor.findings import Cell, Column, Note, NoteKind, Section, Table, Unit

__all__ = ["label_section"]

# The audit's own totals that stand beside the kind's, with the states that each counts.
_TOTALS = {
    "correct": (TrialState.CORRECT,),
    "wrong": (TrialState.PARTIAL, TrialState.INCORRECT, TrialState.DENIED),
    "abstained": (TrialState.ABSTAINED,),
    "canary attempt": (TrialState.CANARY_ATTEMPT,),
}


def label_section(view: AnalysisView, kind: str) -> Section:
    """The audit's totals and the kind's a system, over the same trials, and each value against the trial's state."""
    labelled = [(trial, _text(view, trial, kind)) for trial in view.trials if kind in trial.labels]
    seats = ", ".join(seat.name for seat in view.labellers if seat.kind == kind)
    return Section(
        name=kind,
        title=f"Labels: {kind}",
        version=1,
        blocks=(
            _beside(view, kind, labelled),
            _against_state(view, kind, labelled),
            Note(NoteKind.METHOD, f"{kind} is given by {seats}. It enters no score and no interval of this audit."),
        ),
    )


def _text(view: AnalysisView, trial: TrialRow, kind: str) -> str:
    row = view.label(trial, kind)
    return "none" if row is None or row.value is None else str(row.value)


def _beside(view: AnalysisView, kind: str, labelled: list[tuple[TrialRow, str]]) -> Table:
    values = sorted({value for _, value in labelled})
    given = Counter((trial.system, value) for trial, value in labelled)
    own = Counter((trial.system, total) for trial, _ in labelled for total in _TOTALS if trial.state in _TOTALS[total])
    n = Counter(trial.system for trial, _ in labelled)
    rows: list[tuple[Cell, ...]] = [
        (
            system.title,
            n[system.ordinal],
            *(own[system.ordinal, total] for total in _TOTALS),
            *(given[system.ordinal, value] for value in values),
        )
        for system in view.systems
    ]
    return Table(
        name="by_system",
        title=f"This audit beside {kind}, over the trials that have the label",
        columns=(
            Column("system", "System"),
            Column("n", "n", Unit.COUNT),
            *(Column(total, f"audit: {total}", Unit.COUNT) for total in _TOTALS),
            *(Column(value, f"{kind}: {value}", Unit.COUNT) for value in values),
        ),
        rows=tuple(rows),
    )


def _against_state(view: AnalysisView, kind: str, labelled: list[tuple[TrialRow, str]]) -> Table:
    counts = Counter((trial.system, value, trial.state.value) for trial, value in labelled)
    return Table(
        name="against_state",
        title=f"{kind} against the audit's own states",
        columns=(
            Column("system", "System"),
            Column(kind, kind),
            Column("state", "State in this audit"),
            Column("n", "n", Unit.COUNT),
        ),
        rows=tuple(
            (view.systems[system].title, value, state, n) for (system, value, state), n in sorted(counts.items())
        ),
    )
