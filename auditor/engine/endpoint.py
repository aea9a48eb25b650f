"""Endpoints: what shares one rate limit, and the pace at which it may be called.

Invariant: every endpoint is treated by the same rules; what differs between two of them is in ``EndpointLimits`` alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Endpoint", "EndpointLimits", "Pace", "Rates"]

_MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    """How an endpoint may be used. ``slots``: calls on the wire at once. ``attempts``: of one task, the first included.

    ``retry_after_cap_s``: a task whose vendor asks for a longer wait ends instead of being sent too early.
    Raises ``ValueError`` for a limit under which no call could ever be made.
    """

    slots: int = 8
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    attempts: int = 5
    deadline_s: float = 120.0
    retry_base_s: float = 1.0
    retry_cap_s: float = 60.0
    retry_after_cap_s: float = 300.0

    def __post_init__(self) -> None:
        for name in ("slots", "attempts", "deadline_s", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} is {value}; it must be above 0")
        for name in ("retry_base_s", "retry_cap_s", "retry_after_cap_s"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must not be below 0")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint by name; the name goes into intents and events."""

    name: str
    limits: EndpointLimits = field(default_factory=EndpointLimits)


class Pace:
    """An even pace of ``per_minute`` units: no window of a minute holds more than that and one unit.

    Spacing, not a bucket: a bucket lets a burst through after a quiet minute, and vendors count differently.
    """

    def __init__(self, per_minute: float) -> None:
        self._unit_s = _MINUTE_S / per_minute
        self._next_s = float("-inf")

    def delay_s(self, now_s: float) -> float:
        """Seconds until the next unit may be used; 0 when it may be used now."""
        return max(0.0, self._next_s - now_s)

    def take(self, now_s: float, units: float) -> None:
        """Use ``units`` now. More than a minute's worth is let through and paid for by those that follow."""
        self._next_s = max(self._next_s, now_s) + units * self._unit_s


class Rates:
    """The request and the token rate of an endpoint, taken together."""

    def __init__(self, limits: EndpointLimits) -> None:
        self._requests = None if limits.requests_per_minute is None else Pace(limits.requests_per_minute)
        self._tokens = None if limits.tokens_per_minute is None else Pace(limits.tokens_per_minute)

    @property
    def limited(self) -> bool:
        """Whether there is a rate at all."""
        return self._requests is not None or self._tokens is not None

    def delay_s(self, now_s: float) -> float:
        """Seconds until one more call is allowed."""
        delays_s = (pace.delay_s(now_s) for pace in (self._requests, self._tokens) if pace is not None)
        return max(delays_s, default=0.0)

    def take(self, now_s: float, tokens: int) -> None:
        """Count one call."""
        if self._requests is not None:
            self._requests.take(now_s, 1)
        if self._tokens is not None:
            self._tokens.take(now_s, tokens)
