"""Expectation: what kind of thing a question asks for, and whether a text holds one that the question does not.

Invariant: a judgement from the words alone; where the words do not tell, anything will do.
"""

from __future__ import annotations

import re
from enum import StrEnum

from auditor_local.term import term_set, terms, word_set, words

__all__ = ["Expected", "expected", "holds"]


class Expected(StrEnum):
    """Kinds of thing."""

    NUMBER = "number"
    DATE = "date"
    PERSON = "person"
    ANYTHING = "anything"


_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_CAPITALISED = re.compile(r"\b[^\W\d_a-z][\w'’-]+")
_MEASURED = frozenset(
    "many much long far old often large big high heavy tall fast wide deep hot warm soon late".split()
)
_QUANTITIES = frozenset(
    """percentage percent price cost fee number amount rate weight temperature capacity limit maximum minimum size
    height width length depth speed voltage power duration score salary budget revenue distance area volume ratio
    discount interest""".split()
)
_DATES = frozenset("year date day month weekday deadline".split())
_NUMBER_WORDS = frozenset(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half
    once twice daily weekly monthly quarterly yearly annually free unlimited""".split()
)
_CALENDAR = frozenset(
    """january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday spring summer autumn winter""".split()
)


def expected(question: str) -> Expected:
    """What the question asks for, by its first word that says so."""
    asked = words(question)
    for word, after in zip(asked, [*asked, ""][1:], strict=True):
        if word == "how":
            return Expected.NUMBER if after in _MEASURED else Expected.ANYTHING
        if word in ("who", "whom", "whose"):
            return Expected.PERSON
        if word == "when":
            return Expected.DATE
        if word in ("what", "which"):
            return _of_noun(asked)
    return Expected.ANYTHING


def _of_noun(asked: list[str]) -> Expected:
    """What a question with "what" or "which" asks for: the first noun after it that names a quantity or a date."""
    start = next(i for i, word in enumerate(asked) if word in ("what", "which"))
    for word in asked[start + 1 : start + 4]:
        if word in _QUANTITIES:
            return Expected.NUMBER
        if word in _DATES:
            return Expected.DATE
    return Expected.ANYTHING


def holds(kind: Expected, text: str, asked: frozenset[str]) -> bool:
    """Whether ``text`` holds a thing of the kind that is not among the question's terms."""
    if kind is Expected.PERSON:
        names = (name for name in _CAPITALISED.findall(text[1:]) if not asked.issuperset(terms(name)))
        return any(True for _ in names)
    said = word_set(text) - asked
    if kind is Expected.NUMBER:
        return any(any(c.isdigit() for c in word) for word in said) or bool(said & _NUMBER_WORDS)
    if kind is Expected.DATE:
        return any(_YEAR.match(word) for word in said) or bool(said & _CALENDAR)
    return bool(term_set(text) - asked)
