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
    """Holm-adjusted p-values (Holm 1979), in the given order; decides in a family (METHODS §2, *Families*)."""
    return _adjusted(p_values, "holm")


def benjamini_hochberg(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Benjamini–Hochberg-adjusted p-values (1995), for what is exploratory."""
    return _adjusted(p_values, "fdr_bh")


def _adjusted(p_values: Sequence[float | None], method: str) -> tuple[float | None, ...]:
    if not p_values:
        return ()
    from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]  # ships no types

    adjusted = multipletests([1.0 if p is None else p for p in p_values], method=method)[1]
    return tuple(None if p is None else float(a) for p, a in zip(p_values, adjusted, strict=True))


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
