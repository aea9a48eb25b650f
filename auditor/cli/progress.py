"""Progress of a run on standard error: bars on a terminal, a few plain lines otherwise.

Invariant: an observer only. Nothing that it does, a closed stream included, changes the run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO, TYPE_CHECKING, Protocol

from auditor.cli.text import visible
from auditor.event import Event, RunEnded, RunStarted, StageEnded, StageProgress, StageStarted

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Bars", "Lines", "Observer", "Quiet", "duration_text", "observer_for"]

_LINE_INTERVAL_S = 5.0


class Observer(Protocol):
    """A context that is called with each event."""

    def __call__(self, event: Event) -> None: ...

    def __enter__(self) -> Observer: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def observer_for(stream: IO[str] | None = None, *, quiet: bool = False) -> Observer:
    """What fits ``stream`` (standard error by default)."""
    target = sys.stderr if stream is None else stream
    if quiet:
        return Quiet()
    return Bars(target) if target.isatty() else Lines(target)


def duration_text(seconds: float | None) -> str:
    """``1:02:03``, ``4:05``, or ``?`` when unknown."""
    if seconds is None or not 0 <= seconds < 1e7:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Quiet:
    """Says nothing."""

    def __call__(self, event: Event) -> None:
        return

    def __enter__(self) -> Quiet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return


class Lines:
    """One line at the start and the end of a stage, and one every few seconds between."""

    def __init__(self, stream: IO[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._told_s: dict[str, float] = {}

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def __call__(self, event: Event) -> None:
        line = self._line(event)
        if line is None:
            return
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # nobody listens; the run goes on
            return

    def _line(self, event: Event) -> str | None:
        if isinstance(event, RunStarted):
            return f"{visible(event.run)}: {'going on' if event.resumed else 'started'}"
        if isinstance(event, StageStarted):
            self._told_s[event.stage] = self._clock()
            already = f", {event.done} already done" if event.done else ""
            return f"{visible(event.stage)}: {event.total} to do{already}"
        if isinstance(event, StageProgress):
            return self._progress(event)
        if isinstance(event, StageEnded):
            return f"{visible(event.stage)}: {event.done}/{event.total} done{_failures(event.failed)}"
        if isinstance(event, RunEnded):
            return f"{visible(event.run)}: {'complete' if event.complete else 'ended, but not complete'}"
        return None

    def _progress(self, event: StageProgress) -> str | None:
        now = self._clock()
        if now - self._told_s.get(event.stage, float("-inf")) < _LINE_INTERVAL_S:
            return None
        self._told_s[event.stage] = now
        rate = "" if event.rate_per_s is None else f", {event.rate_per_s:.3g}/s"
        left = "" if event.remaining_s is None else f", {duration_text(event.remaining_s)} left"
        return f"{visible(event.stage)}: {event.done}/{event.total}{rate}{left}{_failures(event.failed)}"


def _failures(failed: int) -> str:
    return f", {failed} failed" if failed else ""


class Bars:
    """A bar a stage, by rich."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._bars: Progress | None = None
        self._stages: dict[str, TaskID] = {}

    def __enter__(self) -> Bars:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}", markup=False),
            TextColumn("{task.fields[detail]}", markup=False),
        )
        self._bars = Progress(*columns, console=Console(file=self._stream), refresh_per_second=5)
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, event: Event) -> None:
        if self._bars is None:
            return
        if isinstance(event, (StageStarted, StageProgress, StageEnded)):
            self._update(self._bars, event)

    def _update(self, bars: Progress, event: StageStarted | StageProgress | StageEnded) -> None:
        if event.stage not in self._stages:
            self._stages[event.stage] = bars.add_task(visible(event.stage), total=event.total, detail="")
        bars.update(self._stages[event.stage], completed=event.done, total=event.total, detail=_detail(event))


def _detail(event: StageStarted | StageProgress | StageEnded) -> str:
    if isinstance(event, StageStarted):
        return ""
    failed = f"{event.failed} failed" if event.failed else ""
    if isinstance(event, StageEnded):
        return failed
    rate = "" if event.rate_per_s is None else f"{event.rate_per_s:.3g}/s"
    left = "" if event.remaining_s is None else f"{duration_text(event.remaining_s)} left"
    return ", ".join(part for part in (rate, left, failed) if part)
