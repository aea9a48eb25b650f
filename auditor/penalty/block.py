"""Estimates as blocks of the findings.

Invariant: a number without an interval carries the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from auditor.findings import Estimate, Unit, rounded
from auditor.statistics import Crossing, Difference, Estimated, Interval

__all__ = [
    "crossing_cells",
    "decimal_text",
    "estimate",
    "missing",
    "percent",
    "sign_text",
    "with_interval",
]

FEW_CLUSTERS = "no interval: fewer than two clusters"
SUPERPOPULATION = "superpopulation of questions, sampled by source"


def missing(name: str, unit: Unit, reason: str, source: Mapping[str, int | str], n: int = 0) -> Estimate:
    """What is unknown or does not apply, with the reason."""
    return Estimate(name, None, unit, n, reason=reason, source=source)


def estimate(
    name: str,
    found: Estimated | None,
    unit: Unit,
    n: int,
    *,
    method: str,
    source: Mapping[str, int | str],
    level: float = 0.95,
    reason: str = "",
    estimand: str = SUPERPOPULATION,
) -> Estimate:
    """An estimate with its interval. ``reason`` is added to what the interval itself gives reason for."""
    if found is None:
        return missing(name, unit, reason or "no scored trial", source)
    value = rounded(float(found.value))
    bare = Estimate(
        name, value, unit, n, level=rounded(level), estimand=estimand, method=method, reason=reason, source=source
    )
    return with_interval(bare, found.interval(level))


def with_interval(bare: Estimate, interval: Interval | None) -> Estimate:
    """The estimate with ``interval``, or with the reason for none. Rounding does not let it lose its value."""
    if bare.value is None:
        return bare
    if interval is None:
        return replace(bare, reason="; ".join(filter(None, (FEW_CLUSTERS, bare.reason))))
    low, high = rounded(interval.low), rounded(interval.high)
    return replace(bare, low=min(low, bare.value), high=max(high, bare.value))


def sign_text(difference: Difference | None, p_value: float | None, alpha: float = 0.05) -> str:
    """What a corrected p-value lets one say."""
    if difference is None or p_value is None:
        return "no test"
    if p_value > alpha:
        return "not separated"
    return "first higher" if difference.value > 0 else "second higher"


def crossing_cells(
    name: str, found: Crossing, n: int, method: str, source: Mapping[str, int | str], unit: Unit
) -> Estimate:
    """A crossing as an estimate."""
    if found.value is None:
        return missing(name, unit, found.reason, source, n)
    bare = Estimate(
        name,
        rounded(found.value),
        unit,
        n,
        estimand=SUPERPOPULATION,
        method=method,
        reason=found.reason,
        source=source,
    )
    if found.low is None or found.high is None:
        return bare
    return replace(bare, low=rounded(found.low), high=rounded(found.high))


def decimal_text(value: Decimal | Fraction) -> str:
    """A penalty or a share as people write it: 4, 2.5, 0.018."""
    return f"{float(value):g}"


def percent(value: Fraction) -> str:
    """A share in words of a note."""
    return f"{float(100 * value):.3g} %"
