"""Acme's judge, stance classifier and label kind."""

from __future__ import annotations

import json
from collections.abc import Sequence

from auditor.canonical import Json
from auditor.label import Field, LabelKind, Labeller, LabelRequest, LabelSubject, Reduced, Unparseable, Vote
from auditor.model import Completion, ModelTraits, TransportOutcome, Wire


def _reply(wire: Wire, **fields: str) -> Completion:
    with wire():
        return Completion(TransportOutcome.TEXT, json.dumps(fields))


class AcmeJudge(Labeller):
    """Correct when a reference stands in the candidate."""

    @property
    def traits(self) -> ModelTraits:
        """No model."""
        return ModelTraits("embedded:acme-contains")

    def label(self, request: LabelRequest, wire: Wire) -> Completion:
        """A verdict."""
        candidate = (request.input.candidate or "").lower()
        found = any(reference.lower() in candidate for reference in request.input.references or ())
        return _reply(wire, verdict="correct" if found else "incorrect", reason="looked for the reference")


class AcmeStance(Labeller):
    """Knows one sentence that abstains."""

    @property
    def traits(self) -> ModelTraits:
        """No model."""
        return ModelTraits("embedded:acme-stance")

    def label(self, request: LabelRequest, wire: Wire) -> Completion:
        """A stance."""
        abstains = "i do not know" in (request.input.candidate or "").lower()
        return _reply(wire, stance="abstain" if abstains else "answer")


class _Ruler(Labeller):
    @property
    def traits(self) -> ModelTraits:
        return ModelTraits("embedded:acme-ruler")

    def label(self, request: LabelRequest, wire: Wire) -> Completion:
        return _reply(wire, length="long" if len(request.input.candidate or "") > 80 else "short")


class AcmeLength(LabelKind):
    """Short or long."""

    name = "acme-length"
    fields = frozenset({Field.CANDIDATE})

    def applies(self, subject: LabelSubject) -> bool:
        """To every text."""
        return True

    def parse(self, text: str) -> Json:
        """``short`` or ``long``; nothing else."""
        try:
            value = json.loads(text)["length"]
        except (ValueError, KeyError, TypeError) as error:
            raise Unparseable(f"no length in {text[:80]!r}") from error
        if value not in {"short", "long"}:
            raise Unparseable(f"{value!r} is no length")
        return str(value)

    def reduce(self, votes: Sequence[Vote]) -> Reduced:
        """One labeller, one value."""
        return Reduced(votes[0].value, str(votes[0].non_label or ""))

    def own_labeller(self) -> Labeller:
        """A ruler."""
        return _Ruler()
