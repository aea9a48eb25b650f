"""Label kinds: what is said of an answer, by whom, on sight of what.

Stance and verdict are the core's own two kinds (``stance.py``, ``panel.py``); a plugin's kinds run through the same
step.
Invariant: a labeller is given the fields its kind names and nothing else, so blinding is a property of the kind, not of
each labeller (DESIGN §4, rule 4).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from auditor.canonical import Json
from auditor.errors import AuditorError, Fault, FaultReport
from auditor.model import Completion, ModelTraits, Wire
from auditor.question import QuestionKind

__all__ = [
    "Field",
    "LabelInput",
    "LabelKind",
    "LabelRequest",
    "LabelSubject",
    "Labeller",
    "NonLabel",
    "Reduced",
    "Unparseable",
    "Vote",
]


class Field(StrEnum):
    """What a labeller may be shown."""

    QUESTION = "question"
    REFERENCES = "references"
    CANDIDATE = "candidate"  # scrubbed of marks, house phrases and thinking; cut at 12,000 characters
    PASSAGES = "passages"
    RECORDED = "recorded"  # a recording's own labels; no judge's kind may name it


@dataclass(frozen=True, slots=True)
class LabelInput:
    """What one labelling is given. A field that the kind does not name is None."""

    question: str | None = None
    references: tuple[str, ...] | None = None  # the reference, then its aliases
    candidate: str | None = None
    passages: tuple[str, ...] | None = None
    recorded: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """One labelling as the labeller gets it.

    ``opaque_id`` and ``fence`` derive from the run's key and the input's digest. ``fence`` marks where data begins and
    ends in a prompt. ``unparsed`` is the labeller's own earlier reply when this is a repair.
    """

    input: LabelInput
    opaque_id: str
    fence: str
    unparsed: str | None = None


class Labeller(ABC):
    """An embedded judge or classifier, or a chat model with a prompt.

    Replies with text, which the kind parses strictly: a JSON object with at least the kind's field, such as
    ``{"verdict": "correct", "reason": "…"}``.
    """

    config_model: ClassVar[type[Any] | None] = None

    def __init__(self, config: Any = None) -> None:
        self.config = config

    @property
    @abstractmethod
    def traits(self) -> ModelTraits:
        """Family and hosts. An embedded labeller declares the family ``embedded:<method>``."""

    @abstractmethod
    def label(self, request: LabelRequest, wire: Wire) -> Completion:
        """One reply on one input. Deterministic for embedded labellers; judged item by item, rounded before
        thresholds.
        """

    def classify(self, error: BaseException) -> FaultReport:
        """The fault of an error that ``label`` raised."""
        return FaultReport(Fault.INTERNAL, f"{type(error).__name__}: {error}")


class NonLabel(StrEnum):
    """Why a labeller gave no label (METHODS §1). Never read as a label of any kind."""

    UNPARSEABLE = "unparseable"
    UNAVAILABLE = "unavailable"
    REFUSED = "refused"


class Unparseable(AuditorError):
    """A reply that is not exactly one label of the kind."""


@dataclass(frozen=True, slots=True)
class Vote:
    """What one labeller said of one input: a value of the kind, or why there is none. Exactly one is set."""

    labeller: int
    value: Json = None
    non_label: NonLabel | None = None


@dataclass(frozen=True, slots=True)
class Reduced:
    """The votes of all labellers as one: ``value`` is None when they do not decide, and ``reason`` says why."""

    value: Json
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LabelSubject:
    """What a kind may know of a trial to say whether it applies. ``labels``: reduced values of the kinds named in
    ``after``.
    """

    question_kind: QuestionKind
    has_reference: bool
    grounded: bool
    contract: str
    labels: Mapping[str, Json] = field(default_factory=dict)
    recorded_labels: frozenset[str] = frozenset()


class LabelKind(ABC):
    """One kind of label. All methods are pure."""

    name: ClassVar[str]
    fields: ClassVar[frozenset[Field]]
    after: ClassVar[tuple[str, ...]] = ()
    repairs: ClassVar[int] = 3

    @abstractmethod
    def applies(self, subject: LabelSubject) -> bool:
        """Whether trials like this one get the label. Asked only of trials whose transport outcome is ``text``."""

    @abstractmethod
    def parse(self, text: str) -> Json:
        """The label in a reply; raises ``Unparseable``. There is no default."""

    @abstractmethod
    def reduce(self, votes: Sequence[Vote]) -> Reduced:
        """The votes of all labellers, in the panel's order, as one. The order must not matter."""

    def own_labeller(self) -> Labeller | None:
        """The labeller of a kind that brings its own; None when the spec names them."""
        return None
