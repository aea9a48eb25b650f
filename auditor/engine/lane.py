"""The queue of one endpoint: which attempt may be recorded as intended, which may go on the wire.

Invariants (all methods are called under the engine's lock):
- an attempt goes ``pending`` → intent handed to the ledger (``submitted``) → committed (``ready``) → on the wire;
- at most ``limit`` intents wait beyond the calls on the wire, and with a rate none waits: slot and rate are had first;
- at most ``limit`` calls hold a slot, and ``limit`` is never above the configured slots.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque

from auditor.engine.call import Call
from auditor.engine.endpoint import Endpoint, Rates
from auditor.errors import FaultReport

__all__ = ["Lane", "Waiter"]

_NEVER = float("inf")
# Calls that wait in a port gave their slot back, so others may start; this bounds how many threads that can take.
_OPEN_PER_SLOT = 2
# Calls that return at once are bound by the interpreter, which runs one thread at a time.
_QUICK_CREW = 2
_YOUNG_S = 0.001


class Waiter:
    """A thread that waits for a slot. ``paced``: for a new call, so rates apply to it and a stop refuses it."""

    __slots__ = ("event", "granted", "paced", "tokens")

    def __init__(self, *, paced: bool, tokens: int = 0) -> None:
        self.event = threading.Event()
        self.granted = False
        self.paced, self.tokens = paced, tokens


class Lane:
    """State of one endpoint."""

    def __init__(self, endpoint: Endpoint, lock: threading.Lock) -> None:
        self.name, self.limits = endpoint.name, endpoint.limits
        self.limit = endpoint.limits.slots
        self.pending: deque[Call] = deque()
        self.ready: deque[Call] = deque()
        self.waiters: deque[Waiter] = deque()
        self.flying: dict[Call, None] = {}
        self.submitted = self.slots_used = self.abandoned = 0
        self.stop_reason = ""
        self.stop_report: FaultReport | None = None
        self.hold_until_s = -_NEVER
        self.wake_s = _NEVER
        self.condition = threading.Condition(lock)
        self.idle = self.hired = 0
        self.waking = self.quick = False
        # Intents keep the rate, so that few of them wait; and calls keep it, since a slow disk bunches intents.
        self._intent_rates, self._wire_rates = Rates(endpoint.limits), Rates(endpoint.limits)
        self.rated = self._wire_rates.limited
        self._calm = 0
        self._eased_s = -_NEVER

    @property
    def room(self) -> bool:
        """Whether one more call may hold a slot."""
        return self.slots_used < self.limit

    @property
    def busy(self) -> bool:
        """Whether a slot is held, or an intent is on its way to the disk."""
        return self.slots_used > 0 or self.submitted > len(self.ready)

    @property
    def may_start(self) -> bool:
        """Whether an attempt with a committed intent may go on the wire, time aside."""
        return bool(self.ready) and self.room and len(self.flying) < _OPEN_PER_SLOT * self.limits.slots

    @property
    def runs_low(self) -> bool:
        """Whether less than half of the intents that may wait do so; else they ride with the next outcome."""
        return 2 * self.submitted <= self.limit

    def refill(self, now_s: float) -> list[Call]:
        """Attempts whose intents are to be handed to the ledger now; later ones set ``wake_s``."""
        calls: list[Call] = []
        if self.stop_reason or not self.pending or self._held(now_s):
            return calls
        while self.pending and self._window_open():
            if self.rated:
                if self._delayed(self._intent_rates, now_s):
                    break
                self._intent_rates.take(now_s, self.pending[0].task.tokens)
            self.submitted += 1
            calls.append(self.pending.popleft())
        return calls

    def take(self, now_s: float) -> Call | None:
        """The next attempt to go on the wire, with its slot; None when there is none or it must wait."""
        if not self.ready or self.stop_reason or not self.may_start or self._held(now_s):
            return None
        if self.rated:
            if self._delayed(self._wire_rates, now_s):
                return None
            self._wire_rates.take(now_s, self.ready[0].task.tokens)
        call = self.ready.popleft()
        self.submitted -= 1
        self.start(call, now_s)
        return call

    def start(self, call: Call, now_s: float) -> None:
        """Put an attempt on the wire. A nested one has its slot already."""
        call.started_s = now_s
        if not call.holds_slot:
            self.slots_used += 1
            call.holds_slot = True
        self.flying[call] = None

    def finish(self, call: Call) -> None:
        """Take an attempt off the wire."""
        self.flying.pop(call, None)
        self.give_back(call)

    def give_back(self, call: Call) -> None:
        """Free the slot that an attempt holds, if it holds one."""
        if call.holds_slot:
            call.holds_slot = False
            self.slots_used -= 1

    def grant(self, now_s: float) -> None:
        """Hand free slots to waiting threads, first those that come back from a port."""
        while self.waiters and self.room:
            waiter = self.waiters[0]
            if waiter.paced:
                if self._held(now_s) or self._delayed(self._intent_rates, now_s):
                    return
                if self._delayed(self._wire_rates, now_s):
                    return
                self._intent_rates.take(now_s, waiter.tokens)
                self._wire_rates.take(now_s, waiter.tokens)
            self.waiters.popleft()
            self.slots_used += 1
            waiter.granted = True
            waiter.event.set()

    def ease(self, call: Call, now_s: float, stated_s: float | None) -> None:
        """After a 429: halve the concurrency, once for all calls that were on the wire; hold as long as was asked."""
        self._calm = 0
        if call.started_s >= self._eased_s:
            self._eased_s = now_s
            self.limit = max(1, self.limit // 2)
        if stated_s is not None:
            self.hold_until_s = max(self.hold_until_s, now_s + min(stated_s, self.limits.retry_after_cap_s))
            self.look_again(self.hold_until_s)

    def recover(self) -> None:
        """After a success: one slot more for each ``limit`` successes in a row."""
        if self.limit < self.limits.slots:
            self._calm += 1
            if self._calm >= self.limit:
                self._calm = 0
                self.limit += 1

    def stop(self, reason: str, report: FaultReport | None) -> list[Call]:
        """Call this endpoint no more. Returns the attempts that were waiting; threads about to call are refused."""
        self.stop_reason, self.stop_report = reason, report
        dropped = self.drop()
        for waiter in [waiter for waiter in self.waiters if waiter.paced]:
            self.waiters.remove(waiter)
            waiter.event.set()
        return dropped

    def drop(self) -> list[Call]:
        """Take out the attempts that wait."""
        dropped = [*self.ready, *self.pending]
        self.submitted -= len(self.ready)
        self.ready.clear()
        self.pending.clear()
        return dropped

    def crew_is_full(self, now_s: float) -> bool:
        """Whether as many threads as can make quick calls side by side are doing so; those that take longer than
        quick calls do are not counted.
        """
        young = itertools.islice(reversed(self.flying), _QUICK_CREW)
        return sum(call.started_s > now_s - _YOUNG_S for call in young) >= _QUICK_CREW

    def look_again(self, at_s: float) -> None:
        """Have the timer see to this lane at ``at_s``, or before."""
        self.wake_s = min(self.wake_s, at_s)

    def _window_open(self) -> bool:
        if not self.rated:
            return self.submitted < self.limit
        if self.waiters or self.slots_used + self.submitted >= self.limit:
            return False
        return len(self.flying) + self.submitted < _OPEN_PER_SLOT * self.limits.slots

    def _held(self, now_s: float) -> bool:
        if now_s < self.hold_until_s:
            self.look_again(self.hold_until_s)
            return True
        return False

    def _delayed(self, rates: Rates, now_s: float) -> bool:
        delay_s = rates.delay_s(now_s)
        if delay_s > 0:
            self.look_again(now_s + delay_s)
        return delay_s > 0
