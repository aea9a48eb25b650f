"""The trials without a score: how many, why, and what they might have changed.

Invariant: every cell of the schedule is in the table of states, once (DESIGN §4, rule 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from auditor.analysis import TrialState
from auditor.findings import Cell as TableCell
from auditor.findings import Column, Estimate, Table, Unit, rounded
from auditor.penalty.block import decimal_text, estimate, missing, with_interval
from auditor.penalty.headline import Q_METHOD, q_bench
from auditor.penalty.pair import pairs
from auditor.penalty.sample import Cell, Sample, asked_items, score_items
from auditor.scoring import Stratum
from auditor.statistics import bounds_lead, score_bounds, score_of, tipping_share

__all__ = [
    "excluded_table",
    "lead_by_bounds",
    "reasons_table",
    "states_table",
    "tipping_table",
]

_STRATA = (Stratum.BENCHMARK, Stratum.CANARY, Stratum.CLAIMED, Stratum.COUNTERFACTUAL)


def states_table(found: Sequence[Sample]) -> Table:
    """n by state, of every system and stratum."""
    columns = (
        Column("system", "System"),
        Column("stratum", "Stratum"),
        Column("asked", "Planned", Unit.COUNT),
        Column("scored", "Scored", Unit.COUNT),
        Column("questions", "Questions scored", Unit.COUNT),
        Column("clusters", "Clusters scored", Unit.COUNT),
        *(Column(str(state), str(state).replace("_", " ").capitalize(), Unit.COUNT) for state in TrialState),
    )
    rows = tuple(_state_row(sample, stratum) for sample in found for stratum in _STRATA if sample.of(stratum))
    return Table("states", "Trials by state", columns, rows)


def _state_row(sample: Sample, stratum: Stratum) -> tuple[TableCell, ...]:
    cells = sample.of(stratum)
    scored = [cell for cell in cells if cell.scored]
    counts = Counter(cell.state for cell in cells)
    return (
        sample.system.title,
        str(stratum),
        len(cells),
        len(scored),
        len({cell.question for cell in scored}),
        len({cell.cluster for cell in scored}),
        *(counts[state] for state in TrialState),
    )


def reasons_table(found: Sequence[Sample]) -> Table:
    """Why trials were not scored."""
    columns = (
        Column("system", "System"),
        Column("state", "State"),
        Column("reason", "Reason"),
        Column("trials", "Trials", Unit.COUNT),
    )
    rows = []
    for sample in found:
        counts = Counter((str(c.state), c.detail) for c in sample.of(*_STRATA) if not c.scored)
        rows += [(sample.system.title, state, why, n) for (state, why), n in sorted(counts.items())]
    return Table("exclusion_reasons", "Why trials were not scored", columns, tuple(rows))


def _excluded_share(sample: Sample, stratum: Stratum) -> Fraction | None:
    """Share of planned trials of a stratum that have no score; None when none was planned."""
    cells = sample.of(stratum)
    return Fraction(sum(not cell.scored for cell in cells), len(cells)) if cells else None


def lead_by_bounds(found: Sequence[Sample]) -> bool:
    """Whether bounds become the headline, by either stratum of it."""
    by_stratum = [[_excluded_share(s, stratum) for s in found] for stratum in (Stratum.BENCHMARK, Stratum.CANARY)]
    return any(bounds_lead([share for share in shares if share is not None]) for shares in by_stratum)


def excluded_table(found: Sequence[Sample], k: Decimal) -> Table:
    """Q_bench as scored, between its bounds, with empty replies as 0, and on what every system was scored on."""
    columns = (
        Column("system", "System"),
        Column("excluded", "Not scored (benchmark)", Unit.COUNT),
        Column("share", "Share not scored", Unit.RATE),
        Column("scored", f"Q_bench, k = {decimal_text(k)}, scored trials", Unit.POINTS),
        Column("bounds", "Worst to best case", Unit.POINTS),
        Column("all_asked", "Empty, blocked and truncated as 0", Unit.POINTS),
        Column("common", "Trials scored for all systems", Unit.POINTS),
    )
    shared = _shared_places(found)
    rows = tuple(_excluded_row(sample, k, shared) for sample in found)
    return Table("exclusions", "What the trials without a score might change", columns, rows)


def _shared_places(found: Sequence[Sample]) -> frozenset[tuple[int, str, int]]:
    places = [frozenset(cell.place for cell in sample.benchmark if cell.scored) for sample in found]
    return frozenset.intersection(*places) if places else frozenset()


def _excluded_row(sample: Sample, k: Decimal, shared: frozenset[tuple[int, str, int]]) -> tuple[TableCell, ...]:
    cells = sample.benchmark
    return (
        sample.system.title,
        sum(not cell.scored for cell in cells),
        _share(sample),
        q_bench(sample, k),
        _bounds(sample, k),
        _variant(sample, k, "all_asked", cells, nothing_is_zero=True),
        _variant(sample, k, "common", [cell for cell in cells if cell.place in shared]),
    )


def _share(sample: Sample) -> Estimate:
    share = _excluded_share(sample, Stratum.BENCHMARK)
    name = f"not_scored/{sample.system.ordinal}"
    if share is None:
        return missing(name, Unit.RATE, "no trial was planned", _source(sample))
    reason = "no interval: describes these trials"
    bare = missing(name, Unit.RATE, reason, _source(sample), len(sample.benchmark))
    return replace(bare, value=rounded(float(share)), estimand="these trials", method="not scored / planned")


def _bounds(sample: Sample, k: Decimal) -> Estimate:
    name, source = f"q_bounds/{sample.system.ordinal}", _source(sample)
    limits = score_bounds(asked_items(sample.benchmark), k)
    observed = score_of(score_items(sample.benchmark), k)
    if limits is None or observed is None:
        return missing(name, Unit.POINTS, "no scored trial", source)
    method = "lower limit of the worst case to upper limit of the best"
    made = estimate(name, observed, Unit.POINTS, len(sample.benchmark), method=method, source=source)
    return with_interval(replace(made, low=None, high=None), limits.interval())


def _variant(
    sample: Sample, k: Decimal, name: str, cells: Sequence[Cell], *, nothing_is_zero: bool = False
) -> Estimate:
    asked = asked_items(cells, nothing_is_zero=nothing_is_zero)
    items = [item for item in (one.observed() for one in asked) if item is not None]
    n = sum(item.trials for item in items)
    return estimate(
        f"q_{name}/{sample.system.ordinal}",
        score_of(items, k),
        Unit.POINTS,
        n,
        method=Q_METHOD,
        source=_source(sample),
    )


def _source(sample: Sample) -> dict[str, int | str]:
    return {"system": sample.system.ordinal, "stratum": str(Stratum.BENCHMARK)}


def tipping_table(found: Sequence[Sample], k: Decimal) -> Table:
    """How far the unscored trials must go against the leader of a pair for its order to turn."""
    columns = (
        Column("system", "System"),
        Column("other", "Other system"),
        Column("excluded", "Not scored in both", Unit.COUNT),
        Column("tipping", "Share of the way to the worst case that turns the order", Unit.RATE),
        Column("reading", "Reading"),
    )
    rows = []
    for pair in pairs(found):
        first, second = asked_items(pair.first.benchmark), asked_items(pair.second.benchmark)
        missed = sum(item.excluded for item in (*first, *second))
        share = tipping_share(first, second, k) if first and second and missed else None
        rows.append((*pair.titles, missed, None if share is None else rounded(float(share)), _reading(missed, share)))
    return Table("tipping", f"Tipping points of the order, k = {decimal_text(k)}", columns, tuple(rows))


def _reading(missed: int, share: Fraction | None) -> str:
    if not missed:
        return "every trial was scored"
    if share is None:
        return "no outcome of them turns the order"
    return "the order is open" if share == 0 else "the order can turn"
