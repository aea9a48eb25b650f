"""Figures show every point that has a value, within their box, and never by colour alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.findings import Figure, Series
from auditor_html.drawing import STYLES, Drawing, Scale, marker_path, style_of
from auditor_html.plot import draw, plot_of

_NUMBERS = st.floats(-1e9, 1e9, allow_nan=False)


def figure(*series: Series, kind: str = "line") -> Figure:
    """A figure of these series."""
    return Figure("f", "F", kind, "x", "y", series)


def drawn(made: Figure) -> Drawing:
    """Its drawing."""
    drawing = draw(plot_of(made))
    assert drawing is not None
    return drawing


def coordinates(drawing: Drawing) -> list[float]:
    """All numbers that place something."""
    shapes = [*(path.d for path in drawing.paths), *(marker.d for marker in drawing.markers)]
    return [
        *(float(number) for shape in shapes for number in re.findall(r"-?\d+\.?\d*", shape)),
        *(value for line in drawing.lines for value in (line.x1, line.y1, line.x2, line.y2)),
        *(value for label in drawing.labels for value in (label.x, label.y)),
    ]


@given(st.lists(st.tuples(_NUMBERS, _NUMBERS), min_size=1, max_size=12), st.sampled_from(["line", "points", "bars"]))
def test_everything_lies_in_the_box(points: list[tuple[float, float]], kind: str) -> None:
    """Any finite data is drawn inside the figure's own box, with every point marked."""
    xs, ys = zip(*points, strict=True)
    drawing = drawn(figure(Series("s", xs, ys, tuple(y - 1 for y in ys), tuple(y + 1 for y in ys)), kind=kind))
    assert all(-12 <= value <= max(drawing.width, drawing.height) + 12 for value in coordinates(drawing))
    assert len(drawing.markers) == len(points)


def test_names_get_a_row_each() -> None:
    """Points over names are rows with a track a series; intervals have ends."""
    low, high = (0.1, None), (0.3, None)
    drawing = drawn(
        figure(Series("one", ("a", "b"), (0.2, 0.4), low, high), Series("two", ("a",), (0.5,)), kind="points")
    )
    assert [label.text for label in drawing.labels if label.css == "name"] == ["a", "b"]
    assert sum(line.css == "whisker" for line in drawing.lines) == 3
    assert [name for name, _, _ in drawing.legend] == ["one", "two"]


def test_a_missing_value_is_no_point() -> None:
    """A gap is not drawn as 0, and no number is not drawn at all."""
    drawing = drawn(figure(Series("s", (1.0, 2.0, 3.0, 4.0), (0.5, None, float("nan"), float("inf")))))
    assert len(drawing.markers) == 1
    assert draw(plot_of(figure(Series("s", (1.0,), (None,))))) is None
    assert draw(plot_of(figure())) is None


def test_too_many_rows_are_left_to_the_table() -> None:
    """A figure that nobody could read is not drawn."""
    names = tuple(f"system {n}" for n in range(400))
    assert draw(plot_of(figure(Series("s", names, (0.5,) * 400), kind="points"))) is None


def test_series_differ_without_colour() -> None:
    """Seven series in black and white still differ in marker and in dash; 56 differ in one of the three."""
    first = [style_of(n) for n in range(7)]
    assert len({style.shape for style in first}) == 7
    assert len({style.dash for style in first}) == 7
    assert len(set(STYLES)) == 56
    assert len({marker_path(style.shape, 0, 0) for style in first}) == 7


def test_colours_stand_out_from_white() -> None:
    """Each colour has at least 3:1 against white (WCAG, graphics)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    assert all(1.05 / (luminance(style.colour) + 0.05) >= 3 for style in STYLES)


@pytest.mark.parametrize("values", [[], [0.0], [5.0, 5.0], [-4.0, 1.0], [0.0, 1.0], [1e-9, 2e-9], [-1e9, 1e9]])
def test_a_scale_holds_its_values(values: list[float]) -> None:
    """All values lie between round ticks, of which there are few."""
    scale = Scale.over(values, 0, 100)
    assert all(scale.low <= value <= scale.high for value in values)
    assert 2 <= len(scale.ticks) <= 12
