"""The answer that must be absent, and whether a passage states it or comes near to it.

Invariant: both tests err towards *stated*: a form that cannot be searched for counts as found everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from auditor.normalize import content_words, one_edit_apart
from auditor.question import Question
from auditor_knowledge_gap.reading import Passage
from auditor_knowledge_gap.stem import stem
from auditor_knowledge_gap.value import Values, values
from auditor_knowledge_gap.wording import spaced

__all__ = ["Answer", "answer_of"]

_HINT_SHARE = 0.6
_LONG_WORD = 5


@dataclass(frozen=True, slots=True)
class _Form:
    """One wording of the answer: its folded words, the stems of those that are no numbers, its values.

    ``distinctive``: a name or phrase that means the same wherever it stands, unlike a number or a short word.
    """

    spaced_words: str
    stems: tuple[str, ...]
    values: Values
    distinctive: bool

    def stated(self, passage: Passage) -> bool:
        if not self.spaced_words.strip():
            return True
        if self.values and self.spaced_words.replace(" ", "").isdigit():  # "€690": its words alone are any 690
            return self.values.all_in(passage.values)
        return self.spaced_words in passage.spaced_words or self.values.all_in(passage.values)

    def hinted(self, passage: Passage) -> bool:
        if self.values.near(passage.values):
            return True
        letters = sum(map(len, self.stems))
        found = sum(len(word) for word in self.stems if _has(passage, word))
        return bool(letters) and found >= _HINT_SHARE * letters


@dataclass(frozen=True, slots=True)
class Answer:
    """All wordings of one answer: references and aliases."""

    forms: tuple[_Form, ...]
    text: str

    def stated(self, passage: Passage) -> bool:
        """Whether a wording stands in ``passage`` word by word, or its numbers, dates and measures do in any format."""
        return any(form.stated(passage) for form in self.forms)

    def distinctive_in(self, passage: Passage) -> bool:
        """Whether a wording stands in ``passage`` that needs no subject to be the answer."""
        return any(form.distinctive and form.stated(passage) for form in self.forms)

    def hinted(self, passage: Passage) -> bool:
        """Whether ``passage`` comes near: most words of a wording, misspelt or inflected, or a value near its own."""
        return any(form.hinted(passage) for form in self.forms)


def answer_of(question: Question) -> Answer:
    """The answer of ``question``."""
    texts = tuple(dict.fromkeys([*question.references, *question.aliases]))
    return Answer(tuple(map(_form, texts)), " ; ".join(texts))


def _form(text: str) -> _Form:
    found = values(text)
    stems = tuple(dict.fromkeys(stem(word) for word in content_words(text) if not word.isdigit()))
    return _Form(spaced(text), () if found else stems, found, not found and _is_distinctive(text))


def _is_distinctive(text: str) -> bool:
    """Two content words or more, or one that is long: ``chirp spread spectrum``, ``Modicon``."""
    every = content_words(text)
    return len(every) > 1 or any(len(word) >= _LONG_WORD for word in every)


def _has(passage: Passage, wanted: str) -> bool:
    if wanted in passage.stems:
        return True
    return len(wanted) >= _LONG_WORD and any(_alike(wanted, word) for word in passage.stems)


def _alike(left: str, right: str) -> bool:
    return left[0] == right[0] and one_edit_apart(left, right)
