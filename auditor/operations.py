"""The operations part of findings: what it took to get the answers. Nothing here enters a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from auditor.analysis import SystemRow, TrialRow
from auditor.record import Outcome, Record
from auditor.schedule import parse_key

__all__ = ["operations"]


def operations(
    systems: Sequence[SystemRow], trials: Sequence[TrialRow], record: Record, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Latency, cost, models and retries a system, and ``facts`` of the run (seal, protocol, code)."""
    asks = [outcome for outcome in record.outcomes.values() if _is_ask(outcome)]
    labels = [outcome for outcome in record.outcomes.values() if outcome.task.startswith("label/")]
    return {
        **facts,
        "systems": [_system(system, trials, asks, record) for system in systems],
        "labels": {"calls": len(labels), "cost_usd": _total(labels), "unpriced": _unpriced(labels)},
        "resends": record.resends,
        "late_replies": record.late,
        "inherited": len(record.inherited),
        "asked_later": [system.name for system in systems if _asked_later(system.ordinal, asks, record)],
    }


def _is_ask(outcome: Outcome) -> bool:
    """A trial's own task; a port's subtask has a longer key."""
    return outcome.task.startswith("ask/") and outcome.task.count("/") == 1


def _system(system: SystemRow, trials: Sequence[TrialRow], asks: Sequence[Outcome], record: Record) -> dict[str, Any]:
    own = [outcome for outcome in asks if parse_key(outcome.task).pair == system.ordinal]
    latencies = sorted(
        trial.latency_ms for trial in trials if trial.system == system.ordinal and trial.latency_ms is not None
    )
    return {
        "name": system.name,
        "simulated": system.traits.simulated,
        "role_conflicts": list(system.role_conflicts),
        "asked": len(own),
        "attempts": sum(outcome.attempt for outcome in own),
        "models": sorted({str(outcome.body["model"]) for outcome in own if outcome.body.get("model")}),
        "latency_ms": {
            "n": len(latencies),
            "median": _quantile(latencies, Decimal("0.5")),
            "p95": _quantile(latencies, Decimal("0.95")),
        },
        "cost_usd": _total(own),
        "unpriced": _unpriced(own),
        "usage": _usage(own),
    }


def _quantile(values: Sequence[Decimal], share: Decimal) -> str | None:
    """The smallest value that at least ``share`` of the values do not exceed; None of none."""
    if not values:
        return None
    rank = max(1, -int(-(share * len(values)) // 1))
    return str(values[min(rank, len(values)) - 1])


def _total(outcomes: Sequence[Outcome]) -> str | None:
    """Sum of the known prices; None when none is known, since unknown is not zero."""
    known = [Decimal(outcome.body["cost_usd"]) for outcome in outcomes if outcome.body.get("cost_usd") is not None]
    return str(sum(known, Decimal(0))) if known else None


def _unpriced(outcomes: Sequence[Outcome]) -> int:
    return sum(1 for outcome in outcomes if outcome.fault is None and outcome.body.get("cost_usd") is None)


def _usage(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """Tokens by kind: their sum and how many replies reported them."""
    found: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        for name, count in (outcome.body.get("usage") or {}).items():
            entry = found.setdefault(name, {"sum": 0, "reported": 0})
            entry["sum"] += count
            entry["reported"] += 1
    return found


def _asked_later(system: int, asks: Sequence[Outcome], record: Record) -> bool:
    """Whether a system was asked in this run while others' answers were inherited: not interleaved with theirs."""
    if not record.inherited:
        return False
    own = [outcome for outcome in asks if parse_key(outcome.task).pair == system]
    return any(outcome.key not in record.inherited for outcome in own)
