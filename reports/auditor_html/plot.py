"""From a figure's data to a drawing: lines over a number, points against points, or intervals on a row for each name.

Pure. A value that is missing or no number is left out of the drawing; the table beside it says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from auditor.findings import Figure, Series, Unit
from auditor_html.drawing import Drawing, Label, Line, Marker, Path, Scale, marker_path, style_of
from auditor_html.number import number_text
from auditor_html.text import clip, shown

__all__ = ["Plot", "PlotSeries", "Point", "draw", "plot_of"]

_WIDTH, _HEIGHT = 520.0, 330.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 16.0, 14.0, 48.0
_NAME_CHARACTERS = 60
_TRACK, _ROW_HEAD, _ROW_GAP = 15.0, 22.0, 12.0
_MOST_ROWS = 60  # beyond this a drawing says less than its table
_TICK_ROOM = 30.0
_FEW_X = 8  # as many distinct x are ticks of their own


@dataclass(frozen=True, slots=True)
class Point:
    """One point with the ends of its intervals; ``x`` is a name on a row of its own, or a number."""

    x: float | str
    y: float
    low: float | None = None
    high: float | None = None
    x_low: float | None = None
    x_high: float | None = None


@dataclass(frozen=True, slots=True)
class PlotSeries:
    """Points of one series; ``joined`` by a line."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """What is to be drawn. Units say how ticks are written."""

    title: str
    kind: str
    x_title: str
    y_title: str
    series: tuple[PlotSeries, ...]
    x_unit: Unit = Unit.NUMBER
    y_unit: Unit = Unit.NUMBER


def plot_of(figure: Figure, y_unit: Unit = Unit.NUMBER) -> Plot:
    """A figure of the findings."""
    series = tuple(PlotSeries(shown(one.name), tuple(_points(one))) for one in figure.series)
    return Plot(
        shown(figure.title), figure.kind, shown(figure.x_title), shown(figure.y_title), series, Unit.NUMBER, y_unit
    )


def _points(series: Series) -> Iterator[Point]:
    for x, y, low, high in zip_longest(series.x, series.y, series.low, series.high):
        height = _finite(y)
        if x is not None and height is not None and (isinstance(x, str) or math.isfinite(x)):
            yield Point(shown(x) if isinstance(x, str) else float(x), height, _finite(low), _finite(high))


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def draw(plot: Plot) -> Drawing | None:
    """The drawing; None where there is nothing to draw, or too much for one to be read."""
    points = [point for series in plot.series for point in series.points]
    if not points:
        return None
    if plot.kind == "bars" or any(isinstance(point.x, str) for point in points):
        return _rows(plot)
    return _plane(plot)


def _rows(plot: Plot) -> Drawing | None:
    """A row for each name, a track for each series on it: point and interval along a common scale."""
    names = list(dict.fromkeys(_row_name(point) for series in plot.series for point in series.points))
    if len(names) > _MOST_ROWS:
        return None
    row = _ROW_HEAD + _TRACK * len(plot.series) + _ROW_GAP
    height = _TOP + row * len(names) + _BOTTOM
    bars = plot.kind == "bars"
    scale = Scale.over([*_values(plot), *([0.0] if bars else [])], _RIGHT + 4, _WIDTH - _RIGHT - 8)
    drawing = Drawing(_WIDTH, round(height, 1), _description(plot))
    _vertical_grid(drawing, scale, plot.y_unit, plot.y_title, _TOP, height - _BOTTOM)
    for number, name in enumerate(names):
        top = _TOP + row * number
        drawing.labels.append(Label(_RIGHT, round(top + 14, 1), _short(name), css="name"))
        for track, series in enumerate(plot.series):
            y = round(top + _ROW_HEAD + _TRACK * (track + 0.5), 1)
            for point in series.points:
                if _row_name(point) == name:
                    _on_track(drawing, plot, track, scale, point, y, bars)
    _legend(drawing, plot)
    return drawing


def _row_name(point: Point) -> str:
    return point.x if isinstance(point.x, str) else number_text(point.x, Unit.NUMBER)


def _on_track(drawing: Drawing, plot: Plot, series: int, scale: Scale, point: Point, y: float, bars: bool) -> None:
    style, x = style_of(series), scale.at(point.y)
    if bars:
        zero = scale.at(0.0)
        drawing.paths.append(Path(f"M{zero} {y - 4}H{x}V{y + 4}H{zero}Z", style.colour, filled=True))
    if point.low is not None and point.high is not None:
        low, high = scale.at(point.low), scale.at(point.high)
        drawing.lines.append(Line(low, y, high, y, "whisker", style.colour))
        drawing.lines += [Line(end, y - 4, end, y + 4, "whisker", style.colour) for end in (low, high)]
    drawing.markers.append(_marker(series, x, y, _said(plot, series, point)))


def _plane(plot: Plot) -> Drawing:
    """Points over numbers, joined where the kind is a line."""
    drawing = Drawing(_WIDTH, _HEIGHT, _description(plot))
    bottom = _HEIGHT - _BOTTOM
    xs = [
        float(value) for s in plot.series for p in s.points for value in (p.x, p.x_low, p.x_high) if value is not None
    ]
    x_scale = _padded(Scale.over(xs, _LEFT, _WIDTH - _RIGHT), xs if plot.kind == "line" else ())
    y_scale = Scale.over(_values(plot), bottom, _TOP)
    _vertical_grid(drawing, x_scale, plot.x_unit, plot.x_title, _TOP, bottom, lines=False)
    _horizontal_grid(drawing, y_scale, plot.y_unit, plot.y_title)
    for number, series in enumerate(plot.series):
        dodge = (number - (len(plot.series) - 1) / 2) * min(5.0, 24 / len(plot.series)) if plot.kind == "line" else 0.0
        _on_plane(drawing, plot, number, series, (x_scale, y_scale), dodge)
    _legend(drawing, plot)
    return drawing


def _padded(scale: Scale, xs: Sequence[float]) -> Scale:
    """Room at both ends, for markers and for whiskers that stand beside each other; few distinct ``xs`` are ticks."""
    distinct = tuple(sorted(set(xs)))
    ticks = distinct if 1 < len(distinct) <= _FEW_X else scale.ticks
    low, high = min(ticks), max(ticks)
    pad = max((high - low) * 0.05, 1e-12)
    return Scale(low - pad, high + pad, scale.start, scale.end, ticks)


def _on_plane(
    drawing: Drawing, plot: Plot, number: int, series: PlotSeries, scales: tuple[Scale, Scale], dodge: float
) -> None:
    style, (x_scale, y_scale) = style_of(number), scales
    places = []
    for point in series.points:
        x, y = round(x_scale.at(float(point.x)) + dodge, 2), y_scale.at(point.y)
        places.append(f"{x} {y}")
        if point.low is not None and point.high is not None:
            low, high = y_scale.at(point.low), y_scale.at(point.high)
            drawing.lines.append(Line(x, low, x, high, "whisker", style.colour))
        if point.x_low is not None and point.x_high is not None:
            drawing.lines.append(Line(x_scale.at(point.x_low), y, x_scale.at(point.x_high), y, "whisker", style.colour))
        drawing.markers.append(_marker(number, x, y, _said(plot, number, point)))
    if plot.kind == "line" and len(places) > 1:
        drawing.paths.append(Path("M" + "L".join(places), style.colour, style.dash))


def _values(plot: Plot) -> list[float]:
    points = [point for series in plot.series for point in series.points]
    return [value for point in points for value in (point.y, point.low, point.high) if value is not None]


def _vertical_grid(
    drawing: Drawing, scale: Scale, unit: Unit, title: str, top: float, bottom: float, lines: bool = True
) -> None:
    free = -_TICK_ROOM
    for tick in scale.ticks:
        x = scale.at(tick)
        if lines:
            drawing.lines.append(Line(x, top, x, bottom, "zero" if tick == 0 else "grid"))
        if x >= free:
            drawing.labels.append(Label(x, bottom + 17, _tick(tick, unit), "middle"))
            free = x + _TICK_ROOM
    drawing.lines.append(Line(scale.start, bottom, scale.end, bottom, "axis"))
    drawing.labels.append(Label((scale.start + scale.end) / 2, bottom + 38, _short(title), "middle", "axis-title"))


def _horizontal_grid(drawing: Drawing, scale: Scale, unit: Unit, title: str) -> None:
    for tick in scale.ticks:
        y = scale.at(tick)
        drawing.lines.append(Line(_LEFT, y, _WIDTH - _RIGHT, y, "zero" if tick == 0 else "grid"))
        drawing.labels.append(Label(_LEFT - 7, round(y + 4, 1), _tick(tick, unit), "end"))
    middle = round((scale.start + scale.end) / 2, 1)
    drawing.labels.append(Label(14, middle, _short(title), "middle", "axis-title", turned=True))


def _tick(value: float, unit: Unit) -> str:
    if unit is Unit.RATE:
        return f"{100 * value:.4g} %".replace("-", "\N{MINUS SIGN}")
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")


def _marker(series: int, x: float, y: float, title: str) -> Marker:
    style = style_of(series)
    return Marker(marker_path(style.shape, x, y), style.colour, style.shape in ("ring", "cross", "plus"), title)


def _legend(drawing: Drawing, plot: Plot) -> None:
    if len(plot.series) > 1 or plot.kind == "line":
        for number, series in enumerate(plot.series):
            drawing.legend.append((series.name, _marker(number, 17, 8, ""), style_of(number).dash))


def _said(plot: Plot, series: int, point: Point) -> str:
    x = point.x if isinstance(point.x, str) else number_text(point.x, plot.x_unit)
    ends = ""
    if point.low is not None and point.high is not None:
        ends = f" [{number_text(point.low, plot.y_unit)}, {number_text(point.high, plot.y_unit)}]"
    return f"{plot.series[series].name}, {x}: {number_text(point.y, plot.y_unit)}{ends}"


def _short(text: str) -> str:
    kept, left = clip(text, _NAME_CHARACTERS)
    return f"{kept}…" if left else kept


def _description(plot: Plot) -> str:
    return f"{plot.title}: {plot.y_title} by {plot.x_title}, {len(plot.series)} series. The data is in the table below."
