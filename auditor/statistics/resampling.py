"""Sign-flip tests on exact counts, and the bit generator for the rare case that is too large to enumerate.

Invariant: a p-value depends on the multiset of differences and the seed alone, on any machine: sums are integers, and
the generator's raw words are fixed by the schema version (DESIGN §3, *Findings*).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from auditor.findings import SCHEMA_VERSION

__all__ = ["SignFlip", "SplitMix64", "sign_flip"]

_WORD = (1 << 64) - 1
_EXACT_BITS = 1 << 24  # size of the packed distribution up to which all 2^G flips are counted
_RESAMPLES = 9_999


class SplitMix64:
    """SplitMix64 (Steele, Lea and Flood 2014): 64-bit words, a pure function of the seed."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _WORD

    def word(self) -> int:
        """The next 64 bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _WORD
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _WORD
        return mixed ^ (mixed >> 31)

    def bits(self, count: int) -> int:
        """``count`` random bits."""
        found = 0
        for _ in range(0, count, 64):
            found = found << 64 | self.word()
        return found & ((1 << count) - 1)


@dataclass(frozen=True, slots=True)
class SignFlip:
    """A two-sided p-value. ``exact``: all flips were counted; else it comes from 9,999 seeded ones."""

    p_value: float
    clusters: int
    exact: bool


def sign_flip(differences: Iterable[Fraction], seed: int) -> SignFlip | None:
    """Two-sided sign-flip test that the differences (one a cluster) are symmetric about 0; None without any.

    METHODS §2, *Paired rates*. It tests exchangeability of two systems, not equality of their means alone. The
    distribution is exact up to 2²⁴ bits of packed counts; beyond, p = (1 + hits)/(1 + 9,999).
    """
    given = list(differences)
    if not given:
        return None
    sizes = _integers(given)
    if not sizes:
        return SignFlip(1.0, len(given), exact=True)
    observed = abs(sum(sizes))
    if (2 * sum(map(abs, sizes)) + 1) * (len(sizes) + 1) <= _EXACT_BITS:
        return SignFlip(_exact(sizes, observed), len(given), exact=True)
    return SignFlip(_sampled(sizes, observed, seed), len(given), exact=False)


def _integers(differences: Sequence[Fraction]) -> list[int]:
    """The differences that are not 0, as integers in their common unit, in an order of their own."""
    unit = math.lcm(*(difference.denominator for difference in differences))
    scaled = [int(difference * unit) for difference in differences if difference]
    shared = math.gcd(*scaled) if scaled else 1
    return sorted(value // shared for value in scaled)


def _exact(sizes: Sequence[int], observed: int) -> float:
    """Count the flips whose sum is at least as far from 0: a polynomial with one packed field for each sum."""
    width = len(sizes) + 1
    packed = 1
    for size in sizes:
        packed += packed << 2 * abs(size) * width
    total = sum(map(abs, sizes))
    # Field j counts the flips of sum j − total; the two tails are equal, and meet when the observed sum is 0.
    if observed == 0:
        return 1.0
    tail = (total - observed) // 2 * 2 + 1
    mask, hits = (1 << width) - 1, 0
    lower = packed & ((1 << tail * width) - 1)
    while lower:
        hits += lower & mask
        lower >>= 2 * width
    return float(Fraction(2 * hits, 1 << len(sizes)))


def _sampled(sizes: Sequence[int], observed: int, seed: int) -> float:
    generator = SplitMix64(SCHEMA_VERSION << 32 ^ seed)
    hits = 0
    for _ in range(_RESAMPLES):
        flips = generator.bits(len(sizes))
        total = sum(size if flips >> place & 1 else -size for place, size in enumerate(sizes))
        hits += abs(total) >= observed
    return (1 + hits) / (1 + _RESAMPLES)
