"""The section of a label kind that no analysis of its own speaks for: what it says, beside what the audit says."""

from __future__ import annotations

from collections import Counter

from auditor.analysis import AnalysisView, TrialRow
from auditor.findings import Column, Note, NoteKind, Section, Table, Unit

__all__ = ["label_section"]


def label_section(view: AnalysisView, kind: str) -> Section:
    """Counts of the kind's values a system, and each value against the trial's state."""
    labelled = [(trial, _text(view, trial, kind)) for trial in view.trials if kind in trial.labels]
    values = sorted({value for _, value in labelled})
    seats = ", ".join(seat.name for seat in view.labellers if seat.kind == kind)
    return Section(
        name=kind,
        title=f"Labels: {kind}",
        version=1,
        blocks=(
            _by_system(view, kind, labelled, values),
            _against_state(view, kind, labelled),
            Note(NoteKind.METHOD, f"{kind} is given by {seats}. It enters no score and no interval of this audit."),
        ),
    )


def _text(view: AnalysisView, trial: TrialRow, kind: str) -> str:
    row = view.label(trial, kind)
    return "none" if row is None or row.value is None else str(row.value)


def _by_system(view: AnalysisView, kind: str, labelled: list[tuple[TrialRow, str]], values: list[str]) -> Table:
    counts = Counter((trial.system, value) for trial, value in labelled)
    return Table(
        name="by_system",
        title=f"{kind}: trials by value",
        columns=(
            Column("system", "System"),
            *(Column(value, value, Unit.COUNT) for value in values),
            Column("n", "n", Unit.COUNT),
        ),
        rows=tuple(
            (
                system.name,
                *(counts[system.ordinal, value] for value in values),
                sum(counts[system.ordinal, value] for value in values),
            )
            for system in view.systems
        ),
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
            (view.systems[system].name, value, state, n) for (system, value, state), n in sorted(counts.items())
        ),
    )
