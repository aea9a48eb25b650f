"""Judge by answer matching: the reference's date, number or name must be what the candidate states first.

Sees units, tolerances, list items, negation and what the answer prints in bold; knows no synonyms and no spelling
variants. Where it errs, it errs on names that are worded differently.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, takewhile
from typing import ClassVar

from auditor.normalize import STOP_WORDS, fold, sentences, tokens, words
from auditor.panel import Verdict
from auditor.quantity import Date, Quantity, read_values
from auditor_embedded_judges.reference import (
    Bounds,
    Kind,
    Reference,
    canonical_word,
    emphasised,
    lead,
    plain,
    read_reference,
)
from auditor_embedded_judges.reply import EmbeddedJudge, Judgement

__all__ = ["AnswerMatch"]

_NEGATORS = frozenset("not never isn wasn aren weren neither nor unlike instead".split())
_NEGATING_PAIRS = frozenset({("rather", "than"), ("other", "than")})
_TITLES = frozenset(
    "sir dame lord lady dr mr mrs ms prof professor col colonel gen general capt captain lt lieutenant major saint "
    "the rev reverend president king queen prince princess".split()
)
_COUNTED = re.compile(r"\bhow many ((?:[^\W\d_]+[ -]){0,3}[^\W\d_]+)")
_MANY = 4  # that many different values in one sentence are a list, not an answer


class AnswerMatch(EmbeddedJudge):
    """See the module."""

    method: ClassVar[str] = "answer-match"

    def judge(self, question: str, reference: str, candidate: str) -> Judgement:
        """Verdict against one reference."""
        wanted = read_reference(reference, question)
        if wanted.kind is Kind.NUMBER:
            return _judge_number(wanted, question, candidate)
        if wanted.kind is Kind.DATE:
            return _judge_date(wanted, question, candidate)
        if wanted.kind is Kind.SENTENCE:
            return _judge_sentence(wanted, question, candidate)
        return _judge_name(wanted, question, candidate)


def _judge_number(wanted: Reference, question: str, candidate: str) -> Judgement:
    """The first sentence that states numbers which could be the answer decides."""
    if len(wanted.numbers) > 1:
        found = [any(bounds.holds(q) for q in read_values(plain(candidate)).quantities) for bounds in wanted.numbers]
        return _share(sum(found), len(found), "numbers")
    bounds = wanted.numbers[0]
    echoed = {q.stated for q in read_values(question).quantities}
    nouns = _counted_nouns(question)
    for sentence in sentences(candidate):
        pool = _pool(sentence, bounds, echoed, nouns)
        if not pool:
            continue
        if not any(bounds.holds(q) for q in pool):
            return Verdict.INCORRECT, "another number stands in its place"
        if len({q.value for q in pool}) >= _MANY:
            return Verdict.PARTIAL, "the number is one of many"
        return Verdict.CORRECT, "the number is stated"
    return Verdict.INCORRECT, "no such number is stated"


def _counted_nouns(question: str) -> frozenset[str]:
    asked = _COUNTED.search(fold(question))
    return frozenset() if asked is None else frozenset(word.rstrip("s") for word in words(asked[1]))


def _pool(sentence: str, bounds: Bounds, echoed: AbstractSet[Fraction], nouns: frozenset[str]) -> list[Quantity]:
    """Numbers of a sentence that could be the answer: those beside the counted noun, else those in bold, else all."""
    text = plain(sentence)
    found = _candidates(text, bounds, echoed)
    folded = fold(text)
    counted = [q for q in found if _counts(folded, q, nouns)]
    bold = _candidates(" ; ".join(map(plain, emphasised(sentence))), bounds, echoed)
    return counted or bold or found


def _candidates(text: str, bounds: Bounds, echoed: AbstractSet[Fraction]) -> list[Quantity]:
    values, folded = read_values(text), fold(text)
    years = {date.start for date in values.dates if _is_year_of(folded, date)}
    return [
        quantity
        for quantity in values.quantities
        if bounds.compatible(quantity)
        and (bounds.holds(quantity) or not (quantity.ordinal or quantity.stated in echoed or quantity.start in years))
        and (bounds.holds(quantity) or not (quantity.spelled and quantity.stated == 1))
    ]


def _is_year_of(folded: str, date: Date) -> bool:
    """Whether a bare year stands as a date: ``in 1901``, ``(1901)``, ``from 1901``."""
    before = folded[max(0, date.start - 12) : date.start].rstrip(" (")
    last = re.split(r"\W", before)[-1]
    opened = folded[date.start - 1 : date.start] == "("
    return opened or last in (
        "in",
        "of",
        "since",
        "from",
        "until",
        "by",
        "to",
        "before",
        "after",
        "during",
        "circa",
        "the",
    )


def _counts(folded: str, quantity: Quantity, nouns: frozenset[str]) -> bool:
    after = [word.text.rstrip("s") for word in tokens(folded[quantity.end : quantity.end + 60])][:4]
    between = takewhile(lambda word: not word[:1].isdigit(), after)  # the noun belongs to the number nearest to it
    return bool(nouns.intersection(between))


def _judge_date(wanted: Reference, question: str, candidate: str) -> Judgement:
    """The first sentence that states a date which could be the answer decides; bold dates come before others."""
    echoed = {(d.year, d.month, d.day) for d in read_values(question).dates}
    echoed -= {(d.year, d.month, d.day) for d in wanted.dates}
    if len({d.start for d in wanted.dates}) > 1:
        stated = read_values(plain(candidate)).dates
        hits = [any(d.agrees(s) for s in stated) for d in wanted.dates]
        return _share(sum(hits), len(hits), "dates")
    coarse = False
    for sentence in sentences(candidate):
        stated = read_values(plain(sentence)).dates
        bold = read_values(" ; ".join(map(plain, emphasised(sentence)))).dates
        for pool in (bold, stated):
            own = [d for d in pool if (d.year, d.month, d.day) not in echoed]
            if any(w.agrees(d) for w in wanted.dates for d in own):
                return Verdict.CORRECT, "the date is stated"
            fine = [d for d in own if _as_fine(d, wanted.dates[0])]
            if fine:
                return Verdict.INCORRECT, "another date stands in its place"
            coarse = coarse or any(d.agrees(w) for w in wanted.dates for d in own)
    return (Verdict.PARTIAL, "part of the date is stated") if coarse else (Verdict.INCORRECT, "no such date is stated")


def _as_fine(stated: Date, wanted: Date) -> bool:
    """Whether ``stated`` gives at least the parts that ``wanted`` gives."""
    pairs = ((stated.year, wanted.year), (stated.month, wanted.month), (stated.day, wanted.day))
    return all(want is None or have is not None for have, want in pairs)


def _share(found: int, wanted: int, what: str) -> Judgement:
    if found == wanted:
        return Verdict.CORRECT, f"all {what} are stated"
    return (Verdict.PARTIAL if found else Verdict.INCORRECT), f"{found} of {wanted} {what} are stated"


class _Text:
    """Words of one text, ready to be searched."""

    def __init__(self, said: Sequence[str]) -> None:
        self.words = said
        self.squashed = "".join(self.words)
        self.bounds = {0}
        at = 0
        for word in self.words:
            at += len(word)
            self.bounds.add(at)
        self.starts = {begin: index for index, begin in enumerate(sorted(self.bounds))}

    @cached_property
    def telling(self) -> _Text:
        """The same without stop words and titles."""
        return _Text([word for word in self.words if word not in STOP_WORDS and word not in _TITLES])

    def places(self, wanted: Sequence[str]) -> list[int]:
        """Indices of the words at which ``wanted`` begins, written together or apart; negated ones left out."""
        needle = "".join(wanted)
        found: list[int] = []
        at = self.squashed.find(needle)
        while at >= 0:
            if at in self.bounds and at + len(needle) in self.bounds and not self._negated(self.starts[at]):
                found.append(self.starts[at])
            at = self.squashed.find(needle, at + 1)
        return found

    def _negated(self, index: int) -> bool:
        before = self.words[max(0, index - 3) : index]
        return bool(_NEGATORS.intersection(before)) or any(pair in _NEGATING_PAIRS for pair in pairwise(before))


def _judge_name(wanted: Reference, question: str, candidate: str) -> Judgement:
    """All names of the reference are stated; where the lead prints something in bold, at least one of them there."""
    asked = frozenset(map(canonical_word, words(question)))
    text = _read(candidate)
    found = [_states(part, wanted.literal, asked, text) for part in wanted.parts]
    bold = [_read(one) for one in emphasised(lead(candidate)) if not one.rstrip().endswith(":")]
    put_forward = any(_states(part, wanted.literal, asked, one) for part in wanted.parts for one in bold)
    if all(found) and bold and not put_forward:
        return Verdict.PARTIAL, "the name is stated, and something else is put forward"
    return _share(sum(found), len(found), "names")


def _read(text: str) -> _Text:
    return _Text([canonical_word(word) for word in words(plain(text))])


def _states(part: tuple[str, ...], literal: bool, asked: frozenset[str], text: _Text) -> bool:
    """Whether one name is stated: as it stands, or its telling words side by side."""
    if text.places(part):
        return True
    if literal:
        return False
    content = tuple(word for word in part if word not in STOP_WORDS and word not in _TITLES) or part
    telling = tuple(word for word in content if word not in asked and len(word) > 1) or content
    return bool(text.places(telling) or text.telling.places(telling))


def _judge_sentence(wanted: Reference, question: str, candidate: str) -> Judgement:
    """A long reference: all its numbers and dates, and most of its words that the question does not give away."""
    asked = frozenset(map(canonical_word, words(question)))
    said = frozenset(map(canonical_word, words(plain(candidate))))
    telling = [word for part in wanted.parts for word in part if word not in asked and word not in STOP_WORDS]
    stated, needed = read_values(plain(candidate)), read_values(wanted.text)
    values = {q.value for q in stated.quantities}
    if any(q.value not in values for q in needed.quantities) or any(
        not any(d.agrees(s) for s in stated.dates) for d in needed.dates
    ):
        return Verdict.INCORRECT, "a number or date of the reference is not stated"
    share = 100 * sum(word in said for word in telling) // max(1, len(telling))
    if share >= 70:
        return Verdict.CORRECT, "most of the reference is stated"
    return (Verdict.PARTIAL if share >= 45 else Verdict.INCORRECT), f"{share} % of the reference's words are stated"
