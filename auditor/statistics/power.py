"""What a design can show before anything is asked, and what false canaries do to a rate.

Invariant: nothing here looks at results; a report prints no observed power (METHODS §2, *Power*).
"""

from __future__ import annotations

import math

__all__ = [
    "cvr_range",
    "effective_trials",
    "false_canary_share",
    "minimum_detectable_difference",
]

_POWER_80 = 0.84  # METHODS §2 rounds z of 80 % power to this


def effective_trials(questions: int, repeats: int, correlation: float = 0.9) -> float:
    """N_eff = n·m/(1 + (m−1)ρ): 18 questions × 3 repeats at ρ = .9 are worth 19.3 (METHODS §2, *Power*)."""
    return questions * repeats / (1 + (repeats - 1) * correlation)


def minimum_detectable_difference(sd: float, clusters: int, comparisons: int = 1, alpha: float = 0.05) -> float:
    """MDE(ΔQ) = (z of 1 − α/2M + .84)·sd/√G: found in 80 % of audits; ``sd`` is that of cluster differences."""
    from scipy.special import ndtri

    return (float(ndtri(1 - alpha / (2 * comparisons))) + _POWER_80) * sd / math.sqrt(clusters)


def false_canary_share(miss_rate: float, present_share: float) -> float:
    """π = e·P/(e·P + 1 − P): the share of canaries whose answer is in the corpus after all (METHODS §3, *Miss rate*).

    ``miss_rate`` e is how often the proof overlooks a present fact, ``present_share`` P how many facts are present.
    """
    missed = miss_rate * present_share
    return missed / (missed + 1 - present_share)


def cvr_range(violation_rate: float, false_share: float) -> tuple[float, float]:
    """Bounds of CVR when a share π of canaries is false: (CVR − π)/(1 − π) … CVR (METHODS §3), not below 0."""
    if not 0 <= false_share < 1:
        raise ValueError(f"{false_share} is not a share of false canaries below 1")
    return max(0.0, (violation_rate - false_share) / (1 - false_share)), violation_rate
