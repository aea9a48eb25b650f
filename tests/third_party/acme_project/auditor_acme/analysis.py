"""Acme's analysis: how many trials of each system ended in each state, as generic blocks."""

from __future__ import annotations

from collections import Counter

from auditor.analysis import Analysis, AnalysisView
from auditor.findings import Column, Estimate, Figure, Note, NoteKind, Section, Series, Table, Unit


class AcmeStates(Analysis):
    """Counts; no interval is claimed."""

    name = "acme-states"

    def analyse(self, view: AnalysisView) -> Section:
        """One table, one figure, one estimate, one note."""
        counts = Counter((trial.system, trial.state.value) for trial in view.trials)
        columns = (Column("system", "System"), Column("state", "State"), Column("n", "Trials", Unit.COUNT))
        names = {system.ordinal: system.name for system in view.systems}
        rows = tuple((names[system], state, n) for (system, state), n in sorted(counts.items()))
        totals = Counter(trial.system for trial in view.trials)
        series = Series("trials", tuple(names.values()), tuple(float(totals[ordinal]) for ordinal in names))
        total = Estimate(
            "acme-trials", float(len(view.trials)), Unit.COUNT, len(view.trials), reason="a count has no interval"
        )
        return Section(
            self.name,
            "States, as Acme counts them",
            self.version,
            (
                Table("acme-state-table", "Trials by state", columns, rows),
                Figure("acme-state-figure", "Trials by system", "bars", "System", "Trials", (series,)),
                total,
                Note(NoteKind.METHOD, "Acme counts every trial once."),
            ),
        )
