"""Stance: whether a text answers, abstains or denies (METHODS §1).

Invariant: what cannot be told is ``unsure``, which is counted and never scored; no failure of a classifier is a stance.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar

from auditor.canonical import Json
from auditor.choice import read_choice
from auditor.label import Field, LabelKind, LabelSubject, Reduced, Vote
from auditor.question import QuestionKind

__all__ = ["Stance", "StanceKind"]


class Stance(StrEnum):
    """What a text does about the question."""

    ANSWER = "answer"
    ABSTAIN = "abstain"
    DENY = "deny"
    UNSURE = "unsure"


class StanceKind(LabelKind):
    """The core's first label kind. Its labeller sees question and candidate, never a reference."""

    name: ClassVar[str] = "stance"
    fields: ClassVar[frozenset[Field]] = frozenset({Field.QUESTION, Field.CANDIDATE})

    def applies(self, subject: LabelSubject) -> bool:
        """Every text but the answers to RefusalBench items, which are scored by code alone."""
        return subject.question_kind is not QuestionKind.PERTURBED

    def parse(self, text: str) -> Json:
        """``{"stance": "answer" | "abstain" | "deny" | "unsure"}``; anything else raises ``Unparseable``."""
        return read_choice(text, "stance", tuple(Stance))

    def reduce(self, votes: Sequence[Vote]) -> Reduced:
        """One classifier's word stands; classifiers that differ, and one that gave no label, leave it unsure."""
        if not votes:
            raise ValueError("a stance needs at least one classifier")
        missing = sorted(str(vote.non_label) for vote in votes if vote.non_label is not None)
        if missing:
            return Reduced(Stance.UNSURE.value, f"no label: {', '.join(missing)}")
        stances = sorted({Stance(str(vote.value)).value for vote in votes})
        if len(stances) > 1:
            return Reduced(Stance.UNSURE.value, f"classifiers differ: {', '.join(stances)}")
        return Reduced(stances[0])
