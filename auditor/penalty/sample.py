"""What the analysis counts: each system's trials as cells of strata, and the items that statistics take.

Invariant: cells are in the order of (question, variant, form, repeat), whatever order the trials came in, and every
trial of a question that feeds the analysis is in exactly one cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from auditor.analysis import AnalysisView, QuestionRow, SystemRow, TrialRow, TrialState
from auditor.label import Vote
from auditor.question import QuestionKind
from auditor.scoring import ATTEMPTS, SCORED, Stratum, score, stratum
from auditor.statistics import AskedItem, Item, ScoreItem

__all__ = [
    "Cell",
    "Sample",
    "asked_items",
    "rate_items",
    "samples",
    "score_items",
]

_VOTE_SCORES = {"correct": Fraction(1), "partial": Fraction(1, 2), "incorrect": Fraction(0)}
_AS_NOTHING = frozenset({TrialState.EMPTY, TrialState.BLOCKED, TrialState.TRUNCATED})


@dataclass(frozen=True, slots=True)
class Cell:
    """One trial as it is counted.

    ``question`` numbers a question under one corpus variant. ``sign`` is its score at k = 1 (+1, 0, −1; None: not
    scored), ``lenient_sign`` the same with partial as correct: at any k, −1 stands for −k. ``right``: whether the
    answer is right in itself, as volume accuracy sees it; None is unknown. ``judged``: the mean of all judges'
    1 / .5 / 0; None is unknown. ``answer_class`` numbers equal answers to one question.
    """

    question: int
    cluster: int
    kind: QuestionKind
    stratum: Stratum
    form: str
    repeat: int
    state: TrialState
    detail: str
    sign: int | None
    lenient_sign: int | None
    right: bool | None
    judged: Fraction | None
    answer_class: int | None

    @property
    def scored(self) -> bool:
        """Whether the trial enters a score."""
        return self.state in SCORED

    @property
    def attempted(self) -> bool:
        """Whether the system said something to be right or wrong about."""
        return self.state in ATTEMPTS

    @property
    def place(self) -> tuple[int, str, int]:
        """What pairs it with the cells of other systems."""
        return self.question, self.form, self.repeat


@dataclass(frozen=True, slots=True)
class Sample:
    """One system with its cells."""

    system: SystemRow
    cells: tuple[Cell, ...]

    def of(self, *strata: Stratum, kind: QuestionKind | None = None) -> tuple[Cell, ...]:
        """The cells of some strata, and of one kind of question."""
        return tuple(c for c in self.cells if c.stratum in strata and (kind is None or c.kind is kind))

    @property
    def benchmark(self) -> tuple[Cell, ...]:
        """The cells that Q_bench is about."""
        return self.of(Stratum.BENCHMARK)


def samples(view: AnalysisView) -> tuple[Sample, ...]:
    """One sample a system, in the protocol's order."""
    questions = {row.ordinal: row for row in view.questions if "penalty" in row.analyses}
    trials = [trial for trial in view.trials if trial.question in questions]
    numbers = {
        place: number for number, place in enumerate(sorted({(trial.question, trial.variant) for trial in trials}))
    }
    systems = {row.ordinal: row for row in view.systems}
    cells: dict[int, list[Cell]] = {ordinal: [] for ordinal in systems}
    for trial in trials:
        number = numbers[trial.question, trial.variant]
        cells[trial.system].append(_cell(view, trial, questions[trial.question], systems[trial.system], number))
    return tuple(
        Sample(systems[ordinal], tuple(sorted(cells[ordinal], key=lambda cell: cell.place)))
        for ordinal in sorted(systems)
    )


def _sign(trial: TrialRow, question: QuestionRow, system: SystemRow, partial_is_correct: bool) -> int | None:
    points = score(
        trial.state,
        question.kind,
        grounded=system.traits.grounded,
        contract=system.contract,
        k=Decimal(1),
        partial_is_correct=partial_is_correct,
    )
    return None if points is None else int(points)


def _cell(view: AnalysisView, trial: TrialRow, question: QuestionRow, system: SystemRow, number: int) -> Cell:
    return Cell(
        question=number,
        cluster=question.cluster,
        kind=question.kind,
        stratum=stratum(question.kind, question.proofs.get(trial.variant)),
        form=trial.form,
        repeat=trial.repeat,
        state=trial.state,
        detail=trial.detail,
        sign=_sign(trial, question, system, partial_is_correct=False),
        lenient_sign=_sign(trial, question, system, partial_is_correct=True),
        right=_right(view, trial, question),
        judged=_judged(view, trial, question),
        answer_class=trial.answer_class,
    )


def _right(view: AnalysisView, trial: TrialRow, question: QuestionRow) -> bool | None:
    """Whether the answer is right in itself: an attempt on a canary by its own verdict, which scored nothing."""
    if trial.state is not TrialState.CANARY_ATTEMPT:
        return trial.state is TrialState.CORRECT if trial.state in SCORED else None
    label = view.label(trial, "verdict")
    if label is not None and label.value is not None:
        return label.value == "correct"
    return False if question.kind is QuestionKind.FICTITIOUS and not question.has_reference else None


def _judged(view: AnalysisView, trial: TrialRow, question: QuestionRow) -> Fraction | None:
    if trial.state in (TrialState.ABSTAINED, TrialState.DENIED):
        return Fraction(0)
    if trial.state not in SCORED:
        return None
    label = view.label(trial, "verdict")
    if label is None:
        return Fraction(0) if trial.state is TrialState.INCORRECT and not question.has_reference else None
    return _mean_vote(label.votes)


def _mean_vote(votes: Iterable[Vote]) -> Fraction | None:
    """Mean of a full panel; a missing vote is not made up by a smaller panel."""
    scores = [_VOTE_SCORES.get(vote.value) if isinstance(vote.value, str) else None for vote in votes]
    known = [score for score in scores if score is not None]
    return sum(known, Fraction(0)) / len(known) if known and len(known) == len(scores) else None


def rate_items(cells: Iterable[Cell], outcome: Callable[[Cell], bool | Fraction | None]) -> list[Item]:
    """Items of a rate: the mean of ``outcome`` over the cells; a cell where it is None is left out."""
    totals: dict[int, list[Fraction]] = {}
    clusters: dict[int, int] = {}
    for cell in cells:
        value = outcome(cell)
        if value is not None:
            totals.setdefault(cell.question, []).append(Fraction(value))
            clusters[cell.question] = cell.cluster
    return [Item(q, clusters[q], len(values), sum(values, Fraction(0))) for q, values in sorted(totals.items())]


def score_items(cells: Iterable[Cell], *, partial_is_correct: bool = False) -> list[ScoreItem]:
    """Items of Q_k over the scored cells."""
    asked = asked_items(cells, partial_is_correct=partial_is_correct)
    return [found for found in (item.observed() for item in asked) if found is not None]


def asked_items(
    cells: Iterable[Cell], *, partial_is_correct: bool = False, nothing_is_zero: bool = False
) -> list[AskedItem]:
    """Items with their excluded trials. ``nothing_is_zero``: empty, blocked and truncated replies score 0, which is
    another estimand (all that was asked).
    """
    groups: dict[int, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.question, []).append(cell)
    found = []
    for question, group in sorted(groups.items()):
        signs = [cell.lenient_sign if partial_is_correct else cell.sign for cell in group]
        right, wrong = signs.count(1), signs.count(-1)
        scored = sum(cell.scored or (nothing_is_zero and cell.state in _AS_NOTHING) for cell in group)
        found.append(AskedItem(question, group[0].cluster, scored, right, wrong, len(group) - scored))
    return found
