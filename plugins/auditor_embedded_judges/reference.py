"""A reference read once: what kind of answer it is, and what of it a right answer must state.

Invariant: a reference alone decides its kind, with the question's help for bare years and for units it leaves out;
the candidate has no say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from auditor.normalize import STOP_WORDS, fold, tokens, words
from auditor.quantity import Date, Quantity, Tolerance, read_tolerance, read_values
from auditor.unit import unit_of

__all__ = [
    "MONTHS",
    "Bounds",
    "Kind",
    "Reference",
    "canonical_word",
    "emphasised",
    "in_digits",
    "lead",
    "outer_text",
    "plain",
    "read_reference",
]


class Kind(StrEnum):
    """What a reference is."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    SENTENCE = "sentence"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What counts as the reference's number: in base units of ``dimension``, and as written where no unit stands."""

    low: Fraction
    high: Fraction
    stated_low: Fraction
    stated_high: Fraction
    dimension: str
    ratio: Fraction  # size of the unit as written, in base units

    def compatible(self, quantity: Quantity) -> bool:
        """Whether ``quantity`` could be this number at all: the same dimension, or none on one side."""
        return not self.dimension or not quantity.dimension or self.dimension == quantity.dimension

    def holds(self, quantity: Quantity) -> bool:
        """Whether ``quantity`` is this number. Units that differ in size are compared after conversion."""
        converted = self.dimension and self.dimension == quantity.dimension and quantity.stated != 0
        if converted and quantity.value / quantity.stated != self.ratio:
            return self.low <= quantity.value <= self.high
        return self.compatible(quantity) and self.stated_low <= quantity.stated <= self.stated_high


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference. ``parts``: words of each item of a list (one for most). ``literal``: quoted as a title."""

    kind: Kind
    text: str
    parts: tuple[tuple[str, ...], ...]
    literal: bool
    numbers: tuple[Bounds, ...] = ()
    dates: tuple[Date, ...] = ()


_PARENTHESES = re.compile(r"\([^()]{0,300}\)|\[[^\[\]]{0,300}\]")
_TOLERANCE_TAIL = re.compile(r"(?:±|\+/-|plus or minus).{0,80}", re.IGNORECASE)
_LIST = re.compile(r"\s*(?:;|,\s+and\s|\band\b|&|,)\s*")
_QUOTED = re.compile(r"\s*[\"'“‘*]{1,3}[^\"“”]{1,300}[\"'”’*]{1,3}[.\s]*")
_EMPHASIS = re.compile(r"\*\*([^*\n]{1,300})\*\*|__([^_\n]{1,300})__")
_FULL_STOP = re.compile(r"[.!?][\"'”’)*_]{0,6}[ \t]{0,4}\n[ \t]{0,4}\n")
_MARKUP = re.compile(r"[*_`#>]+")
_LOOSE = STOP_WORDS | frozenset(
    "about approximately approx around circa c ca roughly nearly almost over under year years total only exactly "
    "early late mid".split()
)
_SENTENCE_WORDS = 9
_UNIT_ASKED = re.compile(r"\bhow many |\bin ")
_YEAR_ASKED = re.compile(r"\b(?:year|when|date|what day|which day)\b")
_SCALE_FREE = Fraction(0)  # temperatures have an offset: always compared in base units
_WORD_VALUES = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {
    word: f"{value}"
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=1
    )
}
_ORDINAL = re.compile(r"(\d{1,6})(?:st|nd|rd|th)")
MONTHS = frozenset("january february march april may june july august september october november december".split())
_SHORT_MONTHS = {full[:length]: full for full in MONTHS for length in (3, 4) if full not in ("march", "may")}


def plain(text: str) -> str:
    """``text`` without Markdown's marks."""
    return _MARKUP.sub("", text)


def emphasised(text: str) -> tuple[str, ...]:
    """What ``text`` prints in bold: what an answer itself marks as the answer."""
    return tuple(match[1] or match[2] for match in _EMPHASIS.finditer(text))


def lead(candidate: str) -> str:
    """The paragraphs up to the first that ends a sentence."""
    end = _FULL_STOP.search(candidate)
    return candidate if end is None else candidate[: end.end()]


def canonical_word(word: str) -> str:
    """One form for ``three``, ``third``, ``3rd`` and ``3``; one for ``Sept`` and ``September``."""
    ordinal = _ORDINAL.fullmatch(word)
    if ordinal is not None:
        return ordinal[1]
    return _WORD_VALUES.get(word) or _SHORT_MONTHS.get(word) or word


def read_reference(text: str, question: str) -> Reference:
    """The reference as a thing to look for."""
    core = outer_text(text)
    literal = _QUOTED.fullmatch(text) is not None
    values = read_values(core)
    parts = tuple(tuple(map(canonical_word, part)) for part in _parts(core, literal))
    folded_question = fold(question)
    if not literal and values.dates and _only(core, [(d.start, d.end) for d in values.dates]):
        full = any(date.month is not None for date in values.dates)
        if full or _YEAR_ASKED.search(folded_question):
            return Reference(Kind.DATE, text, parts, literal, dates=values.dates)
    if not literal and values.quantities and _only(core, [(q.start, q.end) for q in values.quantities]):
        tolerance = read_tolerance(text)
        bounds = _bounds(values.quantities, tolerance, folded_question)
        return Reference(Kind.NUMBER, text, parts, literal, numbers=bounds)
    telling = [word for part in parts for word in part if word not in STOP_WORDS]
    long = len(telling) >= _SENTENCE_WORDS and not literal
    return Reference(Kind.SENTENCE if long else Kind.NAME, text, parts, literal)


@lru_cache(maxsize=16)
def in_digits(text: str) -> tuple[str, ...]:
    """Folded words of ``text``, with numbers in words as digits: ``twenty-one`` is ``21``."""
    folded, at = fold(text), 0
    parts: list[str] = []
    for quantity in read_values(text).quantities:
        if quantity.spelled and quantity.stated.denominator == 1 and quantity.start >= at:
            end = min(quantity.end, _spelled_end(folded, quantity))
            parts.extend((folded[at : quantity.start], f" {quantity.stated} "))
            at = end
    return words("".join((*parts, folded[at:])))


def _spelled_end(folded: str, quantity: Quantity) -> int:
    """Where the number ends and its unit begins."""
    unit = folded[quantity.start : quantity.end].rsplit(" ", 1)[-1]
    return quantity.end - len(unit) - 1 if quantity.dimension and unit_of(unit) is not None else quantity.end


def outer_text(reference: str) -> str:
    """The reference without its parentheses and its stated tolerance."""
    outer = reference if read_tolerance(reference) is None else _TOLERANCE_TAIL.sub(" ", reference)
    core = _PARENTHESES.sub(" ", outer)
    return core if words(core) else reference


def _parts(core: str, literal: bool) -> list[tuple[str, ...]]:
    """The items of a list; a title and a thing with commas inside a sentence are one."""
    pieces = [core] if literal else [piece for piece in _LIST.split(core) if words(piece)]
    if len(pieces) > 1 and any(not piece[:1].isupper() and not piece[:1].isdigit() for piece in pieces):
        pieces = [core]
    return [words(piece) for piece in pieces if words(piece)]


def _only(core: str, spans: list[tuple[int, int]]) -> bool:
    """Whether the spans are all that ``core`` says, but for loose words and a counted noun in lower case."""
    folded = fold(core)
    inside = {place for start, end in spans for place in range(start, end)}
    rest = [word.text for word in tokens(folded) if word.text not in _LOOSE and word.start not in inside]
    names = {word for raw in re.split(r"\s+", core) if raw[:1].isupper() for word in words(raw)}
    return len(rest) <= 3 and not names.intersection(rest)


def _asked_unit(folded_question: str) -> tuple[str, Fraction] | None:
    """Dimension and size of the unit that a question asks for: ``how many kilometres``, ``in kilojoules per mole``."""
    for match in _UNIT_ASKED.finditer(folded_question):
        asked = read_values(f"1 {folded_question[match.end() : match.end() + 40]}").quantities
        if asked and asked[0].dimension and asked[0].dimension != "temperature":  # "in November" asks for no unit
            return asked[0].dimension, asked[0].value
    return None


def _bounds(quantities: tuple[Quantity, ...], tolerance: Tolerance | None, folded_question: str) -> tuple[Bounds, ...]:
    """What each number may be. A range that does not hold the reference's own number is not believed."""
    asked = _asked_unit(folded_question)
    if tolerance is not None:
        bounds = _tolerated(quantities[0], tolerance, asked)
        if bounds.holds(quantities[0]):
            return (bounds,)
    return tuple(_exact(quantity, asked) for quantity in quantities)


def _tolerated(head: Quantity, tolerance: Tolerance, asked: tuple[str, Fraction] | None) -> Bounds:
    low, high, dimension = tolerance.low, tolerance.high, tolerance.dimension
    if dimension == "temperature":
        fahrenheit = not low <= head.stated <= high
        stated = [bound * Fraction(9, 5) + 32 if fahrenheit else bound for bound in (low, high)]
        return Bounds(low, high, stated[0], stated[1], dimension, _SCALE_FREE)
    if not dimension and asked is not None:
        return Bounds(low * asked[1], high * asked[1], low, high, asked[0], asked[1])
    ratio = head.value / head.stated if head.dimension and head.stated else Fraction(1)
    return Bounds(low, high, low / ratio, high / ratio, dimension, ratio)


def _exact(quantity: Quantity, asked: tuple[str, Fraction] | None) -> Bounds:
    """A number without a stated tolerance: to its own last digit, and to 1 % in a unit of another size."""
    value, stated, dimension = quantity.value, quantity.stated, quantity.dimension
    if not dimension and asked is not None and not quantity.ordinal:
        value, dimension = stated * asked[1], asked[0]
    half = _half_digit(stated)
    if dimension == "temperature":
        return Bounds(value - half, value + half, stated - half, stated + half, dimension, _SCALE_FREE)
    reach = abs(value) / 100
    ratio = value / stated if stated else Fraction(1)
    return Bounds(value - reach, value + reach, stated - half, stated + half, dimension, ratio)


def _half_digit(stated: Fraction) -> Fraction:
    """Half of the last digit of a large or decimal number; nothing for a small count."""
    if stated.denominator == 1:
        return Fraction(49, 100) if abs(stated) >= 100 else Fraction(0)
    digits = next((n for n in range(1, 12) if (stated * 10**n).denominator == 1), 12)
    return Fraction(49, 100 * 10**digits)
