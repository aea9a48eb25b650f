"""Judges that vote by exact match, unless the candidate has an order for their seat (``b=partial``, ``c=garbage``)."""

from __future__ import annotations

import json
import re

from auditor.label import Labeller, LabelRequest
from auditor.model import Completion, ModelTraits, TransportOutcome, Wire
from auditor_stub.reach import dig

seen: list[tuple[str, LabelRequest]] = []


class _Judge(Labeller):
    seat = ""

    @property
    def traits(self) -> ModelTraits:
        return ModelTraits(f"embedded:stub-{self.seat}")

    def label(self, request: LabelRequest, wire: Wire) -> Completion:
        seen.append((self.seat, request))
        dig(request, wire, wire())
        candidate = request.input.candidate or ""
        order = re.search(rf"\b{self.seat}=(\w+)", candidate)
        if order is None:
            right = any(reference in candidate for reference in request.input.references or ())
            return _said("correct" if right else "incorrect")
        if order[1] == "garbage" or (order[1] == "once" and request.unparsed is None):
            return Completion(TransportOutcome.TEXT, "Although it may be right, I cannot say.")
        if order[1] == "gone":
            return Completion(TransportOutcome.FAILED)
        if order[1] == "refused":
            return Completion(TransportOutcome.BLOCKED)
        return _said("correct" if order[1] == "once" else order[1])


def _said(verdict: str) -> Completion:
    return Completion(TransportOutcome.TEXT, json.dumps({"verdict": verdict}))


class JudgeA(_Judge):
    seat = "a"


class JudgeB(_Judge):
    seat = "b"


class JudgeC(_Judge):
    seat = "c"


class Stance(Labeller):
    """``I do not know`` abstains, ``There is no`` denies, ``Hmm`` is unsure, all else answers."""

    @property
    def traits(self) -> ModelTraits:
        return ModelTraits("embedded:stub-stance")

    def label(self, request: LabelRequest, wire: Wire) -> Completion:
        seen.append(("stance", request))
        dig(request, wire, wire())
        candidate = request.input.candidate or ""
        for opening, stance in (("I do not know", "abstain"), ("There is no", "deny"), ("Hmm", "unsure")):
            if candidate.startswith(opening):
                return Completion(TransportOutcome.TEXT, json.dumps({"stance": stance}))
        return Completion(TransportOutcome.TEXT, json.dumps({"stance": "answer"}))
