"""Two systems on the same questions: differences with intervals and p-values.

Invariant: a paired estimate is over the questions that both systems were scored on, and is antisymmetric in the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

from auditor.statistics.interval import Estimated, Interval, mover_difference, p_value_by_bisection
from auditor.statistics.rates import Item, Weighting, correlation, rate, residuals
from auditor.statistics.resampling import SignFlip, sign_flip
from auditor.statistics.scores import ScoreItem, score_of

__all__ = [
    "SCORE_FLIP_QUESTIONS",
    "Difference",
    "common",
    "mcnemar_exact",
    "rate_difference",
    "rate_flip",
    "ratio_difference",
    "score_difference",
    "score_flip",
]

T = TypeVar("T", Item, ScoreItem)

SCORE_FLIP_QUESTIONS = 300  # fewer questions than this: no sign-flip on Q (METHODS §2, *Q_k*)


@dataclass(frozen=True, slots=True)
class Difference:
    """``first − second`` by MOVER with the correlation of the two estimates (METHODS §2, *ΔQ*)."""

    first: Estimated
    second: Estimated
    correlation: float
    questions: int
    clusters: int

    @property
    def value(self) -> Fraction:
        """The point estimate."""
        return self.first.value - self.second.value

    def interval(self, level: float = 0.95) -> Interval | None:
        """Two-sided interval; None below two clusters."""
        first, second = self.first.interval(level), self.second.interval(level)
        if first is None or second is None:
            return None
        return mover_difference(float(self.first.value), first, float(self.second.value), second, self.correlation)

    def p_value(self) -> float | None:
        """The smallest α whose interval excludes 0; None below two clusters."""
        if self.interval() is None:
            return None
        return 1.0 if self.value == 0 else p_value_by_bisection(self._at)

    def _at(self, level: float) -> Interval:
        found = self.interval(level)
        if found is None:
            raise AssertionError("an interval exists at every level or at none")
        return found


def common(first: Sequence[T], second: Sequence[T]) -> tuple[list[T], list[T]]:
    """The items of both on the questions that both have, in one order."""
    theirs = {item.question: item for item in second}
    ours = sorted((item for item in first if item.question in theirs), key=lambda item: item.question)
    return ours, [theirs[item.question] for item in ours]


def score_difference(
    first: Sequence[ScoreItem], second: Sequence[ScoreItem], k: Decimal | Fraction | int
) -> Difference | None:
    """ΔQ_k on the common questions; None without one."""
    ours, theirs = common(first, second)
    mine, other = score_of(ours, k), score_of(theirs, k)
    if mine is None or other is None:
        return None
    together = correlation(_score_residuals(ours, mine.k), _score_residuals(theirs, other.k))
    return Difference(mine, other, together, len(ours), mine.right.clusters)


def _score_residuals(items: Sequence[ScoreItem], k: Fraction) -> dict[int, int]:
    """Σ(question mean − mean) of each cluster, in one integer unit of its own."""
    unit = math.lcm(*(item.trials for item in items))
    scores = [(k.denominator * i.right - k.numerator * i.wrong) * (unit // i.trials) for i in items]
    total, found = sum(scores), dict[int, int]()
    for item, score in zip(items, scores, strict=True):
        found[item.cluster] = found.get(item.cluster, 0) + score * len(items) - total
    return found


def rate_difference(
    first: Sequence[Item], second: Sequence[Item], weighting: Weighting = Weighting.QUESTIONS
) -> Difference | None:
    """Difference of two rates on the common questions: ΔCVR by MOVER-Wilson (METHODS §2, *Paired rates*)."""
    return _difference(*common(first, second), weighting)


def ratio_difference(first: Sequence[Item], second: Sequence[Item]) -> Difference | None:
    """Difference of two ratios whose denominators differ, such as accuracy when answering: not a paired outcome, but
    correlated through the clusters that both have.
    """
    return _difference(first, second, Weighting.TRIALS)


def _difference(first: Sequence[Item], second: Sequence[Item], weighting: Weighting) -> Difference | None:
    mine, other = rate(first, weighting), rate(second, weighting)
    if mine is None or other is None:
        return None
    together = correlation(residuals(first, weighting), residuals(second, weighting))
    clusters = {item.cluster for item in first} | {item.cluster for item in second}
    return Difference(mine, other, together, min(len(first), len(second)), len(clusters))


def rate_flip(first: Sequence[Item], second: Sequence[Item], seed: int) -> SignFlip | None:
    """Sign-flip test on the differences of question means, whole clusters at a time (METHODS §2, *Paired rates*)."""
    ours, theirs = common(first, second)
    return _flip(
        [(a.cluster, a.total / a.trials - b.total / b.trials) for a, b in zip(ours, theirs, strict=True)], seed
    )


def score_flip(
    first: Sequence[ScoreItem], second: Sequence[ScoreItem], k: Decimal | Fraction | int, seed: int
) -> SignFlip | None:
    """Sign-flip test on question-level Q; None below ``SCORE_FLIP_QUESTIONS`` common questions.

    Secondary: it tests exchangeability, and rejects systems of equal Q that follow different policies.
    """
    ours, theirs = common(first, second)
    if len(ours) < SCORE_FLIP_QUESTIONS:
        return None
    penalty = Fraction(k)
    return _flip([(a.cluster, a.score(penalty) - b.score(penalty)) for a, b in zip(ours, theirs, strict=True)], seed)


def _flip(differences: Sequence[tuple[int, Fraction]], seed: int) -> SignFlip | None:
    sums: dict[int, Fraction] = {}
    for cluster, difference in differences:
        sums[cluster] = sums.get(cluster, Fraction(0)) + difference
    return sign_flip(sums.values(), seed)


def mcnemar_exact(first: Sequence[Item], second: Sequence[Item]) -> float | None:
    """Exact McNemar p-value on single yes/no outcomes; None where a question has repeats or shares its cluster.

    With repeats its true size is 9–21 % (METHODS §2, *Paired rates*), so it refuses them.
    """
    ours, theirs = common(first, second)
    single = all(item.trials == 1 and item.total in (0, 1) for item in (*ours, *theirs))
    if not ours or not single or len({item.cluster for item in ours}) < len(ours):
        return None
    from statsmodels.stats.contingency_tables import mcnemar  # type: ignore[import-untyped]  # ships no types

    table = [[0, 0], [0, 0]]
    for a, b in zip(ours, theirs, strict=True):
        table[int(a.total)][int(b.total)] += 1
    return 1.0 if table[0][1] + table[1][0] == 0 else float(mcnemar(table, exact=True).pvalue)
