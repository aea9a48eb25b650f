"""How scores and orders depend on what nobody can know: the price of a wrong answer, and how many questions have none.

Invariant: every order is shown for every penalty of the sweep; a mixed score is never shown without its canary share.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from auditor.findings import Cell as TableCell
from auditor.findings import Column, Estimate, Figure, Series, Table, Unit, rounded
from auditor.penalty.block import crossing_cells, decimal_text, estimate, missing, percent
from auditor.penalty.headline import (
    Q_METHOD,
    canary_kinds,
    not_applicable,
    q_bench,
    violated,
    volume_cells,
    volume_outcome,
)
from auditor.penalty.pair import Pair, pairs, score_delta, volume_flip
from auditor.penalty.sample import Cell, Sample, rate_items, score_items
from auditor.question import QuestionKind
from auditor.scoring import Stratum
from auditor.statistics import (
    Crossing,
    Difference,
    Item,
    Score,
    answer_threshold,
    critical_value,
    holm,
    mixed_score,
    penalty_crossing,
    rank_sets,
    ranks,
    rate,
    rate_difference,
    same_order_share,
    score_of,
    share_crossing,
)

__all__ = [
    "mixed_crossings_table",
    "mixed_table",
    "order_share",
    "penalties",
    "penalty_crossings_table",
    "ranks_table",
    "repeats_table",
    "sweep_figure",
    "sweep_table",
]

_SHARES = tuple(Decimal(share) for share in ("0", "0.01", "0.02", "0.05", "0.1", "0.2", "0.3", "0.5"))
_FIELLER = "Fieller, clustered by source"


def penalties(k: Decimal, sweep: Sequence[Decimal]) -> tuple[Decimal, ...]:
    """The penalties that are shown: the sweep and the main one, in order."""
    return tuple(sorted({k, *sweep}))


def sweep_table(found: Sequence[Sample], shown: Sequence[Decimal]) -> Table:
    """Q_bench of every system at every penalty, with the threshold that each penalty sets."""
    columns = (
        Column("system", "System"),
        Column("k", "k", Unit.NUMBER),
        Column("threshold", "Answering pays from", Unit.RATE),
        Column("q_bench", "Q_bench", Unit.POINTS),
    )
    rows = tuple(
        (sample.system.title, rounded(float(k)), rounded(float(answer_threshold(k))), q_bench(sample, k))
        for sample in found
        for k in shown
    )
    return Table("sweep", "Score by penalty", columns, rows)


def sweep_figure(found: Sequence[Sample], shown: Sequence[Decimal]) -> Figure:
    """The sweep as lines."""
    series = tuple(_line(sample.system.title, shown, [q_bench(sample, k) for k in shown]) for sample in found)
    return Figure("sweep", "Score by penalty", "line", "k", "Q_bench", series)


def _line(name: str, x: Sequence[Decimal], y: Sequence[Estimate]) -> Series:
    return Series(
        name,
        tuple(rounded(float(value)) for value in x),
        tuple(found.value for found in y),
        tuple(found.low for found in y),
        tuple(found.high for found in y),
    )


def penalty_crossings_table(found: Sequence[Sample]) -> Table:
    """The penalty at which each pair changes places."""
    columns = (
        Column("system", "System"),
        Column("other", "Other system"),
        Column("crossing", "Equal Q_bench at k =", Unit.NUMBER),
    )
    rows = tuple((*pair.titles, _penalty_crossing(pair)) for pair in pairs(found))
    return Table("crossings_k", "Where the order turns as the penalty grows", columns, rows)


def _penalty_crossing(pair: Pair) -> Estimate:
    first, second = score_items(pair.first.benchmark), score_items(pair.second.benchmark)
    shared = {item.question for item in first} & {item.question for item in second}
    source = pair.source | {"stratum": str(Stratum.BENCHMARK)}
    return crossing_cells(
        f"crossing_k/{pair.key}", penalty_crossing(first, second), len(shared), _FIELLER, source, Unit.NUMBER
    )


def mixed_table(found: Sequence[Sample], k: Decimal, share: Decimal) -> Table:
    """Q_mixed by canary share, each kind of canary apart: at the declared share and along a sweep."""
    columns = (
        Column("system", "System"),
        Column("kind", "Kind of canary"),
        Column("share", "Canary share s", Unit.RATE),
        Column("q_mixed", f"Q_mixed, k = {decimal_text(k)}", Unit.POINTS),
    )
    rows = tuple(
        (sample.system.title, kind.replace("_", " "), rounded(float(s)), _mixed(sample, kind, k, s))
        for sample in found
        for kind in canary_kinds(found, Stratum.CANARY)
        for s in sorted({share, *_SHARES})
    )
    return Table("mixed", f"Mixed score (declared canary share {percent(Fraction(share))})", columns, rows)


def _mixed(sample: Sample, kind: QuestionKind, k: Decimal, share: Decimal) -> Estimate:
    name = f"q_mixed/{sample.system.ordinal}/{kind}/{decimal_text(share)}"
    source = {"system": sample.system.ordinal} | _both_strata(kind)
    reason = not_applicable(sample)
    bench = score_of(score_items(sample.benchmark), k)
    canary = rate(_penalised(sample, kind))
    if reason or bench is None or canary is None:
        return missing(name, Unit.POINTS, reason or "no scored trial in one of the strata", source)
    found = mixed_score(bench, canary, share)
    method = "(1 − s)·Q_bench − s·k·CVR; MOVER on independent strata"
    return estimate(name, found, Unit.POINTS, bench.trials + canary.trials, method=method, source=source)


def _both_strata(kind: QuestionKind) -> dict[str, int | str]:
    """Selector of the canaries of one kind and of the benchmark beside them."""
    return {"stratum": str(Stratum.CANARY), "kind": str(kind), "beside": str(Stratum.BENCHMARK)}


def _penalised(sample: Sample, kind: QuestionKind) -> list[Item]:
    """Canary trials that cost k: attempts, but a fictitious thing may be denied for nothing."""
    strict = kind is not QuestionKind.FICTITIOUS

    def outcome(cell: Cell) -> bool | None:
        return violated(cell, strict) if cell.scored else None

    return rate_items(sample.of(Stratum.CANARY, kind=kind), outcome)


def mixed_crossings_table(found: Sequence[Sample], k: Decimal) -> Table:
    """The canary share at which each grounded pair changes places."""
    columns = (
        Column("system", "System"),
        Column("other", "Other system"),
        Column("kind", "Kind of canary"),
        Column("crossing", "Equal Q_mixed at s =", Unit.RATE),
    )
    rows = tuple(
        (*pair.titles, kind.replace("_", " "), _mixed_crossing(pair, kind, k))
        for pair in pairs([sample for sample in found if not not_applicable(sample)])
        for kind in canary_kinds(found, Stratum.CANARY)
    )
    return Table("crossings_s", "Where the order turns as canaries become more common", columns, rows)


def _mixed_crossing(pair: Pair, kind: QuestionKind, k: Decimal) -> Estimate:
    bench = score_delta(pair, k)
    canary = rate_difference(_penalised(pair.first, kind), _penalised(pair.second, kind))
    name, source = f"crossing_s/{pair.key}/{kind}", pair.source | _both_strata(kind)
    if bench is None or canary is None:
        return missing(name, Unit.RATE, "no question was scored for both in one of the strata", source)
    found = _share_crossing(bench, canary, float(k))
    return crossing_cells(name, found, bench.questions + canary.questions, _FIELLER, source, Unit.RATE)


def _share_crossing(bench: Difference, canary: Difference, k: float) -> Crossing:
    clusters = min(bench.clusters, canary.clusters)
    if clusters < 2:
        return share_crossing(float(bench.value), float(canary.value), k)
    critical = critical_value(0.95, clusters)
    variances = (_variance(bench, critical), _variance(canary, critical))
    return share_crossing(float(bench.value), float(canary.value), k, variances, critical)


def _variance(difference: Difference, critical: float) -> float:
    """Variance that the interval's half-width implies."""
    found = difference.interval()
    return 0.0 if found is None else ((found.high - found.low) / (2 * critical)) ** 2


def ranks_table(found: Sequence[Sample], shown: Sequence[Decimal], seed: int) -> Table:
    """Rank under volume accuracy and under each Q_k, with the ranks that corrected pairs leave open."""
    columns = (
        Column("system", "System"),
        Column("order", "Order by"),
        Column("rank", "Rank", Unit.COUNT),
        Column("best", "Best rank", Unit.COUNT),
        Column("worst", "Worst rank", Unit.COUNT),
    )
    rows = [_volume_ranks(found, seed), *(_score_ranks(found, k) for k in shown)]
    return Table("ranks", "Ranks", columns, tuple(row for group in rows for row in group))


def _volume_ranks(found: Sequence[Sample], seed: int) -> list[tuple[TableCell, ...]]:
    rates = [rate(rate_items(volume_cells(sample), volume_outcome)) for sample in found]
    values = [None if one is None else one.value for one in rates]
    p_values = [volume_flip(pair, seed) for pair in pairs(found)]
    return _rank_rows(found, "volume accuracy", values, p_values)


def _score_ranks(found: Sequence[Sample], k: Decimal) -> list[tuple[TableCell, ...]]:
    scores = [score_of(score_items(sample.benchmark), k) for sample in found]
    values = [None if one is None else one.value for one in scores]
    deltas = [score_delta(pair, k) for pair in pairs(found)]
    p_values = [None if delta is None else delta.p_value() for delta in deltas]
    return _rank_rows(found, f"Q_bench, k = {decimal_text(k)}", values, p_values)


def _rank_rows(
    found: Sequence[Sample], title: str, values: Sequence[Fraction | None], p_values: Sequence[float | None]
) -> list[tuple[TableCell, ...]]:
    """One order. All its pairs are one family, so that the rank sets hold together."""
    places = [(i, j) for i in range(len(found)) for j in range(i + 1, len(found))]
    sets = rank_sets(values, dict(zip(places, holm(p_values), strict=True)))
    return [
        (sample.system.title, title, rank, *((None, None) if open_ranks is None else open_ranks))
        for sample, rank, open_ranks in zip(found, ranks(values), sets, strict=True)
    ]


def repeats_table(found: Sequence[Sample], k: Decimal, repeats: int) -> Table:
    """How much repeats differ: outcomes that change, and whether the order of one repeat is that of the others."""
    columns = (
        Column("system", "System"),
        Column("questions", "Questions with repeats", Unit.COUNT),
        Column("changed", "Outcome changes between repeats", Unit.COUNT),
        *(Column(f"q_{r}", f"Q_bench in repeat {r + 1}", Unit.POINTS) for r in range(repeats)),
    )
    numbers = sorted({cell.repeat for sample in found for cell in sample.cells})
    rows = tuple(_repeat_row(sample, k, numbers[:repeats], repeats) for sample in found)
    return Table("repeats", "Agreement of repeats (not evidence of an order)", columns, rows)


def _repeat_row(sample: Sample, k: Decimal, numbers: Sequence[int], repeats: int) -> tuple[TableCell, ...]:
    groups: dict[tuple[int, str], list[str]] = {}
    for cell in sample.cells:
        if cell.scored:
            groups.setdefault((cell.question, cell.form), []).append(str(cell.state))
    several = [states for states in groups.values() if len(states) > 1]
    scores = [_repeat_estimate(sample, k, number, r) for r, number in enumerate(numbers)]
    cells = [*scores, *[None] * (repeats - len(scores))]
    return sample.system.title, len(several), sum(len(set(states)) > 1 for states in several), *cells


def _repeat_estimate(sample: Sample, k: Decimal, repeat: int, place: int) -> Estimate:
    found = _repeat_score(sample, k, repeat)
    source: dict[str, int | str] = {
        "system": sample.system.ordinal,
        "stratum": str(Stratum.BENCHMARK),
        "repeat": repeat,
    }
    n = 0 if found is None else found.trials
    return estimate(f"q_repeat/{sample.system.ordinal}/{place}", found, Unit.POINTS, n, method=Q_METHOD, source=source)


def _repeat_score(sample: Sample, k: Decimal, repeat: int) -> Score | None:
    return score_of(score_items(cell for cell in sample.benchmark if cell.repeat == repeat), k)


def order_share(found: Sequence[Sample], k: Decimal) -> tuple[int, int] | None:
    """How many repeats order the systems as the first one does, and of how many."""
    numbers = sorted({cell.repeat for sample in found for cell in sample.cells})
    scores = [[_repeat_score(sample, k, number) for sample in found] for number in numbers]
    share = same_order_share([[None if one is None else one.value for one in row] for row in scores])
    return None if share is None else (int(share * len(numbers)), len(numbers))
