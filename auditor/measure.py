"""From a record to findings: the view that analyses get, and the document that they make.

Pure. Invariant: ``measurement`` depends on the skeleton and on what was answered and labelled, on nothing else; it
names entries by their keys, never by sequence, time or commitment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from auditor.analysis import (
    Analysis,
    AnalysisView,
    LabelRow,
    QuestionRow,
    SystemRow,
    TrialRow,
    TrialState,
)
from auditor.findings import SCHEMA_VERSION, Findings, Note, NoteKind, Section
from auditor.findings_json import checked_section
from auditor.label import LabelKind
from auditor.label_section import label_section
from auditor.model import TransportOutcome
from auditor.plugins import contained
from auditor.protocol import Skeleton
from auditor.record import BLANK, Outcome, Record, label_rows
from auditor.schedule import Cell
from auditor.scoring import score, stratum, trial_state

__all__ = ["CORE_KINDS", "analysis_view", "is_complete", "measure"]

CORE_KINDS = ("stance", "verdict")


def analysis_view(skeleton: Skeleton, record: Record, kinds: Sequence[LabelKind]) -> AnalysisView:
    """All trials with their states, and all labels, without a text."""
    labels = {kind.name: label_rows(record, kind, skeleton.seats(kind.name)) for kind in kinds}
    systems, questions = skeleton.systems(), skeleton.questions()
    classes = _Classes()
    trials = tuple(
        _trial(cell, skeleton, systems[cell.pair], questions[cell.question], record, labels, classes)
        for cell in skeleton.cells()
    )
    return AnalysisView(
        systems=systems,
        questions=questions,
        labellers=skeleton.labellers(),
        trials=trials,
        labels=labels,
        penalty_k=skeleton.penalty_k,
        penalty_sweep=skeleton.penalty_sweep,
        canary_share=skeleton.canary_share,
        repeats=skeleton.repeats,
        seed=skeleton.seed,
    )


class _Classes:
    """Numbers equal answers to one question in the order in which the schedule meets them."""

    def __init__(self) -> None:
        self.seen: dict[int, dict[str, int]] = {}

    def number(self, question: int, answer: str | None) -> int | None:
        if answer is None:
            return None
        known = self.seen.setdefault(question, {})
        return known.setdefault(answer, len(known))


def _trial(
    cell: Cell,
    skeleton: Skeleton,
    system: SystemRow,
    question: QuestionRow,
    record: Record,
    labels: Mapping[str, Mapping[str, LabelRow]],
    classes: _Classes,
) -> TrialRow:
    outcome = record.outcomes.get(cell.key)
    rows = _labels_of(outcome, record, labels)
    stance, verdict = rows.get("stance"), rows.get("verdict")
    ruling = trial_state(
        None if outcome is None else outcome.transport,
        fault=None if outcome is None else outcome.fault,
        stance=_value(stance),
        verdict=_value(verdict),
        kind=question.kind,
        has_reference=question.has_reference,
        grounded=system.traits.grounded,
        contract=system.contract,
        reason=_reason(cell, outcome, stance, verdict, record),
    )
    prepared = {} if outcome is None else record.candidates.get(outcome.key, {})
    body = {} if outcome is None else outcome.body
    return TrialRow(
        key=cell.key,
        system=cell.pair,
        variant=skeleton.variants[cell.variant],
        question=cell.question,
        form=skeleton.forms(cell.question)[cell.form],
        repeat=cell.repeat,
        outcome=None if outcome is None else outcome.transport,
        state=ruling.state,
        detail=ruling.detail,
        labels={kind: row.key for kind, row in rows.items()},
        flags=tuple(sorted({*prepared.get("flags", ()), *(("capped",) if body.get("capped") else ())})),
        answer_class=classes.number(cell.question, prepared.get("class")),
        chunks=body.get("chunks"),
        citations=body.get("citations"),
        attempts=0 if outcome is None else outcome.attempt,
        latency_ms=_decimal(body.get("latency_ms")),
        cost_usd=_decimal(body.get("cost_usd")),
    )


def _labels_of(
    outcome: Outcome | None, record: Record, labels: Mapping[str, Mapping[str, LabelRow]]
) -> dict[str, LabelRow]:
    if outcome is None or outcome.transport is not TransportOutcome.TEXT:
        return {}
    found = {}
    for kind, rows in labels.items():
        digest = record.labelled.get(kind, {}).get(outcome.key)
        if digest is not None:
            found[kind] = rows[digest]
    return found


def _value(row: LabelRow | None) -> str | None:
    return None if row is None or row.value is None else str(row.value)


def _reason(
    cell: Cell, outcome: Outcome | None, stance: LabelRow | None, verdict: LabelRow | None, record: Record
) -> str:
    if outcome is None:
        return record.unasked.get(cell.key, "the run has not come to it")
    row = verdict if verdict is not None else stance
    if row is not None:
        return row.reason
    blank = BLANK in record.candidates.get(outcome.key, {}).get("flags", ())
    return "nothing is left but thinking and marks" if blank else "not labelled"


def _decimal(text: object) -> Decimal | None:
    return None if text is None else Decimal(str(text))


def measure(
    view: AnalysisView,
    analyses: Iterable[tuple[Analysis, Mapping[str, object]]],
    operations: Mapping[str, object],
) -> Findings:
    """The findings: a row a trial, a section an analysis, a section a label kind beside the core's."""
    sections = [_section(analysis, _with_settings(view, settings)) for analysis, settings in analyses]
    sections += [label_section(view, kind) for kind in view.labels if kind not in CORE_KINDS]
    return Findings(
        SCHEMA_VERSION, tuple(_trial_json(view, trial) for trial in view.trials), tuple(sections), operations
    )


def _section(analysis: Analysis, view: AnalysisView) -> Section:
    """What an analysis finds. One that fails says so in its own section, and takes no other's with it."""
    section, failure = contained(analysis, lambda: checked_section(analysis.analyse(view), analysis.name))
    if section is not None:
        return section
    note = Note(NoteKind.WARNING, f"This analysis failed ({failure}), so nothing that it would have found is here.")
    return Section(analysis.name, analysis.name, analysis.version, (note,))


def _with_settings(view: AnalysisView, settings: Mapping[str, object]) -> AnalysisView:
    return replace(view, settings=settings)  # type: ignore[arg-type] # settings were canonical JSON when frozen


def _trial_json(view: AnalysisView, trial: TrialRow) -> dict[str, str | int | float | bool | None | list[str]]:
    """A trial as the findings hold it. Labels of other kinds than the core's stand in those kinds' own sections."""
    system, question = view.systems[trial.system], view.questions[trial.question]
    points = score(
        trial.state,
        question.kind,
        grounded=system.traits.grounded,
        contract=system.contract,
        k=view.penalty_k,
    )
    return {
        "key": trial.key,
        "system": trial.system,
        "variant": trial.variant,
        "question": trial.question,
        "form": trial.form,
        "repeat": trial.repeat,
        "stratum": stratum(question.kind, question.proofs.get(trial.variant)).value,
        "kind": question.kind.value,
        "state": trial.state.value,
        "detail": trial.detail,
        "score": None if points is None else str(points),
        "stance": trial.labels.get("stance"),
        "verdict": trial.labels.get("verdict"),
        "flags": list(trial.flags),
        "answer_class": trial.answer_class,
        "chunks": trial.chunks,
        "citations": trial.citations,
    }


def is_complete(view: AnalysisView) -> bool:
    """Whether every cell was asked."""
    return all(trial.state is not TrialState.NOT_ASKED for trial in view.trials)
