"""Requirements: what a buyer demanded before the run, and whether each system meets it.

Invariant: a requirement is *met* or *not met* only where its one-sided 95 % bound says so; else *cannot tell*, with how
many more clusters of questions would tell at the rate seen (METHODS §2, gates). "Not significant" never passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from auditor.analysis import AnalysisView, TrialRow
from auditor.findings import Estimate, Unit, rounded
from auditor.penalty.sample import Cell, Sample, samples
from auditor.question import QuestionKind
from auditor.scoring import Stratum
from auditor.statistics import Decision, gate_at_most, lower_bound, upper_bound

__all__ = ["Demand", "Measure", "Ruling", "demands", "rulings"]

_MOST_CLUSTERS = 100_000  # beyond this nobody will ask
_TAIL = 0.05


class Measure(StrEnum):
    """What can be demanded, by its key in a spec."""

    INVENTED = "invented_answers_at_most"
    RIGHT = "right_answers_at_least"
    LATENCY = "latency_p95_ms_at_most"
    COST = "cost_per_answer_usd_at_most"


_SENTENCES: Mapping[Measure, Callable[[Decimal], str]] = {
    Measure.INVENTED: lambda limit: f"invents an answer to at most {_percent(limit)} of unanswerable questions",
    Measure.RIGHT: lambda limit: f"answers at least {_percent(limit)} of answerable questions right",
    Measure.LATENCY: lambda limit: f"95 of 100 answers come within {limit:f} ms",
    Measure.COST: lambda limit: f"an answer costs at most ${limit:f}",
}


def _percent(share: Decimal) -> str:
    return f"{(share * 100).normalize():f} %"


@dataclass(frozen=True, slots=True)
class Demand:
    """One requirement as it was frozen. ``limit``: a share, milliseconds, or US dollars."""

    measure: Measure
    limit: Decimal

    @property
    def sentence(self) -> str:
        """The requirement in words."""
        return _SENTENCES[self.measure](self.limit)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is to be said of one system and one demand.

    ``decision`` None: does not apply, and ``reason`` says why. ``more_clusters``: how many more independent questions
    would tell at the rate seen; None where it is decided, or where no number would.
    """

    system: int
    demand: Demand
    decision: Decision | None
    value: Estimate
    reason: str = ""
    more_clusters: int | None = None


def demands(body: Mapping[str, Any]) -> tuple[Demand, ...]:
    """The demands of a protocol's ``requirements``, in the order of ``Measure``."""
    return tuple(Demand(measure, Decimal(str(body[measure]))) for measure in Measure if body.get(measure) is not None)


def rulings(view: AnalysisView, wanted: Sequence[Demand]) -> tuple[Ruling, ...]:
    """One ruling a system and demand, systems in the protocol's order."""
    return tuple(_RULES[demand.measure](view, sample, demand) for sample in samples(view) for demand in wanted)


def _unknown(name: str, unit: Unit, reason: str) -> Estimate:
    return Estimate(name, None, unit, 0, reason=reason)


def _right(view: AnalysisView, sample: Sample, demand: Demand) -> Ruling:
    cells = [cell for cell in sample.benchmark if cell.scored]
    wrong = [cell for cell in cells if cell.right is not True]
    return _gate(sample, demand, cells, wrong, 1 - demand.limit, "right_answers", turned=True)


def _invented(view: AnalysisView, sample: Sample, demand: Demand) -> Ruling:
    """Every kind of proven canary has to keep the limit: kinds are never pooled (METHODS §2)."""
    if not sample.system.traits.grounded:
        return Ruling(
            sample.system.ordinal,
            demand,
            None,
            _unknown("invented_answers", Unit.RATE, "n/a (not grounded)"),
            "it promises nothing about documents",
        )
    found = [
        _gate(sample, demand, cells, [cell for cell in cells if _violates(cell)], demand.limit, f"invented/{kind}")
        for kind, cells in _canaries(sample)
    ]
    if not found:
        reason = "no canary with a proof"
        value = _unknown("invented_answers", Unit.RATE, reason)
        return Ruling(sample.system.ordinal, demand, Decision.CANNOT_TELL, value, reason)
    return max(found, key=_badness)


def _canaries(sample: Sample) -> list[tuple[QuestionKind, list[Cell]]]:
    cells = [cell for cell in sample.of(Stratum.CANARY) if cell.scored]
    return [
        (kind, [cell for cell in cells if cell.kind is kind])
        for kind in QuestionKind
        if any(cell.kind is kind for cell in cells)
    ]


def _violates(cell: Cell) -> bool:
    """An answer to a canary; a denial too, but of a fictitious thing it is true and costs nothing."""
    return cell.sign is not None and cell.sign < 0


def _badness(ruling: Ruling) -> tuple[int, float]:
    """Not met before cannot tell before met; among equals the highest rate."""
    order = {Decision.NOT_MET: 2, Decision.CANNOT_TELL: 1, Decision.MET: 0}
    return order[ruling.decision or Decision.MET], ruling.value.value or 0.0


def _gate(
    sample: Sample,
    demand: Demand,
    cells: Sequence[Cell],
    bad: Sequence[Cell],
    limit: Decimal,
    name: str,
    *,
    turned: bool = False,
) -> Ruling:
    """A gate on the share of ``bad`` cells; ``turned``: shown as the share of the others."""
    ordinal, unit = sample.system.ordinal, Unit.RATE
    if not cells:
        reason = "no scored trial"
        return Ruling(ordinal, demand, Decision.CANNOT_TELL, _unknown(name, unit, reason), reason)
    share, clusters = len(bad) / len(cells), len({cell.cluster for cell in cells})
    low, high = lower_bound(share, clusters), upper_bound(share, clusters)
    shown, low, high = (1 - share, 1 - high, 1 - low) if turned else (share, low, high)
    value = Estimate(
        name=name,
        value=rounded(shown),
        unit=unit,
        n=len(cells),
        low=rounded(low),
        high=rounded(high),
        level=0.9,
        estimand="superpopulation of questions, sampled by source",
        method=f"one-sided 95 % Clopper–Pearson bounds, {clusters} clusters",
        source={"system": ordinal},
    )
    decision = gate_at_most(share, clusters, float(limit))
    more = _more_clusters(share, clusters, float(limit)) if decision is Decision.CANNOT_TELL else None
    return Ruling(ordinal, demand, decision, value, more_clusters=more)


def _more_clusters(share: float, clusters: int, limit: float) -> int | None:
    """How many more clusters would decide if the share stayed as it is; None where no feasible number would."""

    def undecided(n: int) -> bool:
        return gate_at_most(share, n, limit) is Decision.CANNOT_TELL

    if undecided(_MOST_CLUSTERS):
        return None
    low, high = clusters, _MOST_CLUSTERS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if undecided(middle) else (low, middle)
    return high - clusters


def _latency(view: AnalysisView, sample: Sample, demand: Demand) -> Ruling:
    """The p95 of answered trials, bounded by order statistics (binomial, distribution-free)."""
    ordinal, name = sample.system.ordinal, "latency_p95"
    values = sorted(float(t.latency_ms) for t in _answered(view, ordinal) if t.latency_ms is not None)
    if not values:
        reason = "no latency is known"
        return Ruling(ordinal, demand, Decision.CANNOT_TELL, _unknown(name, Unit.MILLISECONDS, reason), reason)
    low, high = _quantile_bounds(values, 0.95)
    value = Estimate(
        name=name,
        value=rounded(values[math.ceil(0.95 * len(values)) - 1]),
        unit=Unit.MILLISECONDS,
        n=len(values),
        low=None if low is None else rounded(low),
        high=None if high is None else rounded(high),
        level=0.9,
        estimand="these calls over reruns",
        method="one-sided 95 % bounds by order statistics",
        reason="" if high is not None else "no upper bound below 59 answers",
        source={"system": ordinal},
    )
    limit = float(demand.limit)
    decision = Decision.CANNOT_TELL
    if high is not None and high <= limit:
        decision = Decision.MET
    elif low is not None and low > limit:
        decision = Decision.NOT_MET
    return Ruling(ordinal, demand, decision, value)


def _answered(view: AnalysisView, system: int) -> list[TrialRow]:
    return [trial for trial in view.trials if trial.system == system and trial.outcome is not None]


def _quantile_bounds(values: Sequence[float], share: float) -> tuple[float | None, float | None]:
    """One-sided 95 % bounds of a quantile: the order statistics whose binomial tails are below 5 %."""
    from scipy.stats import binom

    n = len(values)
    below = [float(binom.cdf(rank - 1, n, share)) for rank in range(1, n + 1)]  # P(the rank-th value < the quantile …)
    low = max((rank for rank in range(1, n + 1) if below[rank - 1] <= _TAIL), default=None)
    high = min((rank for rank in range(1, n + 1) if below[rank - 1] >= 1 - _TAIL), default=None)
    return (None if low is None else values[low - 1]), (None if high is None else values[high - 1])


def _cost(view: AnalysisView, sample: Sample, demand: Demand) -> Ruling:
    """The mean price of an answer; one unknown price makes it unknown, since unknown is not zero."""
    ordinal, name = sample.system.ordinal, "cost_per_answer"
    trials = _answered(view, ordinal)
    known = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    if not trials or len(known) < len(trials):
        reason = f"{len(trials) - len(known)} of {len(trials)} answers have no known price"
        return Ruling(ordinal, demand, Decision.CANNOT_TELL, _unknown(name, Unit.USD, reason), reason)
    mean = float(sum(known, Decimal(0)) / len(known))
    value = Estimate(
        name,
        rounded(mean),
        Unit.USD,
        len(known),
        estimand="these calls",
        method="mean",
        reason="no interval: the price of these very calls",
        source={"system": ordinal},
    )
    decision = Decision.MET if mean <= float(demand.limit) else Decision.NOT_MET
    return Ruling(ordinal, demand, decision, value)


_RULES: Mapping[Measure, Callable[[AnalysisView, Sample, Demand], Ruling]] = {
    Measure.INVENTED: _invented,
    Measure.RIGHT: _right,
    Measure.LATENCY: _latency,
    Measure.COST: _cost,
}
