"""The one thread that waits for time: back-off, rates, deadlines.

Invariant: whoever sets a moment earlier than the thread waits for wakes it (``nudge``), so no moment is slept through.
Methods are called under the engine's lock, which the thread gives back while it waits and while it acts.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable, Mapping

from auditor.engine.call import Call
from auditor.engine.clock import Clock
from auditor.engine.lane import Lane

__all__ = ["NEVER_S", "Timer"]

NEVER_S = float("inf")


class Timer:
    """Alarms and deadlines of all lanes.

    :param give_up: told of each call past its deadline. :param advance: told of each lane on which something may go on.
    :param run_over: called once past ``run_deadline_s`` (from now).
    """

    def __init__(
        self,
        lock: threading.Lock,
        clock: Clock,
        lanes: Mapping[str, Lane],
        *,
        give_up: Callable[[Call], None],
        advance: Callable[[Lane], None],
        run_over: Callable[[], None],
        run_deadline_s: float | None,
    ) -> None:
        self._clock, self._lanes = clock, lanes
        self._give_up, self._advance, self._run_over = give_up, advance, run_over
        self._condition = threading.Condition(lock)
        self._alarms: list[tuple[float, int, Call | threading.Event]] = []
        self._order = itertools.count()
        self._wake_s = -NEVER_S
        self._deadline_s = NEVER_S if run_deadline_s is None else clock.monotonic() + run_deadline_s
        self._started = self._closed = False

    def start(self) -> None:
        """Start the thread, if it does not run yet."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._run, name="engine timer", daemon=True).start()

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._condition.notify_all()

    def nudge(self, at_s: float) -> None:
        """Make sure that the thread looks at ``at_s`` or before."""
        if at_s < self._wake_s:
            self._condition.notify()

    def set(self, at_s: float, target: Call | threading.Event) -> None:
        """At ``at_s`` queue an attempt, ahead of others, or set an event."""
        heapq.heappush(self._alarms, (at_s, next(self._order), target))
        self.nudge(at_s)

    def take_calls(self, lane: Lane | None = None) -> list[Call]:
        """Take out the attempts that sleep, of one lane or of all."""
        calls, rest = [], []
        for item in self._alarms:
            target = item[2]
            if isinstance(target, Call) and lane in (None, self._lanes[target.lane_name]):
                calls.append(target)
            else:
                rest.append(item)
        heapq.heapify(rest)
        self._alarms = rest
        return calls

    def wake_sleepers(self) -> None:
        """Set every event that waits for its time."""
        for _, _, target in self._alarms:
            if isinstance(target, threading.Event):
                target.set()
        self._alarms = [item for item in self._alarms if isinstance(item[2], Call)]
        heapq.heapify(self._alarms)

    def _run(self) -> None:
        lock = self._condition
        while True:
            with lock:
                if self._closed:
                    return
                now_s = self._clock.monotonic()
                over = now_s >= self._deadline_s
                expired, due = self._expired(now_s), self._due(now_s)
                if not (over or expired or due):
                    self._wake_s = wake_s = self._next_wake_s()
                    self._clock.wait(lock, None if wake_s == NEVER_S else max(0.0, wake_s - now_s))
                    self._wake_s = -NEVER_S
                    continue
                if over:
                    self._deadline_s = NEVER_S
            for call in expired:
                self._give_up(call)
            for lane in due:
                self._advance(lane)
            if over:
                self._run_over()

    def _expired(self, now_s: float) -> list[Call]:
        return [
            call
            for lane in self._lanes.values()
            for call in lane.flying
            if call.paused_s is None and call.elapsed_s(now_s) >= call.deadline_s
        ]

    def _due(self, now_s: float) -> list[Lane]:
        """Queue what has slept long enough; the lanes on which something may go on."""
        lanes: dict[str, Lane] = {}
        while self._alarms and self._alarms[0][0] <= now_s:
            target = heapq.heappop(self._alarms)[2]
            if isinstance(target, Call):
                lane = lanes[target.lane_name] = self._lanes[target.lane_name]
                lane.pending.appendleft(target)
            else:
                target.set()
        for lane in self._lanes.values():
            if lane.wake_s <= now_s:
                lane.wake_s = NEVER_S
                lanes[lane.name] = lane
        return list(lanes.values())

    def _next_wake_s(self) -> float:
        times_s = [self._deadline_s]
        if self._alarms:
            times_s.append(self._alarms[0][0])
        for lane in self._lanes.values():
            times_s.append(lane.wake_s)
            times_s += [c.started_s + c.excluded_s + c.deadline_s for c in lane.flying if c.paused_s is None]
        return min(times_s)
