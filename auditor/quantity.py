"""Numbers, units and dates in text as values that can be compared: ``1.2 million``, ``twenty-one``, ``14 June 1900``.

Invariant: values are exact fractions, never floats; a unit is only ever converted inside its own dimension; digits
inside a word (``C29H23``, ``v1.3-rc8``) are part of a name and no number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from auditor.normalize import Token, fold, tokens
from auditor.unit import PHRASES, SIGNS, UNITS, named_unit, to_base

__all__ = ["Date", "Quantity", "Tolerance", "Values", "read_tolerance", "read_values"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as a text states it. ``dimension`` is "" when no known unit stands beside it.

    ``value`` is in the base unit of its dimension, ``stated`` as written. ``start`` and ``end`` are offsets into the
    folded text.
    """

    value: Fraction
    stated: Fraction
    dimension: str
    start: int
    end: int
    ordinal: bool = False
    spelled: bool = False


@dataclass(frozen=True, slots=True)
class Date:
    """A date as far as a text states it; None is not stated."""

    year: int | None
    month: int | None
    day: int | None
    start: int
    end: int

    def agrees(self, other: Date) -> bool:
        """Whether all that this date states is stated, and equal, in ``other``."""
        mine, theirs = (self.year, self.month, self.day), (other.year, other.month, other.day)
        return all(part is None or part == their for part, their in zip(mine, theirs, strict=True))


@dataclass(frozen=True, slots=True)
class Values:
    """What one text states, each in order of place."""

    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Bounds that a reference states for its own number, in the base unit of ``dimension``."""

    low: Fraction
    high: Fraction
    dimension: str


_BEFORE_NUMBER = {"$": "dollar", "€": "euro", "£": "sterling", "₹": "rupee", "¥": "yen"}
_MAGNITUDES = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7, "dozen": 12,
    "millions": 10**6, "billions": 10**9, "mn": 10**6, "bn": 10**9,
}  # fmt: skip
_SUFFIXES = {"k": 10**3, "m": 10**6, "b": 10**9, "bn": 10**9, "mn": 10**6}  # after a sum of money only

_SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        start=1,
    )
} | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50, "sixtieth": 60, "hundredth": 100}
_PARTS = {"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifths": 5, "tenths": 10}
_MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), start=1)
    for name in names.split()
}  # fmt: skip

_NUMERAL = re.compile(
    r"(?<![\w.^])(?<!\d,)"
    r"(?P<number>\d{1,3}(?:,\d{2,3}){1,12}(?!\d)(?:\.\d{1,40})?|\d{1,40}(?:\.\d{1,40})*+)"
    r"(?P<over>/\d{1,9}(?![\d/]))?(?P<suffix>[^\W\d_]{1,12})?(?!\w)"
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
_CLOCK = re.compile(r"(?<![\w:])\d{1,2}:\d{2}(?::\d{2})?(?![\w:])")
_EXPONENT = re.compile(r"\s?(?:[x×*]|\\times)\s?10\^?(-?\d{1,3})")
_ISO = re.compile(r"(?<![\w/.-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\w/-])(?!\.\d)")
_SLASHED = re.compile(r"(?<![\w/.-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?![\w/-])(?!\.\d)")
_ORDINAL_SUFFIX = ("st", "nd", "rd", "th")
_YEARS = range(1000, 2200)
_WORD_GAP = re.compile(r"[\s-]{1,3}")
_UNIT_GAP = re.compile(r"[ \t-]{0,2}")
_PER = re.compile(r"\s?/\s?([^\W\d_]{1,12})|\sper\s([^\W\d_]{1,12})|[\s·*]{1,2}([^\W\d_]{1,12})\^?-\^?1(?![\d.])")
_DAY_GAP = re.compile(r"[\s,.*_-]{0,6}")


def _decimal(text: str) -> Fraction | None:
    """The value of a numeral; None for what is no number (``1.3.0``). ``1.234.567`` has groups of thousands."""
    if "," in text:
        return Fraction(text.replace(",", "")) if _GROUPED.fullmatch(text) else None
    parts = text.split(".")
    if len(parts) <= 2:
        return Fraction(text)
    grouped = 1 <= len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])
    return Fraction("".join(parts)) if grouped else None


class _Reader:
    """One pass over one folded text. ``taken`` marks what is a date or a time of day, so that it is no number too."""

    def __init__(self, folded: str) -> None:
        self.text = folded
        self.words = tokens(folded)
        self.at = {word.start: index for index, word in enumerate(self.words)}
        self.taken: set[int] = set()
        self.dates: list[Date] = []
        self.found: list[Quantity] = []

    def read(self) -> Values:
        self._read_numeric_dates()
        self._read_named_dates()
        self._read_numerals()
        self._read_spelled()
        self._read_years()
        self.found.sort(key=lambda quantity: quantity.start)
        self.dates.sort(key=lambda date: date.start)
        return Values(tuple(self.found), tuple(self.dates))

    def _take(self, start: int, end: int) -> None:
        self.taken.update(range(start, end))

    def _date(self, year: int | None, month: int | None, day: int | None, start: int, end: int) -> None:
        self.dates.append(Date(year, month, day, start, end))
        self._take(start, end)

    def _read_numeric_dates(self) -> None:
        for match in _ISO.finditer(self.text):
            year, month, day = int(match[1]), int(match[3]), int(match[4])
            if 1 <= month <= 12 and 1 <= day <= 31:
                self._date(year, month, day, *match.span())
        for match in _SLASHED.finditer(self.text):
            first, second, year = int(match[1]), int(match[3]), int(match[4])
            for day, month in {(first, second), (second, first)}:  # both readings of an ambiguous order
                if 1 <= month <= 12 and 1 <= day <= 31:
                    self._date(year, month, day, *match.span())
        for match in _CLOCK.finditer(self.text):
            self._take(*match.span())

    def _neighbour(self, index: int, step: int) -> Token | None:
        """The next word in direction ``step`` when only spaces, commas and marks stand between."""
        if not 0 <= index + step < len(self.words):
            return None
        first, second = sorted((self.words[index], self.words[index + step]), key=lambda word: word.start)
        return self.words[index + step] if _DAY_GAP.fullmatch(self.text[first.end : second.start]) else None

    def _read_named_dates(self) -> None:
        for index, word in enumerate(self.words):
            month = _MONTHS.get(word.text)
            if month is None:
                continue
            start, end, day = word.start, word.end, None
            before, after = self._day_before(index), self._neighbour(index, 1)
            step = 1
            if before is not None:
                day, start = before
            elif after is not None and (number := _day(after.text)) is not None:
                day, end, step = number, after.end, 2
            year = self._year_after(index, step)
            if year is not None:
                end = year[1]
            if day is not None or year is not None:
                self._date(None if year is None else year[0], month, day, start, end)
            elif word.text not in ("may", "march", "mar", "jan", "dec", "sep", "sept"):
                self._date(None, month, None, start, end)

    def _day_before(self, index: int) -> tuple[int, int] | None:
        """Day and its place before a month: ``14 June``, ``14th of June``, ``the 14th day of June``."""
        at, skipped = index, 0
        while (before := self._neighbour(at, -1)) is not None and before.text in ("of", "day") and skipped < 2:
            at, skipped = at - 1, skipped + 1
        if before is None or (day := _day(before.text)) is None:
            return None
        return day, before.start

    def _year_after(self, index: int, step: int) -> tuple[int, int] | None:
        """Year and its end after a month (``step`` 1) or after its day (``step`` 2)."""
        at = index + step - 1
        after = self._neighbour(at, 1)
        if after is not None and after.text == "of":
            at, after = at + 1, self._neighbour(at + 1, 1)
        if after is None or not (after.text.isdigit() and len(after.text) == 4 and int(after.text) in _YEARS):
            return None
        return int(after.text), after.end

    def _read_numerals(self) -> None:
        for match in _NUMERAL.finditer(self.text):
            start, end = match.span()
            if start in self.taken:
                continue
            value = _decimal(match["number"])
            if value is None:
                self._read_list(match)
                continue
            if match["over"]:
                if int(match["over"][1:]) == 0:
                    continue
                value = self._fraction(value, int(match["over"][1:]), start)
            suffix = match["suffix"] or ""
            ordinal = suffix in _ORDINAL_SUFFIX
            if suffix and not ordinal and suffix not in UNITS and suffix not in _SUFFIXES and suffix not in _MAGNITUDES:
                continue  # a name with digits in it
            self._quantity(value, start, match.end("over") if match["over"] else match.end("number"), suffix, ordinal)

    def _read_list(self, match: re.Match[str]) -> None:
        """``3,14`` and ``1,22,3``: numbers side by side; ``1.3.0`` is none."""
        at = match.start("number")
        for part in match["number"].split(","):
            if "." not in part:
                self.found.append(Quantity(Fraction(part), Fraction(part), "", at, at + len(part)))
            at += len(part) + 1

    def _fraction(self, top: Fraction, bottom: int, start: int) -> Fraction:
        """``2 1/2`` is two and a half."""
        last = self.found[-1] if self.found else None
        if last is not None and last.end + 1 == start and last.value.denominator == 1 and not last.dimension:
            self.found.pop()
            return last.value + top / bottom
        return top / bottom

    def _quantity(
        self, value: Fraction, start: int, end: int, suffix: str, ordinal: bool, spelled: bool = False
    ) -> None:
        sign = self.text[start - 1 : start]
        if sign == "-" and not self.text[start - 2 : start - 1].strip(" (\n\t:=*"):
            value, start, sign = -value, start - 1, self.text[start - 2 : start - 1]
        money = _BEFORE_NUMBER.get(sign, "")
        if suffix and not ordinal:
            end += len(suffix)
            if suffix in _MAGNITUDES or (money and suffix in _SUFFIXES):
                value, suffix = value * (_MAGNITUDES.get(suffix) or _SUFFIXES[suffix]), ""
        elif ordinal:
            end += 0 if spelled else 2
        exponent = _EXPONENT.match(self.text, end)
        if exponent is not None and not suffix:
            self._take(end, exponent.end())
            value, end = value * Fraction(10) ** int(exponent[1]), exponent.end()
        value, end = self._magnitudes(value, end)
        dimension, factor, end = self._unit(suffix, end, money)
        self.found.append(Quantity(to_base(value, dimension, factor), value, dimension, start, end, ordinal, spelled))

    def _magnitudes(self, value: Fraction, end: int) -> tuple[Fraction, int]:
        """``1.2 million``; money also ``$3 bn``."""
        for _ in range(2):
            gap = _WORD_GAP.match(self.text, end)
            index = self.at.get(gap.end()) if gap else None
            if index is None or self.words[index].text not in _MAGNITUDES:
                break
            value, end = value * _MAGNITUDES[self.words[index].text], self.words[index].end
        return value, end

    def _unit(self, suffix: str, end: int, money: str) -> tuple[str, Fraction, int]:
        """Dimension and factor of the unit that stands after a number, and where it ends."""
        if money:
            return money, Fraction(1), end
        if suffix in UNITS:
            return *UNITS[suffix], end
        gap = _UNIT_GAP.match(self.text, end)
        at = end if gap is None else gap.end()
        ahead = self.text[at : at + 24]
        for phrase, unit in PHRASES.items():
            if ahead.startswith(phrase) and not ahead[len(phrase) : len(phrase) + 1].isalnum():
                return *named_unit(unit), at + len(phrase)
        for length in (4, 3, 2, 1):  # signs and compounds that are no single word: °c, km/h, m^2, %
            if ahead[:length] in SIGNS and not ahead[length : length + 1].isalnum():
                return *named_unit(ahead[:length]), at + length
        index = self.at.get(at)
        if index is None or self.words[index].text not in UNITS or (word := self.words[index]).text in ("t", "v", "w"):
            return "", Fraction(1), end
        dimension, factor = UNITS[word.text]
        return self._per(dimension, factor, word.end)

    def _per(self, dimension: str, factor: Fraction, end: int) -> tuple[str, Fraction, int]:
        """``kj/mol``, ``kj per mole``: a dimension of its own."""
        per = _PER.match(self.text, end)
        if per is None:
            return dimension, factor, end
        return f"{dimension}/{(per[1] or per[2] or per[3])[:3]}", factor, per.end()

    def _read_spelled(self) -> None:
        index = 0
        while index < len(self.words):
            index = self._spelled(index)

    def _spelled(self, index: int) -> int:
        """Read one number in words that begins at ``index``; return where to go on."""
        start, end, total, current, seen, ordinal = self.words[index].start, 0, 0, 0, False, False
        at = index
        while at < len(self.words) and not ordinal and (at == index or self._joined(at)):
            word = self.words[at].text
            if word in _SMALL or word in _TENS:
                if seen and not _continues(current, word):
                    break
                current, seen = current + (_SMALL.get(word) or _TENS.get(word) or 0), True
            elif word == "hundred" and seen:
                current *= 100
            elif word in _MAGNITUDES and seen and word != "dozen":
                total, current = total + current * _MAGNITUDES[word], 0
            elif word in _ORDINALS and (not seen or (current % 10 == 0 and _ORDINALS[word] < 10)):
                current, seen, ordinal = current + _ORDINALS[word], True, True
            elif not (
                word == "and" and seen and current % 100 == 0 and current + total > 0 and self._number_at(at + 1)
            ):
                break
            end, at = self.words[at].end, at + 1
        if not seen:
            return index + 1
        value = Fraction(total + current)
        if at < len(self.words) and self.words[at].text in _PARTS and self._joined(at) and 0 < value < 20:
            value, end, at, ordinal = value / _PARTS[self.words[at].text], self.words[at].end, at + 1, False
        if start not in self.taken:
            self._quantity(value, start, end, "", ordinal, spelled=True)
        return at

    def _number_at(self, at: int) -> bool:
        return at < len(self.words) and (self.words[at].text in _SMALL or self.words[at].text in _TENS)

    def _joined(self, at: int) -> bool:
        """Whether only a space or a hyphen stands before word ``at``."""
        return _WORD_GAP.fullmatch(self.text[self.words[at - 1].end : self.words[at].start]) is not None

    def _read_years(self) -> None:
        """A bare number that may be a year is also a date."""
        for quantity in self.found:
            whole = quantity.stated.denominator == 1 and not quantity.dimension and not quantity.ordinal
            text = self.text[quantity.start : quantity.end]
            if whole and not quantity.spelled and len(text) == 4 and text.isdigit() and int(text) in _YEARS:
                self.dates.append(Date(int(text), None, None, quantity.start, quantity.end))


def _day(word: str) -> int | None:
    """Day of the month in ``14``, ``14th`` or ``fourteenth``."""
    if word in _ORDINALS and _ORDINALS[word] <= 31:
        return _ORDINALS[word]
    digits = word[:-2] if word.endswith(_ORDINAL_SUFFIX) else word
    return (
        int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 2 and 1 <= int(digits) <= 31 else None
    )


def _continues(current: int, word: str) -> bool:
    """Whether ``word`` may follow within one number: ``twenty one``, ``two hundred five``, but not ``two five``."""
    if word in _TENS:
        return current % 100 == 0
    return current % 100 == 0 or (current % 10 == 0 and 20 <= current % 100 and 0 < _SMALL[word] < 10)


@lru_cache(maxsize=64)
def read_values(text: str) -> Values:
    """Numbers and dates of ``text``. Offsets are into ``fold(text)``."""
    values = _Reader(fold(text)).read()
    return Values(
        tuple(
            Quantity(q.value, q.stated, q.dimension.split("°")[0], q.start, q.end, q.ordinal, q.spelled)
            for q in values.quantities
        ),
        values.dates,
    )


_RANGE = re.compile(r"\b(?:between|from)\s|\brange\b|\btolerance\b|\bwithin\b|\bplus or minus\b|±|\+/-", re.IGNORECASE)
_PLUS_MINUS = re.compile(r"±|\+/-|plus or minus|within|tolerance", re.IGNORECASE)


def read_tolerance(reference: str) -> Tolerance | None:
    """The bounds that a reference states: ``172 (acceptable range: anything between 170 and 174)``, ``172 ± 2``.

    None when it states none. A bound without a unit has the unit of the number it bounds.
    """
    mark = _RANGE.search(reference)
    if mark is None:
        return None
    inside = read_values(reference[mark.start() :]).quantities
    before = read_values(reference[: mark.start()]).quantities
    if _PLUS_MINUS.match(reference, mark.start()):
        return _around(before[0], inside[0]) if before and inside else None
    if len(inside) < 2:
        return None
    dimension = inside[1].dimension or inside[0].dimension or (before[0].dimension if before else "")
    source = next((q for q in (inside[1], inside[0], *before[:1]) if q.dimension), None)
    low, high = sorted(_in_unit_of(q, source) for q in inside[:2])
    return Tolerance(low, high, dimension)


def _in_unit_of(quantity: Quantity, other: Quantity | None) -> Fraction:
    """``quantity`` in base units, a missing unit being that of ``other``."""
    if quantity.dimension or other is None or other.stated == 0:
        return quantity.value
    if other.dimension == "temperature":
        return quantity.value if other.value == other.stated else (quantity.value - 32) * Fraction(5, 9)
    return quantity.value * (other.value / other.stated)


def _around(centre: Quantity, width: Quantity) -> Tolerance:
    if width.dimension == "share" and centre.dimension != "share":
        reach = abs(centre.value) * width.value / 100
    elif centre.dimension == "temperature":
        reach = abs(width.stated) * (1 if centre.value == centre.stated else Fraction(5, 9))
    else:
        reach = abs(_in_unit_of(width, centre))
    return Tolerance(centre.value - reach, centre.value + reach, centre.dimension)
