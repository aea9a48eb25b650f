"""Charts as vector drawings: lines, points and bars of a figure, intervals side by side, two rates against each other.

Invariant: series differ by marker as well as by colour; a point whose value is unknown is not drawn, and no scale is
made from what is no finite number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from reportlab.graphics.shapes import Circle, Drawing, Group, Line, Polygon, Rect, String
from reportlab.lib.colors import HexColor
from reportlab.pdfbase.pdfmetrics import stringWidth

from auditor.findings import Figure, Series, Unit
from auditor_pdf.number import number_text
from auditor_pdf.style import INK, LOOKS, MUTED, PALETTE, PAPER, RULE, TEXT_WIDTH
from auditor_pdf.typesetter import Typesetter, single_line

__all__ = ["Bar", "Dot", "Panel", "figure_drawing", "interval_drawing", "scatter_drawing"]

_MAX_LABEL_CHARACTERS = 34
_MAX_CATEGORIES = 40
_LARGEST = 1e12  # of what is drawn: beyond it a page has no coordinates


@dataclass(frozen=True, slots=True)
class Bar:
    """One value with its interval, for intervals side by side. ``series`` picks colour and marker."""

    label: str
    value: float
    low: float | None
    high: float | None
    series: int


@dataclass(frozen=True, slots=True)
class Dot:
    """One point with intervals both ways."""

    series: int
    x: float
    y: float
    x_ends: tuple[float, float] | None
    y_ends: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Panel:
    """One of several small charts."""

    title: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class _Scale:
    """From values to points on the page."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        step = _step(self.high - self.low)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def _step(span: float) -> float:
    """A round step that gives four to eight ticks."""
    raw = span / 5
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)


def _scale(values: Iterable[float], start: float, end: float, around: tuple[float, ...] = ()) -> _Scale:
    listed = [value for value in (*values, *around) if abs(value) < _LARGEST] or [0.0, 1.0]
    low, high = min(listed), max(listed)
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 0.5, high + 0.5
    step = _step(high - low)
    return _Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, start, end)


def _label(
    target: Drawing | Group,
    setter: Typesetter,
    at: tuple[float, float],
    text: str,
    name: str = "axis",
    anchor: str = "start",
) -> float:
    """Write ``text`` in the fonts it needs; the width it took, in points."""
    look = LOOKS[name]
    line = single_line(text)
    short = line if len(line) <= _MAX_LABEL_CHARACTERS else f"{line[: _MAX_LABEL_CHARACTERS - 1]}…"
    drawn = list(setter.pieces(short, look))
    widths = [stringWidth(piece.text, piece.face, look.size) for piece in drawn]
    x = at[0] - {"start": 0.0, "middle": sum(widths) / 2, "end": sum(widths)}[anchor]
    for piece, width in zip(drawn, widths, strict=True):
        colour = HexColor(look.colour)
        target.add(String(x, at[1], piece.text, fontName=piece.face, fontSize=look.size, fillColor=colour))
        x += width
    return sum(widths)


def _line(target: Drawing | Group, a: tuple[float, float], b: tuple[float, float], colour: str, width: float) -> None:
    target.add(Line(*a, *b, strokeColor=HexColor(colour), strokeWidth=width))


def _colour(series: int) -> str:
    return PALETTE[series % len(PALETTE)]


def _marker(target: Drawing | Group, series: int, x: float, y: float, size: float = 3.2) -> None:
    look: dict[str, Any] = {
        "fillColor": HexColor(_colour(series)),
        "strokeColor": HexColor(PAPER),
        "strokeWidth": 0.6,
    }
    shape = (series // len(PALETTE) + series) % 6
    if shape == 0:
        target.add(Circle(x, y, size, **look))
    elif shape == 1:
        target.add(Rect(x - size, y - size, 2 * size, 2 * size, **look))
    else:
        corners = {
            2: ((-1.2, -1), (1.2, -1), (0, 1.3)),
            3: ((-1.35, 0), (0, -1.35), (1.35, 0), (0, 1.35)),
            4: ((-1.2, 1), (1.2, 1), (0, -1.3)),
            5: ((-1.2, -0.5), (-0.5, -1.2), (0, -0.7), (0.5, -1.2), (1.2, -0.5), (0.7, 0))
            + ((1.2, 0.5), (0.5, 1.2), (0, 0.7), (-0.5, 1.2), (-1.2, 0.5), (-0.7, 0)),
        }[shape]
        target.add(Polygon([part for dx, dy in corners for part in (x + dx * size, y + dy * size)], **look))


def _legend(setter: Typesetter, drawing: Drawing, names: Sequence[str], top: float) -> None:
    """Markers with names, in rows from ``top`` downwards."""
    x, y = 40.0, top
    for series, name in enumerate(names):
        width = _width(setter, name) + 26
        if x + width > TEXT_WIDTH and x > 40:
            x, y = 40.0, y - 12
        _marker(drawing, series, x + 4, y + 2.6)
        _label(drawing, setter, (x + 12, y), name, "legend")
        x += width


def _legend_height(setter: Typesetter, names: Sequence[str]) -> float:
    x, rows = 40.0, 1
    for name in names:
        width = _width(setter, name) + 26
        if x + width > TEXT_WIDTH and x > 40:
            x, rows = 40.0, rows + 1
        x += width
    return rows * 12.0 + 4


def _width(setter: Typesetter, text: str) -> float:
    look = LOOKS["legend"]
    return sum(
        stringWidth(p.text, p.face, look.size) for p in setter.pieces(single_line(text)[:_MAX_LABEL_CHARACTERS], look)
    )


def _axis_y(setter: Typesetter, drawing: Drawing, scale: _Scale, left: float, right: float, shown: _Shown) -> None:
    for tick in scale.ticks:
        y = scale(tick)
        _line(drawing, (left, y), (right, y), MUTED if abs(tick) < 1e-12 else RULE, 0.5)
        _label(drawing, setter, (left - 4, y - 2.4), shown(tick), anchor="end")


_Shown = Callable[[float], str]


def _plain(value: float) -> str:
    return number_text(round(value, 10) + 0.0, Unit.NUMBER)


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def figure_drawing(setter: Typesetter, figure: Figure) -> Drawing | None:
    """A figure of the kinds “line”, “points” and “bars”; None where it holds nothing to draw."""
    series = [one for one in figure.series if any(_known(y) for y in one.y)]
    if not series:
        return None
    names = [one.name for one in figure.series]
    below = _legend_height(setter, names) + 30
    height = 190.0 + below
    drawing = Drawing(TEXT_WIDTH, height)
    across, ticks = _across(figure, 44.0, TEXT_WIDTH - 8)
    ends = [v for one in series for v in (*one.y, *one.low, *one.high) if _known(v)]
    up = _scale(ends, below, height - 16, (0.0,) if figure.kind == "bars" else ())
    _axis_y(setter, drawing, up, 40.0, TEXT_WIDTH, _plain)
    for x, text in ticks:
        _label(drawing, setter, (x, below - 11), text, anchor="middle")
    _label(drawing, setter, (TEXT_WIDTH / 2 + 20, below - 22), figure.x_title, "axis_bold", "middle")
    _label(drawing, setter, (0, height - 9), figure.y_title, "axis_bold")
    for number, one in enumerate(figure.series):
        _draw_series(
            drawing,
            figure.kind,
            number,
            len(figure.series),
            _points(one, across, up),
            up(0) if up.low <= 0 <= up.high else below,
        )
    _legend(setter, drawing, names, below - 38)
    return drawing


@dataclass(frozen=True, slots=True)
class _Point:
    x: float
    y: float
    low: float | None
    high: float | None


def _known(value: float | None) -> TypeGuard[float]:
    return value is not None and abs(value) < _LARGEST  # false for what is no number


def _across(figure: Figure, start: float, end: float) -> tuple[Callable[[float | str], float], list[tuple[float, str]]]:
    """Where an x stands: on a scale of numbers, or in its place among words."""
    values = list(dict.fromkeys(x for one in figure.series for x in one.x))
    numbers = [float(x) for x in values if not isinstance(x, str) and abs(x) < _LARGEST]
    if figure.kind == "line" and len(numbers) == len(values):
        scale = _scale(numbers, start, end)
        shown = sorted(set(numbers)) if len(set(numbers)) <= 8 else scale.ticks
        return (lambda x: scale(float(x))), [(scale(tick), _plain(tick)) for tick in shown]
    places = {x: start + (end - start) * (n + 0.5) / len(values) for n, x in enumerate(values)}
    every = max(1, math.ceil(len(values) / _MAX_CATEGORIES * 4))
    labels = [(place, x if isinstance(x, str) else _plain(x)) for x, place in list(places.items())[::every]]
    return places.__getitem__, labels


def _points(one: Series, across: Callable[[float | str], float], up: _Scale) -> list[_Point]:
    low = [*one.low, *[None] * (len(one.y) - len(one.low))]
    high = [*one.high, *[None] * (len(one.y) - len(one.high))]
    return [
        _Point(
            across(x),
            up(y),
            up(a) if a is not None and _known(a) else None,
            up(b) if b is not None and _known(b) else None,
        )
        for x, y, a, b in zip(one.x, one.y, low, high, strict=False)
        if y is not None and _known(y)
    ]


def _draw_series(drawing: Drawing, kind: str, number: int, of: int, points: Sequence[_Point], zero: float) -> None:
    """Series stand a little apart, so that intervals at one x do not hide each other."""
    apart = (number - (of - 1) / 2) * (min(9.0, 60 / of) if kind == "bars" else min(3.0, 24 / of))
    colour = _colour(number)
    for before, after in zip(points, points[1:], strict=False):
        if kind == "line":
            _line(drawing, (before.x + apart, before.y), (after.x + apart, after.y), colour, 1.3)
    for point in points:
        x = point.x + apart
        if kind == "bars":
            width = min(8.0, 50 / of)
            low, high = min(zero, point.y), max(zero, point.y)
            drawing.add(Rect(x - width / 2, low, width, high - low, **_filled(colour)))
        _whisker(drawing, x, point, INK if kind == "bars" else colour)
        _marker(drawing, number, x, point.y, 2.4 if kind == "bars" else 3.2)


def _filled(colour: str) -> Any:
    return {"fillColor": HexColor(colour), "strokeColor": None}


def _whisker(drawing: Drawing, x: float, point: _Point, colour: str) -> None:
    if point.low is None or point.high is None:
        return
    _line(drawing, (x, point.low), (x, point.high), colour, 0.8)
    for y in (point.low, point.high):
        _line(drawing, (x - 2, y), (x + 2, y), colour, 0.8)


def interval_drawing(setter: Typesetter, bars: Sequence[Bar], unit: Unit, title: str) -> Drawing:
    """Values with their intervals, one a row, on one scale."""
    row, below = 17.0, 26.0
    height = below + row * len(bars) + 14
    drawing = Drawing(TEXT_WIDTH, height)
    ends = [v for bar in bars for v in (bar.value, bar.low, bar.high) if v is not None]
    scale = _scale(ends, 168.0, TEXT_WIDTH - 62, (0.0, 1.0) if unit is Unit.RATE else ())
    for tick in scale.ticks:
        x = scale(tick)
        _line(drawing, (x, below - 3), (x, height - 12), MUTED if abs(tick) < 1e-12 else RULE, 0.5)
        shown = _percent(tick) if unit is Unit.RATE else _plain(tick)
        _label(drawing, setter, (x, below - 12), shown, anchor="middle")
    _label(drawing, setter, ((168 + TEXT_WIDTH - 62) / 2, 2), title, "axis_bold", "middle")
    for number, bar in enumerate(bars):
        y = height - 22 - number * row
        _label(drawing, setter, (160, y - 2.4), bar.label, "legend", "end")
        if bar.low is not None and bar.high is not None:
            _line(drawing, (scale(bar.low), y), (scale(bar.high), y), _colour(bar.series), 1.6)
            for end in (bar.low, bar.high):
                _line(drawing, (scale(end), y - 3), (scale(end), y + 3), _colour(bar.series), 1.0)
        _marker(drawing, bar.series, scale(bar.value), y, 3.6)
        _label(drawing, setter, (TEXT_WIDTH, y - 2.4), number_text(bar.value, unit), "legend", "end")
    return drawing


def scatter_drawing(
    setter: Typesetter, panels: Sequence[Panel], names: Sequence[str], x_title: str, y_title: str
) -> Drawing:
    """Small charts of one rate against another, up to three a row, all on the same scales."""
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    wide, tall, gap = (TEXT_WIDTH - 14) / columns, 150.0, 18.0
    legend = _legend_height(setter, names) + 4
    height = rows * (tall + gap) + legend + 16
    drawing = Drawing(TEXT_WIDTH, height)
    ends = [v for panel in panels for dot in panel.dots for v in (dot.y, *(dot.y_ends or ()))]
    for number, panel in enumerate(panels):
        left = 14 + (number % columns) * wide
        bottom = height - (number // columns + 1) * (tall + gap) + 6
        across = _scale((0.0, 1.0), left + 34, left + wide - 8)
        up = _scale(ends, bottom + 18, bottom + tall - 14)
        _panel(setter, drawing, panel, across, up)
    _label(drawing, setter, (TEXT_WIDTH / 2, legend + 6), x_title, "axis_bold", "middle")
    turned = Group()
    turned.translate(8, legend + 16 + rows * (tall + gap) / 2)
    turned.rotate(90)
    _label(turned, setter, (0, 0), y_title, "axis_bold", "middle")
    drawing.add(turned)
    _legend(setter, drawing, names, legend - 12)
    return drawing


def _panel(setter: Typesetter, drawing: Drawing, panel: Panel, across: _Scale, up: _Scale) -> None:
    _label(drawing, setter, (across.start, up.end + 6), panel.title, "axis_bold")
    _axis_y(setter, drawing, up, across.start, across.end, _percent)
    for tick in (0.0, 0.5, 1.0):
        _line(drawing, (across(tick), up.start), (across(tick), up.end), RULE, 0.5)
        _label(drawing, setter, (across(tick), up.start - 10), _percent(tick), anchor="middle")
    for dot in panel.dots:
        x, y, colour = across(dot.x), up(dot.y), _colour(dot.series)
        if dot.x_ends:
            _line(drawing, (across(dot.x_ends[0]), y), (across(dot.x_ends[1]), y), colour, 0.8)
        if dot.y_ends:
            _line(drawing, (x, up(dot.y_ends[0])), (x, up(dot.y_ends[1])), colour, 0.8)
        _marker(drawing, dot.series, x, y)
