"""Time as the engine sees it: injected, so that a wait of an hour is a test of a millisecond.

Invariant: the engine waits for time in one place only, its timer thread, through ``Clock.wait``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

__all__ = ["Clock", "FakeClock", "SystemClock"]


class Clock(Protocol):
    """A monotonic clock, a calendar, and a way to wait."""

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""

    def now(self) -> datetime:
        """The time of day, in UTC."""

    def wait(self, condition: threading.Condition, timeout_s: float | None) -> None:
        """Wait on ``condition``, whose lock the caller holds, until notified or ``timeout_s`` is over; may return
        early.
        """


class SystemClock:
    """The machine's clock."""

    def monotonic(self) -> float:
        """Seconds of ``time.perf_counter``."""
        return time.perf_counter()

    def now(self) -> datetime:
        """The machine's time in UTC."""
        return datetime.now(UTC)

    def wait(self, condition: threading.Condition, timeout_s: float | None) -> None:
        """``condition.wait`` in real seconds."""
        condition.wait(timeout_s)


class FakeClock:
    """A clock for tests: stands still, and jumps to the next moment that somebody waits for.

    With ``auto`` (the default) it jumps after ``quiet_s`` real seconds in which nobody notified the waiter; without, it
    moves by ``advance`` alone. ``waits`` holds each jump in seconds. While ``busy()`` it does not jump by itself.
    """

    def __init__(
        self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC), *, auto: bool = True, quiet_s: float = 0.02
    ) -> None:
        self._start, self._auto, self._quiet_s = start, auto, quiet_s
        self._elapsed_s = 0.0
        self._mutex = threading.Lock()
        self._waiting: list[threading.Condition] = []
        self.waits: list[float] = []
        self.busy: Callable[[], bool] = lambda: False

    def monotonic(self) -> float:
        """Seconds since the clock was made, as moved so far."""
        return self._elapsed_s

    def now(self) -> datetime:
        """``start`` plus the seconds moved so far."""
        return self._start + timedelta(seconds=self._elapsed_s)

    def wait(self, condition: threading.Condition, timeout_s: float | None) -> None:
        """Wait for a notification; left alone, jump by ``timeout_s``."""
        if timeout_s is not None and timeout_s <= 0:
            return
        if not self._auto or timeout_s is None:
            with self._mutex:
                self._waiting.append(condition)
            condition.wait(0.05)
            with self._mutex:
                self._waiting.remove(condition)
            return
        before_s = self._elapsed_s
        if not condition.wait(self._quiet_s) and self._elapsed_s == before_s and not self.busy():
            self._move(timeout_s)

    def advance(self, seconds: float) -> None:
        """Move the clock and wake all who wait on it."""
        self._move(seconds)
        with self._mutex:
            waiting = list(self._waiting)
        for condition in waiting:
            with condition:
                condition.notify_all()

    def _move(self, seconds: float) -> None:
        with self._mutex:
            self._elapsed_s += seconds
            self.waits.append(seconds)
