"""What every embedded labeller shares: how much it reads, and the JSON reply that the core's strict parser reads."""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import ClassVar

from auditor.label import LabelInput, Labeller, LabelRequest
from auditor.model import Completion, ModelTraits, TransportOutcome, Wire
from auditor.panel import Verdict
from auditor.scrub import CUT_CHARACTERS

__all__ = ["EmbeddedJudge", "EmbeddedLabeller", "Judgement"]

Judgement = tuple[Verdict, str]


class EmbeddedLabeller(Labeller):
    """A labeller that is a pure function of its input. ``method`` names its family and its version of the rules."""

    method: ClassVar[str]
    version: ClassVar[int] = 1
    field: ClassVar[str]

    @property
    def traits(self) -> ModelTraits:
        """No hosts; the family is no model's."""
        return ModelTraits(family=f"embedded:{self.method}")

    @abstractmethod
    def decide(self, given: LabelInput) -> tuple[str, str]:
        """The label and a sentence that says why."""

    def label(self, request: LabelRequest, wire: Wire) -> Completion:
        """The label as JSON text."""
        with wire():
            value, reason = self.decide(request.input)
        text = json.dumps({self.field: value, "reason": reason}, ensure_ascii=True)
        return Completion(
            TransportOutcome.TEXT, text, model=f"{self.method}/{self.version}", raw=text.encode(), finish_reason="stop"
        )


class EmbeddedJudge(EmbeddedLabeller):
    """A judge that compares the candidate with each reference apart; the best verdict stands (references are
    alternatives).
    """

    field: ClassVar[str] = "verdict"

    @abstractmethod
    def judge(self, question: str, reference: str, candidate: str) -> Judgement:
        """The verdict against one reference."""

    def decide(self, given: LabelInput) -> tuple[str, str]:
        """The best verdict over the references."""
        if given.question is None or not given.references or given.candidate is None:
            raise ValueError("a judge needs question, references and candidate")
        question, candidate = given.question[:CUT_CHARACTERS], given.candidate[:CUT_CHARACTERS]
        judgements = [self.judge(question, one[:CUT_CHARACTERS], candidate) for one in given.references]
        verdict, reason = max(judgements, key=lambda judgement: judgement[0].rank)
        return verdict.value, reason
