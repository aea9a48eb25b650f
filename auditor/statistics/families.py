"""Families of tests, and what they allow to be said of an order.

Invariant: a family's size is what was planned. A test that could not be made counts, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

__all__ = [
    "benjamini_hochberg",
    "bonferroni_level",
    "holm",
    "rank_sets",
    "ranks",
    "same_order_share",
]


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm-adjusted p-values (Holm 1979), in the given order; decides in a family (METHODS §2, *Families*).

    Own code: statsmodels' ``multipletests`` forces a full garbage collection at each call. It is the oracle in a test.
    """
    planned = _planned(p_values)
    adjusted, reached = [0.0] * len(planned), 0.0
    for rank, place in enumerate(sorted(range(len(planned)), key=planned.__getitem__)):
        reached = max(reached, min(1.0, (len(planned) - rank) * planned[place]))
        adjusted[place] = reached
    return _where_known(p_values, adjusted)


def benjamini_hochberg(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Benjamini–Hochberg-adjusted p-values (1995), for what is exploratory."""
    if not p_values:
        return ()
    from scipy.stats import false_discovery_control

    return _where_known(p_values, [float(p) for p in false_discovery_control(_planned(p_values), method="bh")])


def _planned(p_values: Sequence[float | None]) -> list[float]:
    return [1.0 if p is None else p for p in p_values]


def _where_known(p_values: Sequence[float | None], adjusted: Sequence[float]) -> tuple[float | None, ...]:
    return tuple(None if p is None else a for p, a in zip(p_values, adjusted, strict=True))


def bonferroni_level(comparisons: int, level: float = 0.95) -> float:
    """Level of each interval so that all ``comparisons`` hold at ``level`` together."""
    return 1 - (1 - level) / max(1, comparisons)


def ranks(values: Sequence[Fraction | None]) -> tuple[int | None, ...]:
    """Rank of each value, 1 the highest; equal values share a rank, and None has none."""
    known = [value for value in values if value is not None]
    return tuple(None if value is None else 1 + sum(other > value for other in known) for value in values)


def rank_sets(
    values: Sequence[Fraction | None], adjusted: Mapping[tuple[int, int], float | None], alpha: float = 0.05
) -> tuple[tuple[int, int] | None, ...]:
    """Best and worst rank of each system that its Holm-corrected pairs leave open (METHODS §2, *Ranks*).

    ``adjusted`` is by pair of positions (i < j). All ranks lie in all sets together with probability ≥ 1 − alpha.
    """
    known = [place for place, value in enumerate(values) if value is not None]

    def beats(winner: int, loser: int) -> bool:
        p = adjusted.get((min(winner, loser), max(winner, loser)))
        above, below = values[winner], values[loser]
        return p is not None and p <= alpha and above is not None and below is not None and above > below

    def between(place: int) -> tuple[int, int]:
        better = sum(beats(other, place) for other in known)
        worse = sum(beats(place, other) for other in known)
        return 1 + better, len(known) - worse

    return tuple(between(place) if place in known else None for place in range(len(values)))


def same_order_share(by_repeat: Sequence[Sequence[Fraction | None]]) -> Fraction | None:
    """Share of repeats whose order is that of the first; None below two repeats or where a value is missing.

    Not evidence of an order: two identical systems keep one order in three repeats often (METHODS §2, *Ranks*).
    """
    orders = [ranks(values) for values in by_repeat]
    if len(orders) < 2 or any(rank is None for order in orders for rank in order):
        return None
    return Fraction(sum(order == orders[0] for order in orders), len(orders))
