"""What a run may cost.

Invariant: an unknown price is counted as unknown, never as nothing (DESIGN §4, rule 10).
"""

from __future__ import annotations

import threading
from decimal import Decimal

__all__ = ["Budget"]


class Budget:
    """A cap on the known cost of all calls. Thread-safe.

    ``spent_usd`` starts with what the ledger already holds. Calls in flight when the cap is reached are let end, so the
    cap can be passed by what they cost; no call begins after it.
    """

    def __init__(self, max_usd: Decimal | None = None, *, spent_usd: Decimal = Decimal(0)) -> None:
        self.max_usd = max_usd
        self._spent_usd = spent_usd
        self._unknown = 0
        self._lock = threading.Lock()

    @property
    def spent_usd(self) -> Decimal:
        """Sum of the known costs."""
        return self._spent_usd

    @property
    def unknown(self) -> int:
        """How many calls had no known cost."""
        return self._unknown

    @property
    def exhausted(self) -> bool:
        """Whether no further call may begin."""
        return self.max_usd is not None and self._spent_usd >= self.max_usd

    def add(self, cost_usd: Decimal | None) -> None:
        """Count one call."""
        with self._lock:
            if cost_usd is None:
                self._unknown += 1
            else:
                self._spent_usd += cost_usd
