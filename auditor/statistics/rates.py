"""Rates with intervals that respect clusters, and one-sided bounds for gates.

Invariant: points and design effects are exact fractions of counts, so that no order of trials can change them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from auditor.statistics.interval import SMALL_G, Interval, critical_value

__all__ = [
    "Decision",
    "Item",
    "Rate",
    "Weighting",
    "clusters_needed",
    "correlation",
    "gate_at_most",
    "lower_bound",
    "rate",
    "residuals",
    "upper_bound",
    "wilson",
]


_LEAST_CORRELATED = 3  # clusters from which a correlation says anything
_ROUNDING = 1e-9


class Weighting(StrEnum):
    """What counts once: each scored trial, or each question (as in Q_k: mean over questions of the mean within)."""

    TRIALS = "trials"
    QUESTIONS = "questions"


@dataclass(frozen=True, slots=True)
class Item:
    """What one system did with one question.

    ``total`` sums an outcome in 0 … 1 over the ``trials`` scored repeats (at least one). ``cluster`` is the question's
    source. ``question`` pairs items between systems.
    """

    question: int
    cluster: int
    trials: int
    total: Fraction

    def __post_init__(self) -> None:
        if self.trials < 1 or not 0 <= self.total.numerator <= self.trials * self.total.denominator:
            raise ValueError(f"{self.total} of {self.trials} trials is not a count")


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate with all that its interval needs. ``deff`` is None below two clusters: then there is no interval."""

    value: Fraction
    trials: int
    questions: int
    clusters: int
    deff: Fraction | None

    @property
    def effective_trials(self) -> Fraction | None:
        """N_eff = trials / deff, before the correction for few clusters."""
        return None if self.deff is None else self.trials / self.deff

    def interval(self, level: float = 0.95) -> Interval | None:
        """Wilson's interval at N_eff (METHODS §2, *Rate*); None below two clusters."""
        if self.deff is None:
            return None
        return wilson(float(self.value), float(self.trials / self.deff), self.clusters, level)


def wilson(value: float, effective_trials: float, clusters: int, level: float = 0.95) -> Interval:
    """Wilson's score interval (Wilson 1927) on ``effective_trials``, which few clusters shrink by (z/t)²."""
    from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]  # ships no types

    trials = effective_trials
    if clusters < SMALL_G:
        trials *= (critical_value(level, SMALL_G) / critical_value(level, clusters)) ** 2
    low, high = proportion_confint(value * trials, trials, alpha=1 - level, method="wilson")
    # At 0 and 1 the formula is exact but its floats are not.
    return Interval(min(max(float(low), 0.0), value), max(min(float(high), 1.0), value), level)


def rate(items: Sequence[Item], weighting: Weighting = Weighting.TRIALS) -> Rate | None:
    """The ratio estimate Σ numerators / Σ denominators with its design effect; None without a scored trial.

    Over attempted trials this is accuracy when answering (ratio estimator with linearised variance; Cochran 1977,
    §6 and §9A).
    """
    if not items:
        return None
    parts = _parts(items, weighting)
    clusters = len({item.cluster for item in items})
    deff = _design_effect(parts, len(items)) if clusters > 1 else None
    return Rate(parts.value, parts.trials, len(items), clusters, deff)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Numerators, in units of 1/``unit``, and denominators of the ratio, as integers, with their clusters."""

    clusters: tuple[int, ...]
    numerators: tuple[int, ...]
    denominators: tuple[int, ...]
    unit: int
    trials: int

    @property
    def value(self) -> Fraction:
        return Fraction(sum(self.numerators), self.unit * sum(self.denominators))

    def residuals(self) -> dict[int, int]:
        """Σ(a − value·b) of each cluster, times ``unit``·Σb: integers."""
        top, bottom = sum(self.numerators), sum(self.denominators)
        found: dict[int, int] = {}
        for cluster, a, b in zip(self.clusters, self.numerators, self.denominators, strict=True):
            found[cluster] = found.get(cluster, 0) + a * bottom - top * b
        return found


def _parts(items: Sequence[Item], weighting: Weighting) -> _Parts:
    by_question = weighting is Weighting.QUESTIONS
    divisors = [item.total.denominator * (item.trials if by_question else 1) for item in items]
    unit = math.lcm(*divisors)
    return _Parts(
        tuple(item.cluster for item in items),
        tuple(item.total.numerator * (unit // divisor) for item, divisor in zip(items, divisors, strict=True)),
        tuple(1 if by_question else item.trials for item in items),
        unit,
        sum(item.trials for item in items),
    )


def residuals(items: Sequence[Item], weighting: Weighting) -> dict[int, int]:
    """Linearised residual Σ(a − value·b) of each cluster, in one integer unit of its own."""
    return _parts(items, weighting).residuals()


def correlation(first: Mapping[int, int], second: Mapping[int, int]) -> float:
    """Correlation of two estimates from their cluster residuals (any units); 0 where one of them does not vary.

    Where clusters are single questions it is the correlation of question means that METHODS §2 names. Two clusters
    always lie on a line: their correlation is −1 or 1 whatever the truth, so none is credited that would narrow an
    interval of a difference.
    """
    product = sum(value * second[key] for key, value in first.items() if key in second)
    squares = _squares(first.values()) * _squares(second.values())
    if squares == 0:
        return 0.0
    found = math.copysign(math.sqrt(Fraction(product * product, squares)), product)
    return min(found, 0.0) if len({*first, *second}) < _LEAST_CORRELATED else found


def _squares(values: Iterable[int]) -> int:
    return sum(value * value for value in values)


def _design_effect(parts: _Parts, questions: int) -> Fraction:
    """METHODS §2, *Rate*: between-cluster variance over p(1−p)/n, held between 1 + (r̄−1)/2 and the trials a cluster.

    Clusters of unequal size count as in a fully correlated sample, n·Σb²/(Σb)²: the trials a cluster when sizes are
    equal. Clusters that are all alike show no variance to estimate from and take that maximum.
    """
    sizes: dict[int, int] = {}
    for cluster, b in zip(parts.clusters, parts.denominators, strict=True):
        sizes[cluster] = sizes.get(cluster, 0) + b
    total, clusters = sum(sizes.values()), len(sizes)
    most = Fraction(parts.trials * _squares(sizes.values()), total * total)
    squares = _squares(parts.residuals().values())
    if squares == 0:
        return most
    variance = Fraction(clusters * squares, (clusters - 1) * (parts.unit * total * total) ** 2)
    least = 1 + (Fraction(parts.trials, questions) - 1) / 2
    value = parts.value
    return min(most, max(least, variance * parts.trials / (value * (1 - value))))


def upper_bound(value: float, clusters: int, confidence: float = 0.95) -> float:
    """One-sided Clopper–Pearson upper bound on ``value``·n violations in n independent clusters (METHODS §2, gates)."""
    return _clopper_pearson(value, clusters, confidence)[1]


def lower_bound(value: float, clusters: int, confidence: float = 0.95) -> float:
    """One-sided Clopper–Pearson lower bound, see ``upper_bound``."""
    return _clopper_pearson(value, clusters, confidence)[0]


def _clopper_pearson(value: float, clusters: int, confidence: float) -> tuple[float, float]:
    if clusters < 1:
        raise ValueError("a bound needs at least one cluster")
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(value * clusters, clusters, alpha=2 * (1 - confidence), method="beta")
    return float(low), float(high)


class Decision(StrEnum):
    """What a gate says."""

    MET = "met"
    NOT_MET = "not met"
    CANNOT_TELL = "cannot tell at this n"


def gate_at_most(value: float, clusters: int, limit: float, confidence: float = 0.95) -> Decision:
    """Whether a rate is at most ``limit``, by its one-sided bounds (METHODS §2, *gates*)."""
    if clusters < 1:
        return Decision.CANNOT_TELL
    low, high = _clopper_pearson(value, clusters, confidence)
    if high <= limit:
        return Decision.MET
    # A bound that equals the limit (one violation in one cluster, at 5 %) exceeds it by rounding alone.
    return Decision.NOT_MET if low > limit + _ROUNDING else Decision.CANNOT_TELL


def clusters_needed(violations: int, limit: float, confidence: float = 0.95) -> int:
    """The fewest clusters in which ``violations`` still bound the rate by ``limit``: 59, 93, 124 at 5 % for 0, 1, 2."""
    clusters = violations + 1
    while upper_bound(violations / clusters, clusters, confidence) > limit:
        clusters += 1
    return clusters
