"""Numbers and estimates as they are printed: the value, and beneath it the interval and n, or the reason for none.

Invariant: nothing is computed; an unknown value is never printed as a number, and a rate never without its n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from auditor.findings import Estimate, Unit

__all__ = ["EstimateText", "estimate_text", "number_text"]

_MINUS = "−"
_LARGE = 1e15  # beyond it digits say nothing
_ONCE = "\u00a0"  # no line breaks here


@dataclass(frozen=True, slots=True)
class EstimateText:
    """An estimate in two lines. ``detail`` is empty where there is nothing to add."""

    value: str
    detail: str


def number_text(value: float, unit: Unit) -> str:
    """A number in its unit; what is no finite number is said to be unknown."""
    if not math.isfinite(value):
        return "unknown (not a number)"
    return _unsigned(abs(value), unit) if value >= 0 else _MINUS + _unsigned(abs(value), unit)


def _unsigned(value: float, unit: Unit) -> str:
    if value >= _LARGE:
        return f"{value:.4g}"
    if unit is Unit.RATE:
        return f"{100 * value:.1f}{_ONCE}%"
    if unit is Unit.POINTS:
        return f"{value:.3f}"
    if unit is Unit.COUNT and float(value).is_integer():
        return f"{int(value):,}".replace(",", _ONCE)
    if unit is Unit.MILLISECONDS:
        return f"{value:,.0f}{_ONCE}ms".replace(",", _ONCE) if value >= 10 else f"{value:.3g}{_ONCE}ms"
    if unit is Unit.USD:
        return f"${value:.2f}" if value >= 1 else f"${value:.4g}"
    return str(int(value)) if float(value).is_integer() else f"{value:.4g}"


def estimate_text(estimate: Estimate, mark: Callable[[str], str]) -> EstimateText:
    """``86.2 %`` over ``73.5 % to 93.4 %, n = 174``. ``mark`` gives the sign of a reason that is told elsewhere."""
    reason = estimate.reason or "no reason given"
    if estimate.value is None:
        if reason.startswith("n/a"):
            return EstimateText(f"n/a{mark(reason[3:].strip(' :()') or reason)}", "")
        return EstimateText(f"unknown{mark(reason)}", f"n{_ONCE}={_ONCE}{estimate.n}" if estimate.n else "")
    shown = number_text(estimate.value, estimate.unit)
    if estimate.low is None and estimate.high is None:
        return EstimateText(
            shown, f"n{_ONCE}={_ONCE}{estimate.n}; no interval{mark(reason.removeprefix('no interval: '))}"
        )
    ends = " to ".join("?" if end is None else number_text(end, estimate.unit) for end in (estimate.low, estimate.high))
    level = "" if estimate.level == 0.95 else f" ({100 * estimate.level:g}{_ONCE}%)"
    also = mark(estimate.reason) if estimate.reason else ""
    return EstimateText(shown, f"{ends}{level}, n{_ONCE}={_ONCE}{estimate.n}{also}")
