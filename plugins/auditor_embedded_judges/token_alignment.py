"""Judge by token alignment: how much of the reference stands in one stretch of the candidate, word by word.

Allows for spelling (one edit in a long word), for order and for words left out; reads numerals by their value and
within a stated tolerance. Knows no numbers in words, no units, no date formats and no negation: there it errs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from auditor.normalize import STOP_WORDS, fold, one_edit_apart, tokens, words
from auditor.panel import Verdict
from auditor.quantity import read_values
from auditor_embedded_judges.reference import (
    MONTHS,
    Bounds,
    Kind,
    canonical_word,
    lead,
    outer_text,
    plain,
    read_reference,
)
from auditor_embedded_judges.reply import EmbeddedJudge, Judgement

__all__ = ["TokenAlignment"]

_CORRECT = 80  # per cent of the reference's weight
_PARTIAL = 60
_LONG = 7  # letters from which one edit is a matter of spelling
_WEIGHT, _NUMBER_WEIGHT, _ECHO_WEIGHT = 10, 15, 2
_DIGITS = re.compile(r"\d")


class TokenAlignment(EmbeddedJudge):
    """See the module."""

    method: ClassVar[str] = "token-alignment"

    def judge(self, question: str, reference: str, candidate: str) -> Judgement:
        """Verdict against one reference: over the lead, and at most partial over the rest."""
        needed = _needed(reference, question)
        first = lead(candidate)
        score = _best(needed, _read(first, reference, question))
        if score < _CORRECT and len(first) < len(candidate) and not _leads_with_another(first, reference, question):
            score = max(score, min(_best(needed, _read(candidate, reference, question)), _CORRECT - 1))
        reason = f"{score} % of the reference stands together"
        if score >= _CORRECT:
            return Verdict.CORRECT, reason
        return (Verdict.PARTIAL if score >= _PARTIAL else Verdict.INCORRECT), reason


_VALUE = "#"  # the token of a number that is the reference's own


def _bounds(reference: str, question: str) -> Bounds | None:
    read = read_reference(reference, question)
    return read.numbers[0] if read.kind is Kind.NUMBER and len(read.numbers) == 1 else None


def _leads_with_another(first: str, reference: str, question: str) -> bool:
    """Whether a number is asked for and the lead gives one, which then is the answer. Dates and echoes are none."""
    if _bounds(reference, question) is None:
        return False
    asked = {quantity.stated for quantity in read_values(question).quantities}
    there = read_values(plain(first))
    years = {date.start for date in there.dates}
    numerals = [q for q in there.quantities if not (q.spelled or q.ordinal or q.start in years)]
    return any(quantity.stated not in asked for quantity in numerals)


def _needed(reference: str, question: str) -> dict[str, int]:
    """Words of the reference with their weights."""
    if _bounds(reference, question) is not None:
        return {_VALUE: _NUMBER_WEIGHT}
    asked = frozenset(map(canonical_word, words(question)))
    every = [canonical_word(word) for word in words(outer_text(reference))]
    telling = [word for word in every if word not in STOP_WORDS and len(word) > 1] or every
    return {word: _weight(word, asked) for word in telling}


def _weight(word: str, asked: frozenset[str]) -> int:
    if word in asked:
        return _ECHO_WEIGHT
    return _NUMBER_WEIGHT if _DIGITS.search(word) or word in MONTHS else _WEIGHT


def _read(candidate: str, reference: str, question: str) -> list[str]:
    """Words of the candidate; a number that is the reference's own becomes one token."""
    text = plain(candidate)
    bounds = _bounds(reference, question)
    if bounds is None:
        return [canonical_word(word) for word in words(text)]
    folded = fold(text)
    numerals = [quantity for quantity in read_values(text).quantities if not quantity.spelled]
    own = [quantity for quantity in numerals if bounds.stated_low <= quantity.stated <= bounds.stated_high]
    inside = {place for quantity in own for place in range(quantity.start, quantity.end)}
    return [_VALUE if word.start in inside else word.text for word in tokens(folded)]


def _best(needed: dict[str, int], said: Sequence[str]) -> int:
    """Per cent of the needed weight in the best stretch of the candidate."""
    if not needed:
        return 0
    total = sum(needed.values())
    span = max(12, 3 * len(needed))
    best = 0
    inside: dict[str, int] = {}
    hits = list(_hits(needed, said))
    begin = weight = 0
    for index, word, value in hits:
        weight += value if not inside.get(word) else 0
        inside[word] = inside.get(word, 0) + 1
        while index - hits[begin][0] >= span:
            first = hits[begin][1]
            inside[first] -= 1
            weight -= hits[begin][2] if not inside[first] else 0
            begin += 1
        best = max(best, weight)
    return min(100, 100 * best // total)


def _hits(needed: dict[str, int], said: Sequence[str]) -> Iterable[tuple[int, str, int]]:
    """Places where a needed word stands: as it is, joined from two words, or one edit away."""
    near = _near(needed, said)
    for index, word in enumerate(said):
        joined = word + said[index + 1] if index + 1 < len(said) else word
        if word in needed:
            yield index, word, needed[word]
        elif joined in needed:
            yield index, joined, needed[joined]
        elif word in near:
            yield index, near[word], needed[near[word]]


def _near(needed: dict[str, int], said: Sequence[str]) -> dict[str, str]:
    """Long words of the candidate that are one edit away from a needed one."""
    long = [word for word in needed if len(word) >= _LONG and not _DIGITS.search(word)]
    if not long or len(long) > 64:
        return {}
    others = {word for word in said if len(word) >= _LONG - 1} - set(needed)
    return {other: word for other in sorted(others) for word in long if one_edit_apart(other, word)}
