"""Intervals, the critical values they rest on, and MOVER, which joins two of them.

Invariant: an interval contains its estimate, and widens as the level rises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

__all__ = ["SMALL_G", "Estimated", "Interval", "critical_value", "mover_difference", "p_value_by_bisection"]

SMALL_G = 30  # below this many clusters Student's t stands in for the normal distribution

_LARGEST_P = 0.999  # the interval of any smaller level is a point but for rounding
_SMALLEST_P = 1e-9  # below it 1 − α has too few digits left
_BISECTIONS = 32  # halvings of ln(1e-9) … 0: a relative error below 1e-8


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval at ``level``."""

    low: float
    high: float
    level: float

    def clipped(self, low: float, high: float) -> Interval:
        """The part of it that lies in the range of the quantity."""
        return Interval(max(self.low, low), min(self.high, high), self.level)


class Estimated(Protocol):
    """An estimate that can say how sure it is at any level."""

    @property
    def value(self) -> Fraction:
        """The point estimate."""

    def interval(self, level: float = 0.95) -> Interval | None:
        """Two-sided interval; None where there are fewer than two clusters."""


def critical_value(level: float, clusters: int) -> float:
    """Two-sided critical value: normal, or Student's t with G − 1 degrees of freedom below ``SMALL_G`` clusters.

    With t in place of z, a Wilson interval is the one whose N_eff was multiplied by (z/t)² (METHODS §2, *Rate*).
    Raises ``ValueError`` below two clusters: nothing can be said there.
    """
    if clusters < 2:
        raise ValueError("fewer than two clusters have no critical value")
    from scipy.special import ndtri, stdtrit

    tail = (1 - level) / 2
    return -float(ndtri(tail) if clusters >= SMALL_G else stdtrit(clusters - 1, tail))


def mover_difference(
    first: float, first_interval: Interval, second: float, second_interval: Interval, correlation: float
) -> Interval:
    """Interval of ``first − second`` from the intervals of its parts (method of variance estimates recovery;
    Zou 2008, Statistics in Medicine 27; METHODS §2, *Q_k* and *ΔQ*). ``correlation`` is that of the two estimates.
    """
    down = _hypotenuse(first - first_interval.low, second_interval.high - second, correlation)
    up = _hypotenuse(first_interval.high - first, second - second_interval.low, correlation)
    return Interval(first - second - down, first - second + up, first_interval.level)


def _hypotenuse(a: float, b: float, correlation: float) -> float:
    return math.sqrt(max(0.0, a * a + b * b - 2 * correlation * a * b))


def p_value_by_bisection(interval: Callable[[float], Interval], null: float = 0.0) -> float:
    """The smallest α at which the interval of level 1 − α excludes ``null`` (METHODS §2, *ΔQ*).

    Found on a logarithmic scale; what lies below 1e-9 is given as 1e-9. 1.0 where none does.
    """

    def excludes(alpha: float) -> bool:
        found = interval(1 - alpha)
        return not found.low <= null <= found.high

    if excludes(_SMALLEST_P):
        return _SMALLEST_P
    if not excludes(_LARGEST_P):
        return 1.0
    low, high = math.log(_SMALLEST_P), math.log(_LARGEST_P)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if excludes(math.exp(middle)) else (middle, high)
    return math.exp(high)
