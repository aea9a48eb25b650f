"""What a question is about, and whether a passage speaks of it.

A short answer ("65 °C") occurs somewhere in any corpus; what must be absent is a passage that joins the question's
subject with the answer (METHODS §3).
Invariant: where the subject cannot be told, every passage joins it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditor.normalize import content_words
from auditor.question import Question
from auditor_knowledge_gap.reading import Passage
from auditor_knowledge_gap.stem import stem
from auditor_knowledge_gap.wording import spaced

__all__ = ["SUBJECT_TAG", "Subject", "document_frequencies", "subject_of"]

SUBJECT_TAG = "subject:"  # a tag "subject:NAME" gives another name of what the question is about

_ASKING = frozenset("many much long often far old kind year name date day number take may can must most least".split())
_NAME = re.compile(r"[^\W_][\w&.\-]{1,60}")
# A name in few passages says by itself what a passage is about; a name with a number behind it may be in more.
_RARE_SHARE, _RARE_SHARE_NUMBERED = 0.1, 0.2
_RARE_COUNT = 3


@dataclass(frozen=True, slots=True)
class Subject:
    """``weights``: stems of the question with their inverse document frequency, as far as the corpus has them.

    ``names``: names in the question that few passages hold, and the names that its tags add; folded, spaced.
    """

    weights: Mapping[str, float]
    names: tuple[str, ...]

    def coverage(self, passage: Passage) -> float:
        """The share, by weight, of the subject's words that are in ``passage``; 1 where the corpus has none of them."""
        total = math.fsum(self.weights.values())
        if not total:
            return 1.0
        return math.fsum(weight for word, weight in self.weights.items() if word in passage.stems) / total

    def joins(self, passage: Passage, share: float) -> bool:
        """Whether ``passage`` holds a name of the subject, or at least ``share`` of its words."""
        return any(name in passage.spaced_words for name in self.names) or self.coverage(passage) >= share


def document_frequencies(passages: Sequence[Passage]) -> Counter[str]:
    """In how many passages each stem stands."""
    return Counter(word for passage in passages for word in passage.stems)


def subject_of(question: Question, passages: Sequence[Passage], frequencies: Mapping[str, int]) -> Subject:
    """The subject of ``question``, from all its forms and its ``subject:`` tags."""
    text = "\n".join(form.text for form in question.forms)
    stems = {stem(word) for word in content_words(text) if word not in _ASKING}
    weights = {
        word: math.log(1 + len(passages) / frequencies[word]) for word in sorted(stems) if frequencies.get(word, 0)
    }
    names = {spaced(tag.removeprefix(SUBJECT_TAG)) for tag in question.tags if tag.startswith(SUBJECT_TAG)}
    names |= {name for name in _names(question) if _is_rare(name, passages)}
    return Subject(weights, tuple(sorted(names - {"  "})))


def _is_rare(name: str, passages: Sequence[Passage]) -> bool:
    share = _RARE_SHARE_NUMBERED if len(name.split()) > 1 else _RARE_SHARE
    return 0 < sum(name in passage.spaced_words for passage in passages) <= max(_RARE_COUNT, share * len(passages))


def _names(question: Question) -> set[str]:
    """Capitalised words of the question that do not begin it, and pairs of a word and the number behind it."""
    found: set[str] = set()
    for form in question.forms:
        every = _NAME.findall(form.text)
        for before, word in zip(every, every[1:], strict=False):
            if word[0].isupper():
                found.add(spaced(word))
            if before[0].isupper() and word[0].isdigit():
                found.add(spaced(f"{before} {word}"))
    return found
