"""How far the judges of a panel agree, on unique inputs.

Invariant: undefined is None with a reason (no variance to agree beyond), never 0 or 1; seats are named by position,
and no figure but a seat's own depends on their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

__all__ = [
    "Coefficient",
    "cohen_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "lone_dissents",
    "specific_agreement",
    "unanimity",
]

Panel: TypeAlias = Sequence[str]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient over ``n`` inputs; ``value`` None is undefined, and ``reason`` says why."""

    value: float | None
    n: int
    reason: str = ""


def unanimity(panels: Sequence[Panel]) -> Coefficient:
    """Share of full panels whose votes are all equal."""
    if not panels:
        return _NONE
    return Coefficient(sum(len(set(panel)) == 1 for panel in panels) / len(panels), len(panels))


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> Coefficient:
    """Cohen's κ (1960) of two judges, unweighted."""
    if not pairs:
        return _NONE
    values = sorted({vote for pair in pairs for vote in pair})
    if len(values) < 2:
        return Coefficient(None, len(pairs), "undefined: both judges gave one and the same vote throughout")
    from statsmodels.stats.inter_rater import cohens_kappa  # type: ignore[import-untyped]  # ships no types

    table = [[0] * len(values) for _ in values]
    for first, second in pairs:
        table[values.index(first)][values.index(second)] += 1
    return Coefficient(float(cohens_kappa(table, return_results=False)), len(pairs))


def fleiss_kappa(panels: Sequence[Panel]) -> Coefficient:
    """Fleiss' κ (1971) of full panels of one size."""
    if not panels:
        return _NONE
    values = sorted({vote for panel in panels for vote in panel})
    if len(values) < 2:
        return Coefficient(None, len(panels), "undefined: all votes are the same")
    from statsmodels.stats.inter_rater import fleiss_kappa as fleiss

    table = [[Counter(panel)[value] for value in values] for panel in panels]
    return Coefficient(float(fleiss(table, method="fleiss")), len(panels))


def gwet_ac1(panels: Sequence[Panel], categories: int) -> Coefficient:
    """Gwet's AC1 (2008) of full panels on a scale of ``categories`` values, used or not."""
    if not panels:
        return _NONE
    agreed = sum((_agreeing_pairs(panel) for panel in panels), Fraction(0)) / len(panels)
    votes = Counter(vote for panel in panels for vote in panel)
    total = sum(votes.values())
    chance = sum((Fraction(n, total) * (1 - Fraction(n, total)) for n in votes.values()), Fraction(0))
    chance /= categories - 1
    # The chance term is at most 1/categories, so that the coefficient is always defined.
    return Coefficient(float((agreed - chance) / (1 - chance)), len(panels))


def _agreeing_pairs(panel: Panel) -> Fraction:
    seats = len(panel)
    return Fraction(sum(n * (n - 1) for n in Counter(panel).values()), seats * (seats - 1))


def specific_agreement(panels: Sequence[Panel], value: str) -> Coefficient:
    """Of the pairs of votes with ``value`` in one seat, the share with it in the other too (Cicchetti and Feinstein
    1990, over all pairs of seats); ``n`` counts the panels in which it occurs.
    """
    counts = [(Counter(panel)[value], len(panel)) for panel in panels]
    possible = sum(n * (seats - 1) for n, seats in counts)
    occurs = sum(n > 0 for n, _ in counts)
    if not possible:
        return Coefficient(None, occurs, f"undefined: no judge voted {value}")
    return Coefficient(sum(n * (n - 1) for n, _ in counts) / possible, occurs)


def lone_dissents(panels: Sequence[Panel], seats: int) -> tuple[int, ...]:
    """For each seat, in how many full panels it alone differed from all others, who agreed."""
    found = [0] * seats
    for panel in panels:
        for seat, vote in enumerate(panel):
            others = {other for place, other in enumerate(panel) if place != seat}
            found[seat] += len(others) == 1 and vote not in others
    return tuple(found)


_NONE = Coefficient(None, 0, "no input was judged by all")
