"""Numbers as the report writes them.

Invariant: a missing value is a word with its reason, never a number; nothing is rounded away to look certain.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from auditor.findings import Cell, Estimate, Unit
from auditor_html.text import shown

__all__ = ["Shown", "number_text", "show"]

_USUAL_LEVEL = 0.95
_LONG_WORD = re.compile(r"[^\s-]{25}")


@dataclass(frozen=True, slots=True)
class Shown:
    """A cell to look at. ``interval`` and ``n`` are empty where there are none; ``sort`` orders a column.

    ``missing``: there is no value, and ``text`` and ``reason`` say so. ``unbroken``: a long word is in it.
    """

    text: str
    interval: str = ""
    n: str = ""
    reason: str = ""
    sort: str = ""
    numeric: bool = False
    missing: bool = False
    unbroken: bool = False


def show(cell: Cell, unit: Unit) -> Shown:
    """A cell of a column in ``unit``; an estimate has its own."""
    if cell is None:
        return Shown("unknown", missing=True)
    if isinstance(cell, Estimate):
        return _estimate(cell)
    if isinstance(cell, bool):
        return Shown("yes" if cell else "no")
    if isinstance(cell, str):
        return Shown(shown(cell), unbroken=_LONG_WORD.search(cell) is not None)
    return Shown(number_text(cell, unit), sort=_sort(cell), numeric=True, missing=not math.isfinite(cell))


def _estimate(found: Estimate) -> Shown:
    reason = shown(found.reason)
    if found.value is None:
        if reason.startswith("n/a"):
            return Shown("n/a", reason=reason.removeprefix("n/a").strip(" :()"), missing=True)
        return Shown("unknown", n=f"n = {found.n:,}", reason=reason, missing=True)
    return Shown(
        text=number_text(found.value, found.unit),
        interval=_interval(found),
        n=f"n = {found.n:,}",
        reason=reason.removeprefix("no interval: "),
        sort=_sort(found.value),
        numeric=True,
    )


def _interval(found: Estimate) -> str:
    if found.low is None and found.high is None:
        return "no interval"
    ends = ("open" if end is None else number_text(end, found.unit) for end in (found.low, found.high))
    level = "" if found.level == _USUAL_LEVEL else f" at {100 * found.level:.4g} %"
    return f"[{', '.join(ends)}]{level}"


def _sort(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else ""


def number_text(value: float, unit: Unit) -> str:
    """A number as its unit is written."""
    if not math.isfinite(value):
        return "not a number"
    return _plain(value, unit).replace("-", "\N{MINUS SIGN}")


def _plain(value: float, unit: Unit) -> str:
    match unit:
        case Unit.RATE:
            return f"{100 * value:.1f} %"
        case Unit.POINTS:
            return f"{value:.3f}"
        case Unit.MILLISECONDS:
            return f"{value / 1000:.2f} s" if abs(value) >= 1000 else f"{value:.3g} ms"
        case Unit.USD:
            return f"${value:,.2f}" if abs(value) >= 1 else f"${value:.4g}"
        case _ if float(value).is_integer() and abs(value) < 1e15:
            return f"{int(value):,}"
        case _:
            return f"{value:.4g}"
