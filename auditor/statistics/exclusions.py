"""What the trials that no score could be given to might have changed.

Invariant: every excluded trial is in both bounds; none is dropped and none is graded (DESIGN §4, rule 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from auditor.statistics.interval import Interval
from auditor.statistics.rates import Item, Rate, Weighting, rate
from auditor.statistics.scores import Score, ScoreItem, score_of

__all__ = [
    "AskedItem",
    "RateBounds",
    "ScoreBounds",
    "bounds_lead",
    "rate_bounds",
    "score_bounds",
    "tipping_share",
]

_MOST_EXCLUDED = Fraction(2, 100)
_MOST_APART = Fraction(1, 100)


@dataclass(frozen=True, slots=True)
class AskedItem:
    """One question with all its planned trials: the scored ones, how many were right and wrong, and the excluded."""

    question: int
    cluster: int
    scored: int
    right: int
    wrong: int
    excluded: int

    @property
    def asked(self) -> int:
        """All planned trials of the question."""
        return self.scored + self.excluded

    def observed(self) -> ScoreItem | None:
        """The scored trials alone; None when there are none."""
        if not self.scored:
            return None
        return ScoreItem(self.question, self.cluster, self.scored, self.right, self.wrong)

    def completed(self, excluded_are_right: bool) -> ScoreItem:
        """Every excluded trial as right, or every one as wrong: a score lies in [−k, 1]."""
        extra = self.excluded
        return ScoreItem(
            self.question,
            self.cluster,
            self.asked,
            self.right + (extra if excluded_are_right else 0),
            self.wrong + (0 if excluded_are_right else extra),
        )


@dataclass(frozen=True, slots=True)
class ScoreBounds:
    """Q_k when every excluded trial went as badly, and as well, as it could."""

    worst: Score
    best: Score

    def interval(self, level: float = 0.95) -> Interval | None:
        """From the lower limit of the worst case to the upper limit of the best (METHODS §2, *Exclusions*)."""
        return _span(self.worst.interval(level), self.best.interval(level))


@dataclass(frozen=True, slots=True)
class RateBounds:
    """A rate when no excluded trial counted, and when every one did."""

    least: Rate
    most: Rate

    def interval(self, level: float = 0.95) -> Interval | None:
        """From the lower limit of the one to the upper limit of the other."""
        return _span(self.least.interval(level), self.most.interval(level))


def _span(low: Interval | None, high: Interval | None) -> Interval | None:
    return None if low is None or high is None else Interval(low.low, high.high, low.level)


def score_bounds(items: Sequence[AskedItem], k: Decimal | Fraction | int) -> ScoreBounds | None:
    """Bounds of Q_k on a benchmark, each excluded trial in [−k, 1]; None when nothing was planned."""
    worst = score_of([item.completed(excluded_are_right=False) for item in items], k)
    best = score_of([item.completed(excluded_are_right=True) for item in items], k)
    return None if worst is None or best is None else ScoreBounds(worst, best)


def rate_bounds(items: Sequence[AskedItem], weighting: Weighting = Weighting.TRIALS) -> RateBounds | None:
    """Bounds of the rate of ``wrong``: on canaries that is CVR, each excluded trial in [−k, 0]."""
    least = rate([Item(i.question, i.cluster, i.asked, Fraction(i.wrong)) for i in items], weighting)
    most = rate([Item(i.question, i.cluster, i.asked, Fraction(i.wrong + i.excluded)) for i in items], weighting)
    return None if least is None or most is None else RateBounds(least, most)


def bounds_lead(excluded_shares: Sequence[Fraction]) -> bool:
    """Whether bounds become the headline: a system lost more than 2 %, or two lie more than 1 point apart."""
    if not excluded_shares:
        return False
    most, least = max(excluded_shares), min(excluded_shares)
    return most > _MOST_EXCLUDED or most - least > _MOST_APART


def tipping_share(first: Sequence[AskedItem], second: Sequence[AskedItem], k: Decimal | Fraction) -> Fraction | None:
    """How far the excluded trials must go against the leader for the order of two systems to turn.

    0: they need not; 1: all of the leader's at −k and all of the other's at 1. Between, each is moved by the same share
    from its system's mean towards its extreme. None where even the extreme does not turn the order, or nothing was
    scored.
    """
    lead, other = (first, second) if _observed(first, k) >= _observed(second, k) else (second, first)
    if not any(item.scored for item in lead) or not any(item.scored for item in other):
        return None
    start = _imputed(lead, k) - _imputed(other, k)
    worst = _extreme(lead, k, right=False) - _extreme(other, k, right=True)
    if start <= 0:
        return Fraction(0)
    return start / (start - worst) if worst <= 0 else None


def _observed(items: Sequence[AskedItem], k: Decimal | Fraction) -> Fraction:
    found = score_of([item for item in (asked.observed() for asked in items) if item is not None], k)
    return Fraction(0) if found is None else found.value


def _imputed(items: Sequence[AskedItem], k: Decimal | Fraction) -> Fraction:
    """Mean of question means with each excluded trial at the mean of all that were scored."""
    mean, penalty = _observed(items, k), Fraction(k)
    total = sum(((i.right - penalty * i.wrong + i.excluded * mean) / i.asked for i in items if i.asked), Fraction(0))
    return total / sum(1 for i in items if i.asked)


def _extreme(items: Sequence[AskedItem], k: Decimal | Fraction, *, right: bool) -> Fraction:
    found = score_of([item.completed(right) for item in items if item.asked], k)
    return Fraction(0) if found is None else found.value
