"""Made-up names: whether a name, or anything that could be a spelling of it, stands in a corpus.

Invariant: names are compared without spaces, hyphens and case, so that ``Fen-Wright`` and ``fenwright`` are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditor.normalize import squash, words
from auditor_knowledge_gap.reading import Passage

__all__ = ["ENTITY_TAG", "Search", "edit_limit", "nearest"]

ENTITY_TAG = "entity:"  # a tag "entity:NAME" says which name of the question exists nowhere

_SHORTEST = 4
_LONG = 8


@dataclass(frozen=True, slots=True)
class Search:
    """What was compared with one name. ``distance`` is in edits; ``limit + 1`` stands for anything farther."""

    sequences: int
    distance: int
    limit: int

    @property
    def found(self) -> bool:
        """Whether something in the corpus could be the name."""
        return self.distance <= self.limit


def edit_limit(name: str) -> int | None:
    """How many edits apart two spellings of ``name`` may be: 1, from eight characters on 2; None: too short to tell."""
    length = len(squash(name))
    if length < _SHORTEST:
        return None
    return 2 if length >= _LONG else 1


def nearest(name: str, passages: Sequence[Passage]) -> Search:
    """The nearest thing to ``name`` among sequences of words, one word longer than it at most.

    Raises ``ValueError`` for a name too short to have near-spellings of its own.
    """
    limit = edit_limit(name)
    if limit is None:
        raise ValueError(f"{name!r} is too short to be told from other words")
    wanted = squash(name)
    candidates = _sequences(passages, len(words(name)) + 1, len(wanted) + limit)
    near = (c for c in candidates if abs(len(c) - len(wanted)) <= limit)
    distance = min((_distance(wanted, c, limit) for c in near), default=limit + 1)
    return Search(len(candidates), distance, limit)


def _sequences(passages: Sequence[Passage], most_words: int, longest: int) -> set[str]:
    """Distinct runs of up to ``most_words`` words, joined, none longer than ``longest`` characters."""
    found: set[str] = set()
    for passage in passages:
        every = passage.spaced_words.split()
        for start in range(len(every)):
            joined = ""
            for word in every[start : start + most_words]:
                joined += word
                if len(joined) > longest:
                    break
                found.add(joined)
    return found


def _distance(left: str, right: str, limit: int) -> int:
    """Levenshtein distance, or ``limit + 1`` when it is more than ``limit``."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        above, row[0] = row[0], i
        for j, b in enumerate(right, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)
