"""Progress tells where a run stands, in few lines, and never disturbs it."""

from __future__ import annotations

import io

import pytest

from auditor.cli.progress import Bars, Lines, Quiet, duration_text, observer_for
from auditor.event import CallEnded, Event, RunEnded, RunStarted, StageEnded, StageProgress, StageStarted

EVENTS: list[Event] = [
    RunStarted("r", resumed=True),
    StageStarted("r", "ask", total=100, done=10),
    *(StageProgress("r", "ask", done, 100, failed=1, rate_per_s=10.0, remaining_s=90.0) for done in range(10, 100)),
    CallEnded("r", "ask/1", "e", 1, "", 1.0),
    StageEnded("r", "ask", done=100, total=100, failed=1),
    RunEnded("r", complete=False),
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_lines_are_few_and_say_how_far() -> None:
    """One line at the start and the end of a stage, and one every five seconds between."""
    stream, now = io.StringIO(), iter(range(1000))
    lines = Lines(stream, clock=lambda: next(now))
    for event in EVENTS:
        lines(event)
    told = stream.getvalue().splitlines()
    assert told[:2] == ["r: going on", "ask: 100 to do, 10 already done"]
    assert told[2] == "ask: 14/100, 10/s, 1:30 left, 1 failed"
    assert told[-2:] == ["ask: 100/100 done, 1 failed", "r: ended, but not complete"]
    assert len(told) == 2 + 90 // 5 + 2


def test_a_closed_stream_does_not_stop_the_run() -> None:
    """Whoever read the progress is gone; the run goes on."""
    with Lines(Closed()) as lines:
        for event in EVENTS:
            lines(event)


def test_bars_on_a_terminal() -> None:
    """A bar a stage; a stage's name from a plugin is text, not markup or an escape."""
    stream = Terminal()
    with Bars(stream) as bars:
        for event in [*EVENTS, StageStarted("r", "label:[red]x\x1b[2J[/red]", 3, 0)]:
            bars(event)
    text = stream.getvalue()
    assert "100/100" in text
    assert "[red]x\\x1b[2J[/red]" in text


def test_what_fits_the_stream() -> None:
    """Bars for a terminal, lines for anything else, silence when asked."""
    assert isinstance(observer_for(Terminal()), Bars)
    assert isinstance(observer_for(io.StringIO()), Lines)
    assert isinstance(observer_for(Terminal(), quiet=True), Quiet)
    for event in EVENTS:
        Quiet()(event)


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "?"), (0, "0:00"), (65, "1:05"), (3723, "1:02:03"), (-1, "?"), (float("inf"), "?")]
)
def test_durations(seconds: float | None, text: str) -> None:
    """Unknown is a question mark, not zero."""
    assert duration_text(seconds) == text
