"""``reviewed``: the grade that a reviewer gave a recorded answer, shown beside the panel's verdict.

Invariant: it reads the recorded label ``review_grade`` and nothing else, and nothing else reads that label.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import ClassVar

from auditor.canonical import Json
from auditor.label import Field, LabelKind, Labeller, LabelRequest, LabelSubject, Reduced, Unparseable, Vote
from auditor.model import Completion, ModelTraits, TransportOutcome, Wire

__all__ = ["RecordedReviewer", "ReviewedKind"]

_LABEL = "review_grade"
_VALUES: Mapping[str, str] = {
    "CORRECT": "correct",
    "INCORRECT": "incorrect",
    "NOT_ATTEMPTED": "not_attempted",
}


class RecordedReviewer(Labeller):
    """Says what the recording says. An unknown grade is no value of the kind, and so does not parse."""

    @property
    def traits(self) -> ModelTraits:
        """No model: the recording's reviewer."""
        return ModelTraits("recorded")

    def label(self, request: LabelRequest, wire: Wire) -> Completion:
        """The recorded grade as a reply; an empty one where none was recorded."""
        grade = (request.input.recorded or {}).get(_LABEL)
        if grade is None:
            return Completion(TransportOutcome.EMPTY)
        with wire():
            text = json.dumps({ReviewedKind.name: _VALUES.get(grade), "recorded": grade})
        return Completion(TransportOutcome.TEXT, text)


class ReviewedKind(LabelKind):
    """One vote, the recorded reviewer's: ``correct``, ``incorrect`` or ``not_attempted``."""

    name: ClassVar[str] = "reviewed"
    fields: ClassVar[frozenset[Field]] = frozenset({Field.RECORDED})
    repairs: ClassVar[int] = 0

    def applies(self, subject: LabelSubject) -> bool:
        """To answers that were recorded with a review."""
        return _LABEL in subject.recorded_labels

    def parse(self, text: str) -> Json:
        """The label in a reply of ``RecordedReviewer``; raises ``Unparseable`` on anything else."""
        try:
            reply = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Unparseable(f"not JSON: {type(error).__name__}") from error
        value = reply.get(self.name) if isinstance(reply, dict) else None
        if not isinstance(value, str) or value not in _VALUES.values():
            raise Unparseable("not a review grade")
        return value

    def reduce(self, votes: Sequence[Vote]) -> Reduced:
        """The one reviewer's value; None, with the reason, when there is no such value."""
        values = {vote.value for vote in votes if isinstance(vote.value, str)}
        if len(values) == 1 and all(vote.non_label is None for vote in votes):
            return Reduced(values.pop())
        return Reduced(None, "no review that could be read" if not values else "reviews differ or are missing")

    def own_labeller(self) -> Labeller:
        """The recording's reviewer."""
        return RecordedReviewer()
