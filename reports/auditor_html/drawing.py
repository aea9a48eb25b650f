"""Figures as shapes: what the SVG template draws, in a box of fixed width.

Invariant: series differ in colour and in marker, and lines in their dashes too, so that no figure depends on colour.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

__all__ = ["STYLES", "Drawing", "Label", "Line", "Marker", "Path", "Scale", "SeriesStyle", "marker_path", "style_of"]


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """How one series looks."""

    colour: str
    shape: str
    dash: str


# Okabe and Ito's colours, darkened where they had less than 3:1 against white.
_COLOURS = ("#0060a0", "#c44e00", "#00795a", "#8f3f76", "#1f1f1f", "#8a6100", "#2f7fb5")
_SHAPES = ("circle", "square", "triangle", "diamond", "cross", "down", "plus", "ring")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "4 2", "1 2", "10 4", "6 2 1 2")
STYLES = tuple(
    SeriesStyle(_COLOURS[i % len(_COLOURS)], _SHAPES[i % len(_SHAPES)], _DASHES[i % len(_DASHES)])
    for i in range(len(_COLOURS) * len(_SHAPES))
)


def style_of(number: int) -> SeriesStyle:
    """The style of the series of that number; 56 are distinct."""
    return STYLES[number % len(STYLES)]


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line; ``css`` says what it is for."""

    x1: float
    y1: float
    x2: float
    y2: float
    css: str
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A text. ``anchor`` is SVG's: start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    css: str = "tick"
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """A line through points, or a bar when it is ``filled``."""

    d: str
    colour: str
    dash: str = ""
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Marker:
    """A point, and what it says when pointed at."""

    d: str
    colour: str
    hollow: bool
    title: str


@dataclass(slots=True)
class Drawing:
    """All shapes of one figure. ``legend``: name, marker, colour, dash, hollow."""

    width: float
    height: float
    description: str
    lines: list[Line] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    legend: list[tuple[str, Marker, str]] = field(default_factory=list)


def marker_path(shape: str, x: float, y: float, r: float = 4.5) -> str:
    """SVG path of a marker around (x, y)."""
    s = r * 0.9
    match shape:
        case "square":
            return _polygon((x - s, y - s), (x + s, y - s), (x + s, y + s), (x - s, y + s))
        case "triangle":
            return _polygon((x, y - r * 1.15), (x + r * 1.1, y + r * 0.85), (x - r * 1.1, y + r * 0.85))
        case "down":
            return _polygon((x, y + r * 1.15), (x + r * 1.1, y - r * 0.85), (x - r * 1.1, y - r * 0.85))
        case "diamond":
            return _polygon((x, y - r * 1.25), (x + r * 1.25, y), (x, y + r * 1.25), (x - r * 1.25, y))
        case "cross":
            return f"M{x - s:.1f} {y - s:.1f}L{x + s:.1f} {y + s:.1f}M{x - s:.1f} {y + s:.1f}L{x + s:.1f} {y - s:.1f}"
        case "plus":
            return f"M{x - r:.1f} {y:.1f}L{x + r:.1f} {y:.1f}M{x:.1f} {y - r:.1f}L{x:.1f} {y + r:.1f}"
        case _:
            return f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0Z"


def _polygon(*points: tuple[float, float]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "Z"


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers to places on the page. ``ticks`` lie within the ends of the scale."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    @classmethod
    def over(cls, values: list[float], start: float, end: float, count: int = 5) -> Scale:
        """A scale that holds all values, with round ticks."""
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        size = max(abs(low), abs(high))
        if high - low <= max(1e-9 * size, 1e-12):
            pad = size / 2 if size > 1e-9 else 0.5
            low, high = low - pad, high + pad
        step = _round_step((high - low) / count)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        ticks = tuple(float(f"{i * step:.12g}") for i in range(first, last + 1))
        return cls(ticks[0], ticks[-1], start, end, ticks)

    def at(self, value: float) -> float:
        """Place of a value."""
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 2)


def _round_step(raw: float) -> float:
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * (1 - 1e-9))
