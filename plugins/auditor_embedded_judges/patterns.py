"""Word patterns from data files, matched in linear time.

A pattern is a line of elements: ``word``, ``a|b`` (one of), ``@list`` (one of a named list), ``word?`` (may be absent),
``*N`` (up to N arbitrary words, N <= 6), ``^`` (start of the clause), ``$`` (its end).
Invariant: a match starting at one word looks at no more than the pattern's length plus its gaps, both of which are
bounded when the file is read, so no text makes matching slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditor.errors import ConfigurationError

__all__ = ["Pattern", "PatternSet", "read_pattern"]

_MAX_ELEMENTS = 16
_MAX_GAP = 6


@dataclass(frozen=True, slots=True)
class _Element:
    """One step: any of ``words``; ``gap`` arbitrary words instead when it has none."""

    words: frozenset[str]
    optional: bool = False
    gap: int = 0


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern, read and checked."""

    source: str
    elements: tuple[_Element, ...]
    at_start: bool
    at_end: bool

    def matches_at(self, said: Sequence[str], start: int) -> bool:
        """Whether the pattern matches from word ``start`` on."""
        places = {start}
        for element in self.elements:
            places = _after(element, said, places)
            if not places:
                return False
        return not self.at_end or len(said) in places

    @property
    def first_words(self) -> frozenset[str]:
        """Words that a match begins with. The first element is never a gap and never optional."""
        return self.elements[0].words


def _after(element: _Element, said: Sequence[str], places: set[int]) -> set[int]:
    if element.gap:
        return {place + skip for place in places for skip in range(element.gap + 1) if place + skip <= len(said)}
    found = {place + 1 for place in places if place < len(said) and said[place] in element.words}
    return found | places if element.optional else found


def read_pattern(source: str, lists: Mapping[str, Sequence[str]]) -> Pattern:
    """The pattern that ``source`` writes. Raises ``ConfigurationError`` for one that is malformed or unbounded."""
    written = source.split()
    at_start, at_end = written[:1] == ["^"], written[-1:] == ["$"]
    written = written[at_start : len(written) - at_end]
    elements = tuple(_read_element(one, lists, source) for one in written)
    if not elements or len(elements) > _MAX_ELEMENTS or elements[0].gap or elements[0].optional:
        raise ConfigurationError(f"pattern {source!r} needs 1 to {_MAX_ELEMENTS} elements and a word at its start")
    return Pattern(source, elements, at_start, at_end)


def _read_element(written: str, lists: Mapping[str, Sequence[str]], source: str) -> _Element:
    if written.startswith("*"):
        gap = int(written[1:]) if written[1:].isdigit() else 0
        if not 1 <= gap <= _MAX_GAP:
            raise ConfigurationError(f"pattern {source!r}: {written!r} is no gap of 1 to {_MAX_GAP} words")
        return _Element(frozenset(), gap=gap)
    optional = written.endswith("?")
    words: set[str] = set()
    for word in written.removesuffix("?").split("|"):
        if word.startswith("@") and word[1:] not in lists:
            raise ConfigurationError(f"pattern {source!r}: no list {word[1:]!r}")
        words.update(lists[word[1:]] if word.startswith("@") else [word])
    if not all(words):
        raise ConfigurationError(f"pattern {source!r}: an empty word")
    return _Element(frozenset(words), optional)


class PatternSet:
    """Several patterns, found by their first words."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._by_word: dict[str, list[Pattern]] = {}
        for pattern in patterns:
            for word in pattern.first_words:
                self._by_word.setdefault(word, []).append(pattern)

    def find(self, said: Sequence[str]) -> tuple[int, Pattern] | None:
        """The first place where a pattern matches, and the pattern."""
        for start, word in enumerate(said):
            for pattern in self._by_word.get(word, ()):
                if (start == 0 or not pattern.at_start) and pattern.matches_at(said, start):
                    return start, pattern
        return None
