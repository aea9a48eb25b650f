"""Judging: the verdict kind, what a labeller is given, and chat models as labellers.

Invariant: a labeller's input is built here from the fields that its kind names and nothing else; opaque id and fence
derive from the run's key and that input, so equal inputs are one labelling and no id says whose answer it is
(DESIGN §4, rules 2–4; METHODS §2, "Panel").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from auditor import prompts
from auditor.canonical import Json, clean_text, keyed_digest
from auditor.choice import read_choice
from auditor.errors import FaultReport
from auditor.label import (
    Field,
    LabelInput,
    LabelKind,
    Labeller,
    LabelRequest,
    LabelSubject,
    NonLabel,
    Reduced,
    Unparseable,
    Vote,
)
from auditor.model import ChatModel, Completion, Limits, Message, ModelTraits, Role, TransportOutcome, Wire
from auditor.panel import Verdict, reduce_votes
from auditor.question import QuestionKind
from auditor.stance import Stance

__all__ = [
    "ModelLabeller",
    "VerdictKind",
    "build_input",
    "build_request",
    "input_digest",
    "read_vote",
    "render",
]

LABEL_LIMITS = Limits(output_tokens=1024)
_UNPARSED_CHARACTERS = 4_000


class VerdictKind(LabelKind):
    """The core's second label kind: is an attempted answer right? Its labellers never see which system answered."""

    name: ClassVar[str] = "verdict"
    fields: ClassVar[frozenset[Field]] = frozenset({Field.QUESTION, Field.REFERENCES, Field.CANDIDATE})
    after: ClassVar[tuple[str, ...]] = ("stance",)

    def applies(self, subject: LabelSubject) -> bool:
        """Answers to questions that have a reference, canaries and baselines included. A denial needs no panel."""
        return (
            subject.question_kind is not QuestionKind.PERTURBED
            and subject.has_reference
            and subject.labels.get("stance") == Stance.ANSWER.value
        )

    def parse(self, text: str) -> Json:
        """``{"verdict": "correct" | "partial" | "incorrect"}``; anything else raises ``Unparseable``."""
        return read_choice(text, "verdict", tuple(Verdict))

    def reduce(self, votes: Sequence[Vote]) -> Reduced:
        """The panel's median; see ``auditor.panel``."""
        return reduce_votes(votes)


def build_input(
    kind: LabelKind,
    *,
    question: str | None = None,
    references: Sequence[str] = (),
    candidate: str | None = None,
    passages: Sequence[str] | None = None,
    recorded: Mapping[str, str] | None = None,
) -> LabelInput:
    """What labellers of ``kind`` are given of all this: the fields it names.

    ``candidate`` is the scrubbed text. Raises ``ValueError`` when a field that the kind names is missing, or when the
    candidate is blank (such a text has no label). Lone surrogates become U+FFFD.
    """
    given: dict[Field, object] = {
        Field.QUESTION: question,
        Field.REFERENCES: tuple(references) or None,
        Field.CANDIDATE: candidate if candidate is not None and candidate.strip() else None,
        Field.PASSAGES: None if passages is None else tuple(passages),
        Field.RECORDED: recorded,
    }
    missing = sorted(field.value for field in kind.fields if given[field] is None)
    if missing:
        raise ValueError(f"{kind.name} needs {', '.join(missing)}")
    shown = kind.fields
    return LabelInput(
        question=_clean(question) if Field.QUESTION in shown else None,
        references=tuple(map(_clean, references)) if Field.REFERENCES in shown else None,
        candidate=_clean(candidate) if Field.CANDIDATE in shown else None,
        passages=tuple(map(_clean, passages or ())) if Field.PASSAGES in shown else None,
        recorded={_clean(k): _clean(v) for k, v in (recorded or {}).items()} if Field.RECORDED in shown else None,
    )


def _clean(text: str | None) -> str:
    """Text that can be digested and sent; a missing one has been refused before."""
    return clean_text(text or "")[0]


def input_digest(run_key: bytes, kind: str, given: LabelInput) -> str:
    """32 hex characters that name one input of one kind within a run. Equal inputs are labelled once."""
    recorded: Json = None if given.recorded is None else [[key, given.recorded[key]] for key in sorted(given.recorded)]
    return keyed_digest(
        run_key, ["input", kind, given.question, given.references, given.candidate, given.passages, recorded]
    )


def build_request(run_key: bytes, kind: str, given: LabelInput, unparsed: str | None = None) -> LabelRequest:
    """The request for one labelling; ``unparsed`` makes it a repair."""
    digest = input_digest(run_key, kind, given)
    opaque_id = keyed_digest(run_key, ["opaque", digest])
    fence = keyed_digest(run_key, ["fence", digest])[:16].upper()
    return LabelRequest(given, opaque_id, fence, unparsed)


_NON_LABELS: Mapping[TransportOutcome, NonLabel] = {
    TransportOutcome.EMPTY: NonLabel.UNAVAILABLE,
    TransportOutcome.BLOCKED: NonLabel.REFUSED,
    TransportOutcome.TRUNCATED: NonLabel.UNAVAILABLE,
    TransportOutcome.FAILED: NonLabel.UNAVAILABLE,
    TransportOutcome.QUOTA_EXHAUSTED: NonLabel.UNAVAILABLE,
}


def read_vote(kind: LabelKind, seat: int, completion: Completion) -> Vote:
    """One reply as a vote: the kind's value, or a typed reason why there is none. Never a default."""
    non_label = _NON_LABELS.get(completion.outcome)
    if non_label is not None:
        return Vote(seat, non_label=non_label)
    if not completion.text.strip():
        return Vote(seat, non_label=NonLabel.UNAVAILABLE)
    try:
        return Vote(seat, kind.parse(completion.text))
    except Unparseable:
        return Vote(seat, non_label=NonLabel.UNPARSEABLE)


def _neutral(data: str, fence: str) -> str:
    """``data`` with every writing of the fence made harmless, visibly."""
    return re.sub(re.escape(fence), "[marker code]", data, flags=re.IGNORECASE)


def _block(slot: str, data: str, fence: str) -> str:
    return f"[BEGIN {slot} {fence}]\n{_neutral(data, fence)}\n[END {slot} {fence}]"


def _slots(request: LabelRequest) -> Mapping[str, str | None]:
    given = request.input
    references = None if given.references is None else "\n".join(f"- {one}" for one in given.references)
    passages = None if given.passages is None else "\n\n".join(given.passages)
    unparsed = None if request.unparsed is None else request.unparsed[:_UNPARSED_CHARACTERS]
    return {
        "QUESTION": given.question,
        "REFERENCES": references,
        "CANDIDATE": given.candidate,
        "PASSAGES": passages,
        "UNPARSED": unparsed,
    }


def render(prompt: prompts.Prompt, request: LabelRequest) -> tuple[Message, ...]:
    """The messages of ``prompt`` with the request's data in its slots, each between marker lines with the fence.

    Data is joined, never formatted. Raises ``ValueError`` when a slot has no data.
    """
    data = _slots(request)
    messages: list[Message] = []
    for turn in prompt.turns:
        text = list(turn.parts)
        for at in range(1, len(text), 2):
            value = data.get(text[at])
            if value is None:
                raise ValueError(f"prompt {prompt.name!r} has a slot {text[at]} and the request has no such data")
            text[at] = _block(text[at], value, request.fence)
        messages.append(Message(Role(turn.role), "".join(text)))
    return tuple(messages)


def _schema(field: str, choices: Sequence[str]) -> Mapping[str, Json]:
    return {
        "type": "object",
        "properties": {field: {"type": "string", "enum": list(choices)}, "reason": {"type": "string"}},
        "required": [field, "reason"],
        "additionalProperties": False,
    }


_TASKS: Mapping[str, Sequence[str]] = {"stance": tuple(Stance), "verdict": tuple(Verdict)}


class ModelLabeller(Labeller):
    """A chat model with the core's prompt for stance or verdict.

    A repair shows the model its own earlier reply as data, and doubles the room for the new one: a reply is most often
    unreadable because it was cut.
    """

    def __init__(self, model: ChatModel, kind: str, limits: Limits = LABEL_LIMITS) -> None:
        super().__init__(None)
        if kind not in _TASKS:
            raise ValueError(f"no prompt for label kind {kind!r}")
        self.model, self.kind, self.limits = model, kind, limits
        self.prompt, self.repair = prompts.load(kind), prompts.load("repair")
        self.schema = _schema(kind, [str(choice) for choice in _TASKS[kind]])

    @property
    def traits(self) -> ModelTraits:
        """The model's own."""
        return self.model.traits

    def messages(self, request: LabelRequest) -> tuple[Message, ...]:
        """What goes on the wire."""
        task = render(self.prompt, request)
        if request.unparsed is None:
            return task
        again = "\n\n".join(message.content for message in render(self.repair, request))
        return (*task[:-1], replace(task[-1], content=f"{task[-1].content}\n\n{again}"))

    def label(self, request: LabelRequest, wire: Wire) -> Completion:
        """One completion; what it is worth is for ``read_vote`` to say."""
        limits = self.limits
        if request.unparsed is not None and limits.output_tokens is not None:
            limits = replace(limits, output_tokens=2 * limits.output_tokens)
        return self.model.complete(self.messages(request), self.schema, limits, wire)

    def classify(self, error: BaseException) -> FaultReport:
        """The model's own."""
        return self.model.classify(error)
