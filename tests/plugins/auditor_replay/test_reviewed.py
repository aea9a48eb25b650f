"""``reviewed``: the recorded grade and nothing else, read strictly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from auditor.canonical import Json
from auditor.label import (
    Field,
    LabelInput,
    LabelKind,
    Labeller,
    LabelRequest,
    LabelSubject,
    NonLabel,
    Unparseable,
    Vote,
)
from auditor.model import TransportOutcome
from auditor.question import QuestionKind
from auditor.testing import LabelKindContract, LabellerContract, no_wire
from auditor_replay.review import RecordedReviewer, ReviewedKind


class TestReviewedContract(LabelKindContract):
    """The contract of label kinds."""

    seats = 1

    def make(self) -> LabelKind:
        """The kind."""
        return ReviewedKind()

    def examples(self) -> Mapping[str, Json]:
        """One reply of each label."""
        return {json.dumps({"reviewed": value}): value for value in ("correct", "incorrect", "not_attempted")}

    def broken(self) -> Sequence[str]:
        """Other cases, other kinds, other types."""
        return ('{"reviewed": "CORRECT"}', '{"reviewed": null}', '{"verdict": "correct"}', '{"reviewed": ["correct"]}')


class TestReviewerContract(LabellerContract):
    """The contract of labellers."""

    def make(self) -> Labeller:
        """The recording's reviewer."""
        return RecordedReviewer()

    def kind(self) -> LabelKind:
        """Its kind."""
        return ReviewedKind()

    def inputs(self) -> Sequence[LabelInput]:
        """Recorded grades."""
        return tuple(
            LabelInput(recorded={"review_grade": grade}) for grade in ("CORRECT", "INCORRECT", "NOT_ATTEMPTED")
        )


def subject(*recorded: str) -> LabelSubject:
    """A trial whose recording carries these labels."""
    return LabelSubject(QuestionKind.BENCHMARK, True, True, "documents_only", recorded_labels=frozenset(recorded))


def test_it_sees_the_recorded_labels_alone() -> None:
    """No question, no answer, no passage."""
    assert ReviewedKind.fields == {Field.RECORDED}
    assert isinstance(ReviewedKind().own_labeller(), RecordedReviewer)


def test_it_applies_where_a_review_was_recorded() -> None:
    """Other recorded labels are not reviews."""
    assert ReviewedKind().applies(subject("review_grade", "other"))
    assert not ReviewedKind().applies(subject("other"))


@pytest.mark.parametrize("grade", ["correct", "CORRECT ", "A", "", '"}', "PARTIAL"])
def test_an_unknown_grade_does_not_parse(grade: str) -> None:
    """It is not read as the nearest grade, nor as a wrong answer."""
    request = LabelRequest(LabelInput(recorded={"review_grade": grade}), "0", "f")
    reply = RecordedReviewer().label(request, no_wire)
    with pytest.raises(Unparseable):
        ReviewedKind().parse(reply.text)


def test_a_missing_grade_is_no_reply() -> None:
    """It is unavailable, not a grade."""
    for recorded in (None, {}, {"other": "CORRECT"}):
        request = LabelRequest(LabelInput(recorded=recorded), "0", "f")
        assert RecordedReviewer().label(request, no_wire).outcome is TransportOutcome.EMPTY


def test_one_vote_decides_and_a_missing_one_does_not() -> None:
    """The reviewer is one; two that differ are none."""
    kind = ReviewedKind()
    assert kind.reduce([Vote(0, "correct")]).value == "correct"
    assert kind.reduce([Vote(0, non_label=NonLabel.UNAVAILABLE)]).value is None
    assert kind.reduce([]).value is None
    assert kind.reduce([Vote(0, "correct"), Vote(1, "incorrect")]).value is None
