"""Pairs of systems: differences of Q and of canary violations, decided in families, and the paired rates beside them.

Invariant: families are fixed by the protocol (who is grounded, which kinds of canary exist), never by results: Holm
decides, intervals hold together, and pairs with a baseline are a family of their own (METHODS §2, *Families*).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import combinations

from auditor.findings import Cell as TableCell
from auditor.findings import Column, Estimate, Table, Unit, rounded
from auditor.penalty.block import decimal_text, estimate, sign_text
from auditor.penalty.headline import (
    answered_right,
    canary_kinds,
    not_applicable,
    violations,
    volume_cells,
    volume_outcome,
)
from auditor.penalty.sample import Cell, Sample, rate_items, score_items
from auditor.question import QuestionKind
from auditor.scoring import Stratum
from auditor.statistics import (
    Difference,
    benjamini_hochberg,
    bonferroni_level,
    holm,
    mcnemar_exact,
    rate_difference,
    rate_flip,
    ratio_difference,
    score_difference,
    score_flip,
)

__all__ = [
    "Family",
    "Pair",
    "paired_rates_table",
    "pairs",
    "score_delta",
    "score_pairs_table",
    "violation_pairs_table",
    "volume_flip",
]

_DIFFERENCE = "MOVER on both intervals with the correlation of question means"


class Family(StrEnum):
    """Which tests are corrected together."""

    GROUNDED = "grounded pairs"
    BASELINE = "pairs with a baseline"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems, the earlier in the protocol first."""

    first: Sample
    second: Sample

    @property
    def family(self) -> Family:
        """Its family."""
        both = self.first.system.traits.grounded and self.second.system.traits.grounded
        return Family.GROUNDED if both else Family.BASELINE

    @property
    def key(self) -> str:
        """What the estimates of the pair are named by."""
        return f"{self.first.system.ordinal}-{self.second.system.ordinal}"

    @property
    def source(self) -> dict[str, int | str]:
        """Selector of its trials."""
        return {"system": self.first.system.ordinal, "other": self.second.system.ordinal}

    @property
    def titles(self) -> tuple[str, str]:
        """Both names, marked."""
        return self.first.system.title, self.second.system.title

    def varies(self) -> str:
        """Everything that differs between the two: the system itself, the condition's tags, the contract.

        A condition that differs in neither tag nor contract differs in its prompt alone, and is named as such.
        """
        first, second = self.first.system, self.second.system
        tags = sorted(
            tag
            for tag in {*first.condition, *second.condition}
            if first.condition.get(tag) != second.condition.get(tag)
        )
        if first.contract is not second.contract:
            tags.append("contract")
        if not tags and first.condition_name != second.condition_name:
            tags.append("prompt")
        same = first.system == second.system and first.condition_name != second.condition_name
        return ", ".join(tags if same else ["system", *tags])


def pairs(found: Sequence[Sample]) -> list[Pair]:
    """All pairs of systems."""
    return [Pair(first, second) for first, second in combinations(found, 2)]


@dataclass(frozen=True, slots=True)
class _Test:
    pair: Pair
    kind: QuestionKind | None
    difference: Difference | None
    p_value: float | None
    adjusted: float | None
    level: float


def _decide(planned: Sequence[tuple[Pair, QuestionKind | None]], compare: Sequence[Difference | None]) -> list[_Test]:
    """One family: Holm-adjusted p-values and the level at which all its intervals hold together."""
    p_values = [None if difference is None else difference.p_value() for difference in compare]
    level = bonferroni_level(len(planned))
    return [
        _Test(pair, kind, difference, p_value, adjusted, level)
        for (pair, kind), difference, p_value, adjusted in zip(planned, compare, p_values, holm(p_values), strict=True)
    ]


def score_pairs_table(found: Sequence[Sample], k: Decimal, seed: int) -> Table:
    """ΔQ at the main k of every pair."""
    columns = (
        *_PAIR_COLUMNS,
        Column("delta_q", f"ΔQ_bench, k = {decimal_text(k)} (first − second)", Unit.POINTS),
        *_TEST_COLUMNS,
        Column("flip_p", "p, whole-question sign-flip (secondary)", Unit.NUMBER),
    )
    tests = [test for family in Family for test in _score_family(found, family, k)]
    return Table("pairs_q", "Score differences", columns, tuple(_score_row(test, k, seed) for test in tests))


def _score_family(found: Sequence[Sample], family: Family, k: Decimal) -> list[_Test]:
    planned = [pair for pair in pairs(found) if pair.family is family]
    return _decide([(pair, None) for pair in planned], [score_delta(pair, k) for pair in planned])


def score_delta(pair: Pair, k: Decimal) -> Difference | None:
    """ΔQ_k on the benchmark questions that both were scored on."""
    return score_difference(score_items(pair.first.benchmark), score_items(pair.second.benchmark), k)


def _score_row(test: _Test, k: Decimal, seed: int) -> tuple[TableCell, ...]:
    pair = test.pair
    flip = score_flip(score_items(pair.first.benchmark), score_items(pair.second.benchmark), k, seed)
    return (
        *_pair_cells(pair),
        _delta(f"delta_q/{pair.key}", test, Unit.POINTS, {"stratum": str(Stratum.BENCHMARK)}),
        *_test_cells(test),
        None if flip is None else rounded(flip.p_value),
    )


_PAIR_COLUMNS = (
    Column("system", "System"),
    Column("other", "Other system"),
    Column("family", "Family"),
    Column("varies", "Varies"),
)
_TEST_COLUMNS = (
    Column("p", "p", Unit.NUMBER),
    Column("p_holm", "p, Holm", Unit.NUMBER),
    Column("decision", "Decision"),
)


def _pair_cells(pair: Pair) -> tuple[TableCell, ...]:
    return *pair.titles, str(pair.family), pair.varies()


def _test_cells(test: _Test) -> tuple[TableCell, ...]:
    return _number(test.p_value), _number(test.adjusted), sign_text(test.difference, test.adjusted)


def _number(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _delta(name: str, test: _Test, unit: Unit, stratum: dict[str, int | str]) -> Estimate:
    return estimate(
        name,
        test.difference,
        unit,
        0 if test.difference is None else test.difference.questions,
        method=_DIFFERENCE,
        source=test.pair.source | stratum,
        level=test.level,
        reason="" if test.difference is not None else "no question was scored for both",
    )


def violation_pairs_table(found: Sequence[Sample]) -> Table:
    """ΔCVR (strict) of every grounded pair on every kind of canary: one family."""
    columns = (
        *_PAIR_COLUMNS,
        Column("kind", "Kind of canary"),
        Column("delta_cvr", "Difference of violation rates (first − second)", Unit.RATE),
        *_TEST_COLUMNS,
    )
    planned = [
        (pair, kind)
        for pair in pairs([sample for sample in found if not not_applicable(sample)])
        for kind in canary_kinds(found, Stratum.CANARY)
    ]
    tests = _decide(planned, [_violation_delta(pair, kind) for pair, kind in planned])
    return Table("pairs_cvr", "Differences of canary violations", columns, tuple(map(_violation_row, tests)))


def _violation_delta(pair: Pair, kind: QuestionKind) -> Difference | None:
    """ΔCVR (strict) on the canaries of one kind that both were scored on."""
    first, second = (
        violations(sample.of(Stratum.CANARY, kind=kind), strict=True) for sample in (pair.first, pair.second)
    )
    return rate_difference(first, second)


def _violation_row(test: _Test) -> tuple[TableCell, ...]:
    pair, kind = test.pair, test.kind
    source: dict[str, int | str] = {"stratum": str(Stratum.CANARY), "kind": str(kind)}
    return (
        *_pair_cells(pair),
        str(kind).replace("_", " "),
        _delta(f"delta_cvr/{pair.key}/{kind}", test, Unit.RATE, source),
        *_test_cells(test),
    )


def paired_rates_table(found: Sequence[Sample], seed: int) -> Table:
    """Paired rates on the benchmark; exploratory, so Benjamini–Hochberg over the whole table."""
    columns = (
        *_PAIR_COLUMNS,
        Column("rate", "Rate"),
        Column("difference", "Difference (first − second)", Unit.RATE),
        Column("p", "p", Unit.NUMBER),
        Column("test", "Test"),
        Column("p_bh", "p, Benjamini–Hochberg", Unit.NUMBER),
    )
    rows = [row for pair in pairs(found) for row in _rate_rows(pair, seed)]
    corrected = benjamini_hochberg([row.p_value for row in rows])
    return Table(
        "pairs_rates",
        "Differences of rates (exploratory)",
        columns,
        tuple(
            (*_pair_cells(row.pair), row.title, row.difference, _number(row.p_value), row.test, _number(p))
            for row, p in zip(rows, corrected, strict=True)
        ),
    )


@dataclass(frozen=True, slots=True)
class _RateRow:
    pair: Pair
    title: str
    difference: Estimate
    p_value: float | None
    test: str


def _rate_rows(pair: Pair, seed: int) -> list[_RateRow]:
    return [
        _flip_row(pair, "correct", "correct / all scored", lambda cell: cell.sign == 1, seed),
        _flip_row(pair, "attempted", "attempted / all scored", lambda cell: cell.attempted, seed),
        _ratio_row(pair),
        _common_row(pair, seed),
    ]


def _flip_row(pair: Pair, name: str, title: str, test: Callable[[Cell], bool], seed: int) -> _RateRow:
    """A paired outcome: exact McNemar where every question was asked once, else a whole-cluster sign-flip."""
    first, second = (
        rate_items(sample.benchmark, lambda cell: test(cell) if cell.scored else None)
        for sample in (pair.first, pair.second)
    )
    exact = mcnemar_exact(first, second)
    flip = rate_flip(first, second, seed)
    p_value = exact if exact is not None else None if flip is None else flip.p_value
    made = _rate_delta(pair, name, rate_difference(first, second), _DIFFERENCE)
    return _RateRow(pair, title, made, p_value, "exact McNemar" if exact is not None else "sign-flip by cluster")


def _ratio_row(pair: Pair) -> _RateRow:
    """Accuracy when answering is no paired outcome: its denominators differ."""
    found = ratio_difference(*(rate_items(sample.benchmark, answered_right) for sample in (pair.first, pair.second)))
    made = _rate_delta(pair, "accuracy_when_answering", found, "MOVER on two ratio estimates", "no attempt")
    p_value = None if found is None else found.p_value()
    return _RateRow(pair, "correct when answering", made, p_value, "smallest excluding level")


def _common_row(pair: Pair, seed: int) -> _RateRow:
    """Accuracy on the trials that both attempted."""
    both = {c.place for c in pair.first.benchmark if c.attempted} & {
        c.place for c in pair.second.benchmark if c.attempted
    }
    first, second = (
        rate_items((cell for cell in sample.benchmark if cell.place in both), answered_right)
        for sample in (pair.first, pair.second)
    )
    made = _rate_delta(
        pair, "commonly_attempted", rate_difference(first, second), _DIFFERENCE, "no trial was attempted by both"
    )
    flip = rate_flip(first, second, seed)
    return _RateRow(
        pair, "correct where both answered", made, None if flip is None else flip.p_value, "sign-flip by cluster"
    )


def _rate_delta(pair: Pair, name: str, found: Difference | None, method: str, empty: str = "") -> Estimate:
    return estimate(
        f"delta_{name}/{pair.key}",
        found,
        Unit.RATE,
        0 if found is None else found.questions,
        method=method,
        source=pair.source | {"stratum": str(Stratum.BENCHMARK)},
        reason="" if found is not None else empty or "no question was scored for both",
    )


def volume_flip(pair: Pair, seed: int) -> float | None:
    """p-value of a difference in volume accuracy: sign-flip on question means."""
    first, second = (rate_items(volume_cells(sample), volume_outcome) for sample in (pair.first, pair.second))
    flip = rate_flip(first, second, seed)
    return None if flip is None else flip.p_value
