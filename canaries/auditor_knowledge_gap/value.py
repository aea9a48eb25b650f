"""Numbers, measures and dates as the prover compares them: in any format, and generously.

Invariant: whatever a reader could take for the same value is equal here; units are converted, a unit that is not
stated could be any, a part of a date that is not stated could be any, and signs are left aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from auditor.normalize import fold
from auditor.quantity import Date, Quantity, read_values

__all__ = ["Values", "values"]

_TOLERANCE = Fraction(1, 50)
_SURE_PARTS = 2
_SURE_DIGITS = 3
_PREFIXES = frozenset(Fraction(10) ** power for power in (-6, -3, 3, 6))
_WORD_BEHIND = re.compile(r"[ \t-]{0,2}[^\W\d_]")
_CENTURIES, _YEARS_OF_CENTURY = range(10, 22), range(10, 100)
# Seconds in what calendars call a month: 30 days to 31, so that "13 weeks" is near to "three months".
_MONTH_S = Fraction(2_629_746)


@dataclass(frozen=True, slots=True)
class Values:
    """All values of one text. ``measures``: by dimension, in base units; ``numbers``: as stated, whatever the unit."""

    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    measures: Mapping[str, frozenset[Fraction]]
    numbers: frozenset[Fraction]
    bare: frozenset[Fraction]  # those with no word behind them: in a table the unit stands in the head

    def __bool__(self) -> bool:
        return bool(self.quantities or self.dates)

    def all_in(self, other: Values) -> bool:
        """Whether each value stands in ``other`` too, in any format. False when there is none."""
        return (
            bool(self) and all(map(other._has, self.quantities)) and other._has_dates(self.dates, month_suffices=False)
        )

    def near(self, other: Values) -> bool:
        """Whether each value stands in ``other`` when units are left aside, or rounded by at most two per cent.

        One precise number is enough: "over four hundred (412)" is near to 412.
        """
        precise = [q.stated for q in self.quantities if _significant_digits(q.stated) >= _SURE_DIGITS]
        if any(number in other.numbers for number in precise):
            return True
        return (
            bool(self)
            and all(map(other._is_near, self.quantities))
            and other._has_dates(self.dates, month_suffices=True)
        )

    def _has(self, wanted: Quantity) -> bool:
        if not wanted.dimension:
            return wanted.stated in self.numbers or wanted.value in self.numbers
        return wanted.value in self.measures.get(wanted.dimension, ()) or wanted.stated in self.bare

    def _is_near(self, wanted: Quantity) -> bool:
        if not self.numbers.isdisjoint({wanted.stated, wanted.value, *_as_share(wanted)}):
            return True
        if any(_is_other_prefix(wanted, quantity) for quantity in self.quantities):
            return True
        dimension, value = _measure(wanted.dimension, wanted.value)
        return any(
            abs(value - _measure(name, stated)[1]) <= _TOLERANCE * abs(value)
            for name, every in self.measures.items()
            if _measure(name, Fraction(0))[0] == dimension
            for stated in every
        )

    def _has_dates(self, wanted: tuple[Date, ...], *, month_suffices: bool) -> bool:
        """Whether each date is here; dates read from one place (06.11.2025) are readings of one date."""
        readings: dict[int, list[Date]] = {}
        for date in wanted:
            readings.setdefault(date.start, []).append(date)
        return all(any(self._has_date(date, month_suffices) for date in dates) for dates in readings.values())

    def _has_date(self, wanted: Date, month_suffices: bool) -> bool:
        return any(_agree(wanted, date, month_suffices) for date in self.dates) or _year_alone(wanted) in self.numbers


def values(text: str) -> Values:
    """All values of ``text``."""
    folded = fold(text)
    read = read_values(text)
    stated_as = tuple(replace(q, value=abs(q.value), stated=abs(q.stated)) for q in read.quantities)
    quantities = tuple(_with_spelled_years(stated_as))
    measures: dict[str, set[Fraction]] = {}
    for quantity in quantities:
        if quantity.dimension:
            measures.setdefault(quantity.dimension, set()).add(quantity.value)
    years = {Fraction(date.year) for date in read.dates if date.year is not None}
    every = (*stated_as, *quantities)
    stated = {quantity.stated for quantity in every} | {q.value for q in every if not q.dimension}
    bare = {q.stated for q in quantities if not q.dimension and not _WORD_BEHIND.match(folded, q.end)}
    frozen = {dimension: frozenset(every) for dimension, every in measures.items()}
    return Values(quantities, read.dates, frozen, frozenset(stated | years), frozenset(bare))


def _with_spelled_years(quantities: tuple[Quantity, ...]) -> Iterator[Quantity]:
    """``quantities``, and before each pair that is a year in words (``nineteen eighty-seven``) that year instead."""
    skip = False
    for first, second in pairwise((*quantities, None)):
        if skip or first is None:
            skip = False
        elif second is not None and _is_spelled_year(first, second):
            year, skip = first.value * 100 + second.value, True
            yield replace(first, value=year, stated=year, end=second.end)
        else:
            yield first


def _is_spelled_year(first: Quantity, second: Quantity) -> bool:
    side_by_side = first.spelled and second.spelled and second.start - first.end == 1
    return side_by_side and first.value in _CENTURIES and second.value in _YEARS_OF_CENTURY


def _as_share(quantity: Quantity) -> tuple[Fraction, ...]:
    """Two fifths are 40 %, and the other way round."""
    if quantity.dimension == "share":
        return (quantity.stated / 100,)
    return (quantity.stated * 100,) if not quantity.dimension and 0 < quantity.stated < 1 else ()


def _is_other_prefix(left: Quantity, right: Quantity) -> bool:
    """Whether two could differ by the prefix of a unit that no table knows: 1,413 µS, 1.413 mS."""
    if (left.dimension and right.dimension) or not left.stated:
        return False
    return abs(right.stated / left.stated) in _PREFIXES and _significant_digits(left.stated) >= _SURE_DIGITS


def _significant_digits(number: Fraction) -> int:
    """How many digits a decimal fraction has between its first and last that are not 0."""
    return len(format(Decimal(number.numerator) / Decimal(number.denominator), "f").replace(".", "").strip("-0"))


def _measure(dimension: str, value: Fraction) -> tuple[str, Fraction]:
    """Months as seconds; every other dimension as it is."""
    return ("time", value * _MONTH_S) if dimension == "month" else (dimension, value)


def _agree(left: Date, right: Date, month_suffices: bool) -> bool:
    """Whether two dates could be one: equal in all that both state, which is two parts, or a month that suffices."""
    pairs = [(left.year, right.year), (left.month, right.month), (left.day, right.day)]
    shared = [(mine, theirs) for mine, theirs in pairs if mine is not None and theirs is not None]
    stated = sum(mine is not None for mine, _ in pairs)
    enough = len(shared) >= min(stated, _SURE_PARTS) or (month_suffices and pairs[1] in shared)
    return enough and all(mine == theirs for mine, theirs in shared)


def _year_alone(date: Date) -> Fraction | None:
    """The year of a date that states nothing else."""
    return Fraction(date.year) if date.year is not None and date.month is None and date.day is None else None
