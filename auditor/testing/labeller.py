"""The contract of judges and stance classifiers that need no chat model, as tests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.canonical import canonical
from auditor.label import Field, LabelInput, LabelKind, Labeller, LabelRequest
from auditor.model import Completion, TransportOutcome
from auditor.testing.check import HOSTILE_TEXTS, at_once, must, no_sleep
from auditor.testing.doubles import no_wire

if TYPE_CHECKING:
    import pytest

__all__ = ["LabellerContract"]


class LabellerContract(ABC):
    """Override ``make`` and ``kind``; override ``inputs`` where the labeller wants others."""

    @abstractmethod
    def make(self) -> Labeller:
        """The configured labeller."""

    @abstractmethod
    def kind(self) -> LabelKind:
        """The kind whose labels it gives."""

    def inputs(self) -> Sequence[LabelInput]:
        """Inputs that it can label."""
        question, references = "When does the depot open?", ("seven in the morning", "7:00")
        answers = ("It opens at 7:00.", "It opens at nine in the evening.", "The documents do not say.")
        return tuple(LabelInput(question, references, answer, (answer,), {}) for answer in answers)

    def request(self, given: LabelInput, number: int = 0) -> LabelRequest:
        """A request with the fields that the kind names, and no other."""
        fields = self.kind().fields
        kept = LabelInput(
            question=given.question if Field.QUESTION in fields else None,
            references=given.references if Field.REFERENCES in fields else None,
            candidate=given.candidate if Field.CANDIDATE in fields else None,
            passages=given.passages if Field.PASSAGES in fields else None,
            recorded=given.recorded if Field.RECORDED in fields else None,
        )
        return LabelRequest(kept, opaque_id=f"{number:032x}", fence=f"fence{number:08x}")

    def test_family_is_declared(self) -> None:
        """The family says what the labeller is: a lineage, or ``embedded:<method>``."""
        family = self.make().traits.family
        must(bool(family) and family == family.lower(), f"family {family!r}")

    def test_reply_parses_as_the_kind(self) -> None:
        """Every reply on an ordinary input is exactly one label of the kind."""
        labeller, kind = self.make(), self.kind()
        for given in self.inputs():
            reply = labeller.label(self.request(given), no_wire)
            must(reply.outcome is TransportOutcome.TEXT, f"{given.candidate!r} got {reply.outcome}")
            canonical(kind.parse(reply.text))

    def test_label_depends_on_the_input_alone(self) -> None:
        """Equal inputs get equal replies, whatever the opaque id, the fence, the order or the company."""
        labeller = self.make()
        if not labeller.traits.family.startswith("embedded:"):
            return
        inputs = list(self.inputs())
        alone = [labeller.label(self.request(given), no_wire).text for given in inputs]
        again = [self.make().label(self.request(given, 7), no_wire).text for given in reversed(inputs)]
        must(alone == again[::-1], "a label depends on the id, the fence, or the order")
        many = [(given, number) for number in range(8) for given in inputs]
        crowd = at_once(lambda one: labeller.label(self.request(*one), no_wire).text, many)
        must(crowd == alone * 8, "a label depends on what is labelled beside it")

    def test_hostile_candidate_is_data(self) -> None:
        """Whatever the candidate holds, there is a reply that is a label, or an error with a fault."""
        labeller, kind = self.make(), self.kind()
        for text in HOSTILE_TEXTS:
            given = replace(self.inputs()[0], candidate=text, passages=(text,))
            try:
                reply = labeller.label(self.request(given), no_wire)
            except Exception as error:  # noqa: BLE001 - any error will do, if the labeller knows its fault
                must(bool(labeller.classify(error).message.strip()), f"{error!r} has a fault without a text")
                continue
            must(isinstance(reply, Completion), f"label returned {reply!r}")
            if reply.outcome is TransportOutcome.TEXT:
                kind.parse(reply.text)

    def test_no_print_and_no_sleep(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        """Labelling prints nothing and waits for nothing but the wire."""
        labeller = self.make()
        labeller.label(self.request(self.inputs()[0]), no_wire)  # a library may announce itself when first loaded
        capfd.readouterr()
        with no_sleep():
            for given in self.inputs():
                labeller.label(self.request(given), no_wire)
        captured = capfd.readouterr()
        must(captured.out == "" and captured.err == "", f"printed: {captured.out}{captured.err}")
