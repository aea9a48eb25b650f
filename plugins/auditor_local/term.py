"""Terms: what a text is about, as the index and the reader compare it.

Invariant: equal text gives equal terms on every machine; no locale, no model.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["content_terms", "term_set", "terms", "word_set", "words"]

_WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+")  # "3.4.2" is one word, and so is "1,450"
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SUFFIXES = ("ions", "ion", "ments", "ment", "ings", "ing", "edly", "ies", "ed", "es", "ly", "s")
_MIN_STEM = 4
_KEPT = 2**15  # texts and words of which the terms are remembered

# Questions ask for a property by its verb or adjective, documents name it by its noun.
_SAME = {"weight": "weigh", "height": "high", "width": "wide", "depth": "deep", "pric": "cost"}

# Words that say how a question is asked, not what about.
_FUNCTION_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers him
    his how i if in into is it its itself just many may me might more most much must my no nor not of off on once
    only or other our out over own per shall she should so some such than that the their them then there these
    they this those through to too under until up upon us very was we were what when where which while who whom
    whose why will with would you your give given mean means please say tell""".split()
)


def terms(text: str) -> list[str]:
    """Terms in order: words without case, accents and common endings; ideographs in pairs."""
    return [term for word in words(text) for term in _split(word)]


@lru_cache(maxsize=_KEPT)
def word_set(text: str) -> frozenset[str]:
    """The words of a text; kept, as ``term_set`` is."""
    return frozenset(words(text))


def words(text: str) -> list[str]:
    """Words in order, without case and accents; a number with points or commas is one word."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(character for character in folded if not unicodedata.combining(character))
    return [word.replace(",", "") if _THOUSANDS.fullmatch(word) else word for word in _WORD.findall(plain)]


@lru_cache(maxsize=_KEPT)
def term_set(text: str) -> frozenset[str]:
    """The terms of a text; kept, since a unit is read again for every question."""
    return frozenset(terms(text))


def content_terms(text: str) -> list[str]:
    """Terms without function words; all terms where nothing else is left."""
    every = terms(text)
    return [term for term in every if term not in _FUNCTION_STEMS] or every


def _split(word: str) -> list[str]:
    if _IDEOGRAPH.search(word):
        return [word[i : i + 2] for i in range(max(1, len(word) - 1))]
    stem = _stem(word)
    return [_SAME.get(stem, stem)]


@lru_cache(maxsize=_KEPT)
def _stem(word: str) -> str:
    """``word`` without one common ending, when enough is left of it to mean something."""
    if not word.isalpha() or len(word) <= _MIN_STEM or word.endswith("ss"):
        return word
    for suffix in _SUFFIXES:
        stem = word.removesuffix(suffix)
        if stem != word and len(stem) >= _MIN_STEM - (suffix == "s"):
            stem = stem + "y" if suffix == "ies" else stem
            return stem[:-1] if len(stem) > _MIN_STEM and stem.endswith("e") else stem
    return word[:-1] if word.endswith("e") else word


_FUNCTION_STEMS = frozenset(stem for word in _FUNCTION_WORDS for stem in terms(word))
