"""The first tables: Q_bench and canary violations side by side, then the rates, each with its n.

Invariant: benchmark, proven canaries of each kind, and claimed canaries are never pooled in a score; a baseline's
violation rate is not applicable, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from auditor.analysis import Contract, TrialState
from auditor.findings import Cell as TableCell
from auditor.findings import Column, Estimate, Table, Unit, rounded
from auditor.penalty.block import decimal_text, estimate, missing, with_interval
from auditor.penalty.sample import Cell, Sample, asked_items, rate_items, score_items
from auditor.question import QuestionKind
from auditor.scoring import Stratum
from auditor.statistics import Item, Rate, rate, rate_bounds, score_bounds, score_of

__all__ = [
    "Q_METHOD",
    "answered_right",
    "canary_kinds",
    "canary_table",
    "claimed_table",
    "headline_table",
    "not_applicable",
    "q_bench",
    "rates_table",
    "violated",
    "violation_rate",
    "violations",
    "volume_cells",
    "volume_outcome",
]

Q_METHOD = "MOVER on right − k·wrong with Wilson limits at N_eff"
WILSON = "Wilson at N_eff, clustered by source"
_RATIO = "ratio estimator, linearised variance, Wilson at N_eff"
_BOUNDS = "bounds over excluded trials: lower limit of the worst case to upper limit of the best"


def canary_kinds(found: Sequence[Sample], *strata: Stratum) -> tuple[QuestionKind, ...]:
    """The kinds of canary that occur, in the order of METHODS §3."""
    present = {cell.kind for sample in found for cell in sample.of(*strata)}
    return tuple(kind for kind in QuestionKind if kind in present)


def headline_table(found: Sequence[Sample], k: Decimal, bounds: bool) -> Table:
    """Q_bench at the main k beside CVR of each kind. ``bounds``: exclusions weigh so much that bounds lead."""
    kinds = canary_kinds(found, Stratum.CANARY)
    columns = (
        Column("system", "System"),
        Column("correct", "Correct", Unit.COUNT),
        Column("wrong", "Wrong", Unit.COUNT),
        Column("abstained", "Abstained", Unit.COUNT),
        Column("q_bench", f"Q_bench, k = {decimal_text(k)}", Unit.POINTS),
        *(Column(f"cvr_{kind}", f"Canary violations: {kind.replace('_', ' ')}", Unit.RATE) for kind in kinds),
    )
    rows = tuple(_headline_row(sample, k, kinds, bounds) for sample in found)
    return Table("headline", "Score and canary violations", columns, rows)


def _headline_row(sample: Sample, k: Decimal, kinds: Sequence[QuestionKind], bounds: bool) -> tuple[TableCell, ...]:
    signs = [cell.sign for cell in sample.benchmark]
    return (
        sample.system.title,
        signs.count(1),
        signs.count(-1),
        signs.count(0),
        q_bench(sample, k, bounds=bounds),
        *(violation_rate(sample, kind, strict=True, bounds=bounds) for kind in kinds),
    )


def q_bench(sample: Sample, k: Decimal, *, bounds: bool = False, partial_is_correct: bool = False) -> Estimate:
    """Q_k over the benchmark; with ``bounds``, between its bounds over excluded trials."""
    items = score_items(sample.benchmark, partial_is_correct=partial_is_correct)
    n = sum(item.trials for item in items)
    variant = "_partial" if partial_is_correct else ""
    name = f"q_bench{variant}/{sample.system.ordinal}/{decimal_text(k)}"
    found = estimate(
        name, score_of(items, k), Unit.POINTS, n, method=Q_METHOD, source=_source(sample, Stratum.BENCHMARK)
    )
    if not bounds or found.value is None:
        return found
    limits = score_bounds(asked_items(sample.benchmark, partial_is_correct=partial_is_correct), k)
    return replace(with_interval(found, None if limits is None else limits.interval()), method=_BOUNDS)


def violation_rate(sample: Sample, kind: QuestionKind, *, strict: bool, bounds: bool = False) -> Estimate:
    """CVR on the proven canaries of one kind: attempted / scored; ``strict`` counts denials as attempts."""
    source = _source(sample, Stratum.CANARY) | {"kind": str(kind)}
    name = f"cvr_{'strict' if strict else 'answer'}/{sample.system.ordinal}/{kind}"
    reason = not_applicable(sample)
    if reason:
        return missing(name, Unit.RATE, reason, source)
    cells = sample.of(Stratum.CANARY, kind=kind)
    found = rate(violations(cells, strict=strict))
    made = estimate(name, found, Unit.RATE, 0 if found is None else found.trials, method=WILSON, source=source)
    if not bounds or made.value is None:
        return made
    items = [
        replace(item, wrong=sum(violated(c, strict) for c in cells if c.question == item.question))
        for item in asked_items(cells)
    ]
    limits = rate_bounds(items)
    return replace(with_interval(made, None if limits is None else limits.interval()), method=_BOUNDS)


def not_applicable(sample: Sample) -> str:
    """Why a system has no violation rate; empty when it has one."""
    if not sample.system.traits.grounded:
        return "n/a (not grounded)"
    if sample.system.contract is not Contract.DOCUMENTS_ONLY:
        return "n/a (its contract is not documents-only)"
    return ""


def violated(cell: Cell, strict: bool) -> bool:
    """Whether a canary trial is an attempt: an answer, and under ``strict`` a denial too."""
    return cell.attempted and (strict or cell.state is not TrialState.DENIED)


def violations(cells: Sequence[Cell], *, strict: bool) -> list[Item]:
    """Items of the violation rate over the scored cells."""
    return rate_items(cells, lambda cell: violated(cell, strict) if cell.scored else None)


def canary_table(found: Sequence[Sample]) -> Table:
    """Every kind of proven canary on a row of its own: strict, answer-only, and what was denied."""
    columns = (
        Column("system", "System"),
        Column("kind", "Kind of canary"),
        Column("scored", "Scored", Unit.COUNT),
        Column("answered", "Answered", Unit.COUNT),
        Column("denied", "Denied", Unit.COUNT),
        Column("strict", "Violations, strict (answer or denial)", Unit.RATE),
        Column("answer_only", "Violations, answers only", Unit.RATE),
    )
    kinds = canary_kinds(found, Stratum.CANARY)
    rows = tuple(_canary_row(sample, kind) for sample in found for kind in kinds)
    return Table("canaries", "Canary violations by kind", columns, rows)


def _canary_row(sample: Sample, kind: QuestionKind) -> tuple[TableCell, ...]:
    cells = sample.of(Stratum.CANARY, kind=kind)
    return (
        sample.system.title,
        kind.replace("_", " "),
        sum(cell.scored for cell in cells),
        sum(violated(cell, strict=False) for cell in cells),
        sum(cell.state is TrialState.DENIED for cell in cells),
        violation_rate(sample, kind, strict=True),
        violation_rate(sample, kind, strict=False),
    )


def claimed_table(found: Sequence[Sample]) -> Table:
    """Canaries whose absence nobody proved: a stratum of their own, without an interval."""
    columns = (
        Column("system", "System"),
        Column("scored", "Scored", Unit.COUNT),
        Column("attempted", "Attempted", Unit.COUNT),
        Column("rate", "Attempted, claimed and unproven", Unit.RATE),
    )
    rows = tuple(_claimed_row(sample) for sample in found)
    return Table("claimed", "Canaries that are claimed, unproven", columns, rows)


def _claimed_row(sample: Sample) -> tuple[TableCell, ...]:
    cells = [cell for cell in sample.of(Stratum.CLAIMED) if cell.scored]
    attempted = sum(cell.attempted for cell in cells)
    source, name = _source(sample, Stratum.CLAIMED), f"claimed/{sample.system.ordinal}"
    reason = not_applicable(sample) or ("" if cells else "no scored trial")
    if reason:
        made = missing(name, Unit.RATE, reason, source)
        return sample.system.title, len(cells), None if not_applicable(sample) else attempted, made
    made = Estimate(
        name,
        rounded(attempted / len(cells)),
        Unit.RATE,
        len(cells),
        estimand="these trials",
        method="attempted / scored",
        reason="no interval: claimed, unproven",
        source=source,
    )
    return sample.system.title, len(cells), attempted, made


_EVERYTHING = (Stratum.BENCHMARK, Stratum.CANARY, Stratum.CLAIMED, Stratum.COUNTERFACTUAL)
_Outcome = Callable[[Cell], "bool | Fraction | None"]


def volume_outcome(cell: Cell) -> bool | None:
    """Right in itself, over all scored trials: credits a right answer to a canary."""
    return cell.right if cell.scored else None


def volume_cells(sample: Sample) -> tuple[Cell, ...]:
    """The cells of volume accuracy: every stratum."""
    return sample.of(*_EVERYTHING)


def _if_scored(test: Callable[[Cell], bool]) -> _Outcome:
    return lambda cell: test(cell) if cell.scored else None


def answered_right(cell: Cell) -> bool | None:
    """Outcome of accuracy when answering: None for a trial that was not attempted."""
    return cell.sign == 1 if cell.attempted else None


_RATES: tuple[tuple[str, str, str, _Outcome], ...] = (
    ("wrong", "Wrong", WILSON, _if_scored(lambda cell: cell.sign == -1)),
    ("attempt", "Attempted", WILSON, _if_scored(lambda cell: cell.attempted)),
    ("abstention", "Abstained", WILSON, _if_scored(lambda cell: cell.state is TrialState.ABSTAINED)),
    ("accuracy_when_answering", "Correct when answering", _RATIO, answered_right),
    ("answer_accuracy", "Answer Accuracy (mean of judges, 1 / .5 / 0)", WILSON, lambda cell: cell.judged),
)


def rates_table(found: Sequence[Sample], k: Decimal) -> Table:
    """The rates beside the headline. All but volume accuracy are of the benchmark."""
    columns = (
        Column("system", "System"),
        Column("volume_accuracy", "Volume accuracy (all strata)", Unit.RATE),
        *(Column(name, title, Unit.RATE) for name, title, _, _ in _RATES),
        Column("q_partial", f"Q_bench, k = {decimal_text(k)}, partial as correct", Unit.POINTS),
    )
    return Table("rates", "Rates", columns, tuple(_rates_row(sample, k) for sample in found))


def _rates_row(sample: Sample, k: Decimal) -> tuple[TableCell, ...]:
    return (
        sample.system.title,
        _volume(sample),
        *(_benchmark_rate(sample, name, method, outcome) for name, _, method, outcome in _RATES),
        q_bench(sample, k, partial_is_correct=True),
    )


def _volume(sample: Sample) -> Estimate:
    cells = volume_cells(sample)
    unknown = sum(cell.scored and cell.right is None for cell in cells)
    return _rate_estimate(
        f"volume_accuracy/{sample.system.ordinal}",
        rate(rate_items(cells, volume_outcome)),
        WILSON,
        {"system": sample.system.ordinal},
        f"without {unknown} attempts whose panel did not decide" if unknown else "",
    )


def _benchmark_rate(sample: Sample, name: str, method: str, outcome: _Outcome) -> Estimate:
    cells = sample.benchmark
    unknown = sum(cell.scored and cell.judged is None for cell in cells) if name == "answer_accuracy" else 0
    return _rate_estimate(
        f"{name}/{sample.system.ordinal}",
        rate(rate_items(cells, outcome)),
        method,
        _source(sample, Stratum.BENCHMARK),
        _gap(sample, name, unknown),
    )


def _gap(sample: Sample, name: str, unknown: int) -> str:
    """What is missing from a rate, or why there is none."""
    if unknown:
        return f"without {unknown} trials that lack a vote"
    answered_none = not any(cell.attempted for cell in sample.benchmark)
    return "no attempt" if name == "accuracy_when_answering" and answered_none else ""


def _rate_estimate(name: str, found: Rate | None, method: str, source: dict[str, int | str], reason: str) -> Estimate:
    n = 0 if found is None else found.trials
    return estimate(name, found, Unit.RATE, n, method=method, source=source, reason=reason)


def _source(sample: Sample, stratum: Stratum) -> dict[str, int | str]:
    return {"system": sample.system.ordinal, "stratum": str(stratum)}
