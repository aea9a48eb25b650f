"""The tasks of one stage, or of one call, and what became of each so far.

Invariant: each task is ended or unasked exactly once, under its own key, whatever the order in which calls end.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import Any

from auditor.engine.task import Ended

__all__ = ["Batch"]


class Batch:
    """Written by worker threads without a lock (each step is atomic), read by the thread that waits."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.ended: dict[str, Ended[Any]] = {}
        self.unasked: dict[str, str] = {}
        self.failed = 0
        self._open = [None] * total
        self._signal: SimpleQueue[None] = SimpleQueue()

    @property
    def done(self) -> int:
        """How many tasks ended."""
        return len(self.ended)

    @property
    def finished(self) -> bool:
        """Whether nothing is left open."""
        return not self._open

    def end(self, ended: Ended[Any]) -> None:
        """Keep how a task ended."""
        self.ended[ended.key] = ended
        if ended.report is not None:
            self.failed += 1  # shown as progress only
        self._close_one()

    def skip(self, key: str, reason: str) -> None:
        """Keep that a task is not asked."""
        self.unasked[key] = reason
        self._close_one()

    def wake(self) -> None:
        """Let the waiting thread look."""
        self._signal.put(None)

    def wait(self, timeout_s: float | None) -> bool:
        """Wait for the end, at most ``timeout_s``; signals interrupt it. Returns whether all is finished."""
        if not self.finished:
            try:
                self._signal.get(timeout=timeout_s)
            except Empty:
                pass
        return self.finished

    def _close_one(self) -> None:
        self._open.pop()
        if not self._open:
            self.wake()
