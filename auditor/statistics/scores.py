"""The penalty-aware score Q_k, its interval, and where scores cross as the penalty or the canary share changes.

Invariant: Q_k = c − k·w exactly, with c and w means over questions of the means within (METHODS §2, *Score*).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from auditor.statistics.interval import Interval, critical_value, mover_difference
from auditor.statistics.rates import Item, Rate, Weighting, correlation, rate, residuals

__all__ = [
    "Crossing",
    "MixedScore",
    "Score",
    "ScoreItem",
    "answer_threshold",
    "fieller",
    "mixed_score",
    "penalty_crossing",
    "score_of",
    "share_crossing",
]

_QUESTIONS = Weighting.QUESTIONS


@dataclass(frozen=True, slots=True)
class ScoreItem:
    """What one system did with one benchmark question: of ``trials`` scored repeats, how many were right and wrong."""

    question: int
    cluster: int
    trials: int
    right: int
    wrong: int

    def __post_init__(self) -> None:
        if min(self.right, self.wrong) < 0 or self.trials < 1 or self.right + self.wrong > self.trials:
            raise ValueError(f"{self.right} right and {self.wrong} wrong of {self.trials} trials is not a count")

    def rights(self) -> Item:
        """The item as one of the rate of right answers."""
        return Item(self.question, self.cluster, self.trials, Fraction(self.right))

    def wrongs(self) -> Item:
        """The item as one of the rate of wrong answers."""
        return Item(self.question, self.cluster, self.trials, Fraction(self.wrong))

    def score(self, k: Fraction) -> Fraction:
        """The question's mean score."""
        return (self.right - k * self.wrong) / self.trials


@dataclass(frozen=True, slots=True)
class Score:
    """Q_k with all that its interval needs."""

    k: Fraction
    right: Rate
    wrong: Rate
    correlation: float

    @property
    def value(self) -> Fraction:
        """c − k·w."""
        return self.right.value - self.k * self.wrong.value

    @property
    def trials(self) -> int:
        """Scored trials."""
        return self.right.trials

    def interval(self, level: float = 0.95) -> Interval | None:
        """MOVER on c − k·w with the Wilson limits of both (METHODS §2, *Q_k*), within [−k, 1]."""
        right, wrong = self.right.interval(level), self.wrong.interval(level)
        if right is None or wrong is None:
            return None
        k = float(self.k)
        scaled = Interval(k * wrong.low, k * wrong.high, level)
        found = mover_difference(
            float(self.right.value), right, k * float(self.wrong.value), scaled, self.correlation
        ).clipped(-k, 1.0)
        value = float(self.value)
        return Interval(min(found.low, value), max(found.high, value), level)


def score_of(items: Sequence[ScoreItem], k: Decimal | Fraction | int) -> Score | None:
    """Q_k over ``items``; None without a scored trial. Raises ``ValueError`` on a negative penalty."""
    if k < 0:
        raise ValueError(f"a penalty of {k} would be a reward")
    rights, wrongs = [item.rights() for item in items], [item.wrongs() for item in items]
    right, wrong = rate(rights, _QUESTIONS), rate(wrongs, _QUESTIONS)
    if right is None or wrong is None:
        return None
    together = correlation(residuals(rights, _QUESTIONS), residuals(wrongs, _QUESTIONS))
    return Score(Fraction(k), right, wrong, together)


def answer_threshold(k: Decimal | Fraction | int) -> Fraction:
    """t = k/(1+k): answering pays iff the answer is right with at least this probability (METHODS §2)."""
    return Fraction(k) / (1 + Fraction(k))


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where two systems change places. ``value`` None: nowhere, and ``reason`` says why.

    ``low`` and ``high`` are None where the interval is unbounded ("not identified").
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


def fieller(
    numerator: float, denominator: float, variances: tuple[float, float, float], critical: float
) -> tuple[float, float] | None:
    """Fieller's (1954) interval of a ratio; ``variances`` are those of numerator and denominator, and the covariance.

    None when it is unbounded, that is, when the denominator does not differ from 0 at this level.
    """
    top, bottom, both = variances
    square = critical * critical
    a = denominator * denominator - square * bottom
    if a <= 0:
        return None
    b = numerator * denominator - square * both
    c = numerator * numerator - square * top
    root = math.sqrt(max(0.0, b * b - a * c))
    return (b - root) / a, (b + root) / a


def penalty_crossing(first: Sequence[ScoreItem], second: Sequence[ScoreItem], level: float = 0.95) -> Crossing:
    """The penalty k at which two systems have equal Q_k on the questions that both were scored on.

    Q_k is linear in k, so k* = Δc/Δw, with Fieller's interval over clusters (METHODS §2, *Score*).
    """
    pairs = _common(first, second)
    if not pairs:
        return Crossing(None, reason="no question was scored for both")
    rights = [(a.cluster, _mean(a.right, a) - _mean(b.right, b)) for a, b in pairs]
    wrongs = [(a.cluster, _mean(a.wrong, a) - _mean(b.wrong, b)) for a, b in pairs]
    top, bottom = _average(rights), _average(wrongs)
    if bottom == 0:
        return Crossing(None, reason="equal wrong rates: the difference is the same at every k")
    if top / bottom < 0:
        return Crossing(None, reason="none: one system leads at every k")
    clusters = len({cluster for cluster, _ in rights})
    if clusters < 2:
        return Crossing(float(top / bottom), reason="no interval: fewer than two clusters")
    u, v = _deviations(rights, top), _deviations(wrongs, bottom)
    variances = (_covariance(u, u, len(pairs)), _covariance(v, v, len(pairs)), _covariance(u, v, len(pairs)))
    found = fieller(float(top), float(bottom), variances, critical_value(level, clusters))
    return _crossing(float(top / bottom), found, math.inf)


def _crossing(value: float, found: tuple[float, float] | None, most: float) -> Crossing:
    if found is None:
        return Crossing(value, reason="interval not identified: unbounded")
    return Crossing(value, min(value, max(0.0, found[0])), max(value, min(most, found[1])))


def _common(first: Sequence[ScoreItem], second: Sequence[ScoreItem]) -> list[tuple[ScoreItem, ScoreItem]]:
    other = {item.question: item for item in second}
    return [(item, other[item.question]) for item in first if item.question in other]


def _mean(part: int, item: ScoreItem) -> Fraction:
    return Fraction(part, item.trials)


def _average(values: Sequence[tuple[int, Fraction]]) -> Fraction:
    return sum((value for _, value in values), Fraction(0)) / len(values)


def _deviations(values: Sequence[tuple[int, Fraction]], mean: Fraction) -> dict[int, Fraction]:
    found: dict[int, Fraction] = {}
    for cluster, value in values:
        found[cluster] = found.get(cluster, Fraction(0)) + value - mean
    return found


def _covariance(first: Mapping[int, Fraction], second: Mapping[int, Fraction], questions: int) -> float:
    clusters = len(first)
    total = sum((value * second[cluster] for cluster, value in first.items()), Fraction(0))
    return float(Fraction(clusters, clusters - 1) * total / (questions * questions))


@dataclass(frozen=True, slots=True)
class MixedScore:
    """Q_mixed = (1−s)·Q_bench − s·k·CVR at canary share s. ``violations``: the rate of canary trials that cost k."""

    share: Fraction
    benchmark: Score
    violations: Rate

    @property
    def value(self) -> Fraction:
        """The mixed score; without its share it means nothing (METHODS §2, *Headline*)."""
        penalty = self.benchmark.k * self.violations.value
        return (1 - self.share) * self.benchmark.value - self.share * penalty

    def interval(self, level: float = 0.95) -> Interval | None:
        """MOVER on the two strata, which are independent samples."""
        bench, canary = self.benchmark.interval(level), self.violations.interval(level)
        if bench is None or canary is None:
            return None
        keep, cost = float(1 - self.share), float(self.share * self.benchmark.k)
        return mover_difference(
            keep * float(self.benchmark.value),
            Interval(keep * bench.low, keep * bench.high, level),
            cost * float(self.violations.value),
            Interval(cost * canary.low, cost * canary.high, level),
            0.0,
        )


def mixed_score(benchmark: Score, violations: Rate, share: Decimal | Fraction) -> MixedScore:
    """Q_mixed; raises ``ValueError`` unless 0 ≤ share ≤ 1."""
    if not 0 <= share <= 1:
        raise ValueError(f"{share} is not a share")
    return MixedScore(Fraction(share), benchmark, violations)


def share_crossing(
    benchmark: float,
    violations: float,
    k: float,
    variances: tuple[float, float] | None = None,
    critical: float = 1.959964,
) -> Crossing:
    """The canary share s at which two systems have equal Q_mixed: s* = ΔQ/(ΔQ + k·ΔCVR).

    ``benchmark`` is ΔQ_bench, ``violations`` ΔCVR, ``variances`` those of the two, which come from separate strata.
    """
    whole = benchmark + k * violations
    if whole == 0 or not 0 <= benchmark / whole <= 1:
        return Crossing(None, reason="none: one system leads at every share")
    if variances is None:
        return Crossing(benchmark / whole, reason="no interval: fewer than two clusters")
    bench, canary = variances
    found = fieller(benchmark, whole, (bench, bench + k * k * canary, bench), critical)
    return _crossing(benchmark / whole, found, 1.0)
