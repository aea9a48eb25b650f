"""Readers: what the retrieved passages say to the question, and how much speaks for it.

A way of reading is one class here or in a module beside. The extractive reader quotes: it has no memory of its own.
Invariant: evidence lies in 0 … 1 and is rounded before anything is compared with it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

from auditor_local.expectation import Expected, expected, holds
from auditor_local.term import content_terms, term_set, terms
from auditor_local.unit import Unit

__all__ = ["Extractive", "Measure", "Passage", "Reading", "term_weights"]

_EVIDENCE_DIGITS = 3
# What a term of the question counts for that stands in the sentence beside; in the unit or above it, it counts in full.
_BESIDE = 0.45
_WRONG_KIND, _NOTHING_NEW, _BARE_HEADING, _OTHER_NUMBER = 0.8, 0.3, 0.75, 0.7
_JOINED, _MAX_JOINED = 0.95, 300  # characters
_NAMED = re.compile(r"\b(?:[^\W\d_a-z][\w'’-]*|\w*\d\w*(?:[.,]\d+)*)")
_OPEN_ENDS = frozenset("is are was were be at to of by with for the a an and or".split())
_POINTING = frozenset("it its they their them this these that those he she his her such both".split())


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as it is indexed, with the units that begin in it."""

    document: str
    title: str
    text: str
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer, the share of the question that speaks for it, and the place it was read from."""

    text: str
    evidence: Decimal
    document: str
    quote: str


class Measure(Enum):
    """What counts as evidence.

    ``COVERAGE``: how much of the question the unit and its surroundings cover. ``SUPPORT``: how much of it the quote
    itself says, under its headings; every name and number of the question has to be there, and a thing of the kind
    that is asked for.
    """

    COVERAGE = "coverage"
    SUPPORT = "support"


def term_weights(passages: Sequence[Passage]) -> Mapping[str, float]:
    """How telling a term is: ln(1 + (N − n + ½)/(n + ½)) for n of N passages, as in BM25."""
    counts: dict[str, int] = {}
    for passage in passages:
        for term in set(terms(passage.text)):
            counts[term] = counts.get(term, 0) + 1
    return {term: _weight(len(passages), count) for term, count in counts.items()}


def _weight(passages: int, count: int) -> float:
    return math.log(1 + (passages - count + 0.5) / (count + 0.5))


@dataclass(frozen=True, slots=True)
class _Question:
    terms: frozenset[str]
    weights: Mapping[str, float]
    names: frozenset[str]
    kind: Expected

    @property
    def numbers(self) -> frozenset[str]:
        """Names with a digit: a year, a version, a model. With another one it is another thing."""
        return frozenset(name for name in self.names if any(character.isdigit() for character in name))

    @property
    def total(self) -> float:
        return math.fsum(self.weights.values())

    def weight(self, said: frozenset[str]) -> float:
        """The weight of the question's terms that are among these."""
        return math.fsum(weight for term, weight in self.weights.items() if term in said)


@dataclass(frozen=True, slots=True)
class _Place:
    """One unit in its passage; ``before`` is the unit that a reader has just read."""

    passage: Passage
    unit: Unit
    before: Unit | None
    after: Unit | None
    joined: bool = False  # two sentences in one


class Extractive:
    """Answers with the unit that covers most of the question, weighted by how telling its terms are.

    Two sentences that follow each other are read as one unit too. Evidence = covered weight / whole weight; a term
    counts in full in the unit or a heading above, less in the sentence beside. A unit without the kind of thing asked
    for, that says nothing new, or that lacks a number of the question counts less.
    """

    def __init__(self, weights: Mapping[str, float], passages: int) -> None:
        self._weights = weights
        self._unseen = _weight(passages, 0)

    def read(self, question: str, passages: Sequence[Passage], measure: Measure = Measure.COVERAGE) -> Reading | None:
        """The best answer that the passages hold, in the order of retrieval; None when there is nothing to read.

        Equal evidence goes to the passage retrieved first, then to the unit that comes first.
        """
        asked = self._asked(question)
        places = list(_places(passages))
        if not places:
            return None
        evidence = [_weighed(place, asked, _MEASURES[measure]) for place in places]
        best = max(range(len(places)), key=lambda i: (evidence[i], -i))
        place = places[best]
        return Reading(_answer(place, asked), evidence[best], place.passage.document, place.unit.text)

    def _asked(self, question: str) -> _Question:
        found = sorted(set(content_terms(question)))
        weights = {term: self._weights.get(term, self._unseen) for term in found}
        return _Question(frozenset(found), weights, _names(question), expected(question))


def _places(passages: Sequence[Passage]) -> Iterator[_Place]:
    seen: set[tuple[str, int]] = set()
    for passage in passages:
        around = [None, *passage.units, None]
        for before, unit, after in zip(around, passage.units, around[2:], strict=False):
            if (passage.document, unit.start) not in seen:
                seen.add((passage.document, unit.start))
                yield _Place(passage, unit, before, after)
                if after is not None and _goes_on(unit, after):
                    yield _Place(passage, _joined(unit, after), before, None, joined=True)


def _goes_on(unit: Unit, after: Unit) -> bool:
    """Whether two units can be read as one answer of two sentences."""
    plain = not (unit.cells or after.cells or unit.is_heading or after.is_heading)
    return plain and unit.headings == after.headings and len(unit.text) + len(after.text) <= _MAX_JOINED


def _joined(unit: Unit, after: Unit) -> Unit:
    return Unit(f"{unit.text} {after.text}", unit.start, after.end, unit.headings)


def _names(question: str) -> frozenset[str]:
    """Terms that name what the question is about: capitalised after the first word, or with a digit."""
    first, _, rest = question.strip().partition(" ")
    words = [*_NAMED.findall(rest), *(word for word in [first] if any(c.isdigit() for c in word))]
    return frozenset(term for word in words for term in terms(word))


def _said(place: _Place) -> frozenset[str]:
    """Terms of the unit and of what stands above it."""
    return term_set(place.unit.text) | term_set(" ".join((place.passage.title, *place.unit.headings)))


def _coverage(place: _Place, asked: _Question) -> float:
    said = _said(place)
    around = [term_set(unit.text) for unit in (place.before, place.after) if unit is not None]
    beside = frozenset[str]().union(*around) - said
    covered = asked.weight(said) + _BESIDE * asked.weight(beside)
    share = covered / asked.total if asked.total else 0.0
    return share * _fitness(place.unit, asked) * float(_OTHER_NUMBER ** len(asked.numbers - said))


def _support(place: _Place, asked: _Question) -> float:
    said = _said(place)
    if not asked.names <= said or _fitness(place.unit, asked) < 1:
        return 0.0
    return asked.weight(said) / asked.total if asked.total else 0.0


def _weighed(place: _Place, asked: _Question, measure: Callable[[_Place, _Question], float]) -> Decimal:
    """Evidence of a place by the measure; two sentences have to say more than one to be preferred."""
    return Decimal(repr(round(measure(place, asked) * (_JOINED if place.joined else 1.0), _EVIDENCE_DIGITS)))


_MEASURES = {Measure.COVERAGE: _coverage, Measure.SUPPORT: _support}


def _fitness(unit: Unit, asked: _Question) -> float:
    if unit.is_heading:
        return _BARE_HEADING if holds(asked.kind, unit.text, asked.terms) else _NOTHING_NEW
    said = " ".join(value for _, value in unit.cells) or unit.text
    if not holds(Expected.ANYTHING, said, asked.terms):
        return _NOTHING_NEW
    return 1.0 if holds(asked.kind, said, asked.terms) else _WRONG_KIND


def _answer(place: _Place, asked: _Question) -> str:
    """The unit, with what is needed to read it alone: a row's header, the sentence before a pronoun,
    what an open end leads to, a heading."""
    unit = place.unit
    text = _row(unit, asked) if unit.cells else unit.text
    first = text.split(" ", 1)[0].strip(",;:").casefold()
    if first in _POINTING and place.before is not None and not place.before.is_heading and not unit.cells:
        text = f"{place.before.text} {text}"
    if text.rpartition(" ")[2].casefold() in _OPEN_ENDS or text.endswith(":"):
        text = text if place.after is None else f"{text} {place.after.text}"
    missing = asked.terms - set(terms(text))
    for heading in reversed((place.passage.title, *unit.headings)):
        if missing & set(terms(heading)):
            return f"{heading}: {text}"
    return text


def _row(unit: Unit, asked: _Question) -> str:
    """A table row: its first cell, and the columns asked for; all of them where the question names none."""
    named = [cell for cell in unit.cells[1:] if asked.terms & set(content_terms(cell[0]))]
    shown = (unit.cells[0], *named) if named else unit.cells
    return "; ".join(f"{header}: {value}" if header else value for header, value in shown)
