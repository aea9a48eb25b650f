"""Analyses: pure functions from labelled trials to a section of the findings.

Invariant: an analysis sees no text. What needs text is a label, recorded by an earlier step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar

from auditor.canonical import Json
from auditor.findings import Section
from auditor.label import Vote
from auditor.model import TransportOutcome
from auditor.question import ProofGrade, QuestionKind
from auditor.system import SystemTraits

__all__ = [
    "CONFLICT_MARK",
    "Analysis",
    "AnalysisView",
    "Contract",
    "LabelRow",
    "LabellerRow",
    "QuestionRow",
    "SystemRow",
    "TrialRow",
    "TrialState",
    "marked",
]


class Contract(StrEnum):
    """What a system is told it may answer from (METHODS §1). The canary penalty applies under documents-only."""

    DOCUMENTS_ONLY = "documents_only"
    DOCUMENTS_OR_KNOWLEDGE = "documents_or_knowledge"
    OWN_KNOWLEDGE = "own_knowledge"
    CONTEXT_WITH_CODES = "context_with_codes"


class TrialState(StrEnum):
    """The closed set of METHODS §1. The first six are scored; the rest are counted and never scored."""

    CORRECT = "correct"
    PARTIAL = "partial"
    INCORRECT = "incorrect"
    ABSTAINED = "abstained"
    DENIED = "denied"
    CANARY_ATTEMPT = "canary_attempt"
    UNSURE = "unsure"
    UNRESOLVED = "unresolved"
    EMPTY = "empty"
    BLOCKED = "blocked"
    TRUNCATED = "truncated"
    FAILED = "failed"
    QUOTA_EXHAUSTED = "quota_exhausted"
    NOT_ASKED = "not_asked"


CONFLICT_MARK = "†"


def marked(name: str, *, conflicts: bool, simulated: bool) -> str:
    """A system's name with the marks that must stand beside it wherever it is named: a shared role, a simulation."""
    return f"{name}{f' {CONFLICT_MARK}' if conflicts else ''}{' (simulated)' if simulated else ''}"


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One resolved system × condition pair of the protocol.

    ``system`` and ``condition_name`` name the two; ``name`` is what it is called in this audit.
    """

    ordinal: int
    name: str
    kind: str
    contract: Contract
    traits: SystemTraits
    condition: Mapping[str, str] = field(default_factory=dict)
    role_conflicts: tuple[str, ...] = ()  # names of judges or classifiers that share its family
    system: str = ""
    condition_name: str = ""

    @property
    def title(self) -> str:
        """The name as every table shows it, with its marks."""
        return marked(self.name, conflicts=bool(self.role_conflicts), simulated=bool(self.traits.simulated))


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question without its wording. ``proof``: by corpus variant; empty for a question that is no canary."""

    ordinal: int
    kind: QuestionKind
    cluster: int
    has_reference: bool
    tags: tuple[str, ...] = ()
    proofs: Mapping[str, ProofGrade] = field(default_factory=dict)
    analyses: tuple[str, ...] = ("penalty",)


@dataclass(frozen=True, slots=True)
class LabellerRow:
    """One seat: ``ordinal`` within its label kind."""

    kind: str
    ordinal: int
    name: str
    family: str


@dataclass(frozen=True, slots=True)
class LabelRow:
    """All votes of one kind on one unique input. ``key`` is the input's keyed digest; trials refer to it."""

    kind: str
    key: str
    votes: tuple[Vote, ...]  # one a seat, in the panel's order, after repair
    first_votes: tuple[Vote, ...]  # the same before repair
    value: Json
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One cell of the schedule with what became of it.

    ``labels`` maps a kind to the key of its ``LabelRow``. ``answer_class`` numbers equal scrubbed answers to one
    question.
    ``chunks`` and ``citations``: how many were reported; None is not reported.
    """

    key: str
    system: int
    variant: str
    question: int
    form: str
    repeat: int
    outcome: TransportOutcome | None  # None: not asked
    state: TrialState
    detail: str = ""  # the fault, or why it was not asked
    labels: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()  # capped, cut, injection, surrogates …
    answer_class: int | None = None
    chunks: int | None = None
    citations: int | None = None
    attempts: int = 0
    latency_ms: Decimal | None = None
    cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class AnalysisView:
    """All that an analysis is given."""

    systems: tuple[SystemRow, ...]
    questions: tuple[QuestionRow, ...]
    labellers: tuple[LabellerRow, ...]
    trials: tuple[TrialRow, ...]
    labels: Mapping[str, Mapping[str, LabelRow]]  # kind → input key → row
    penalty_k: Decimal
    penalty_sweep: tuple[Decimal, ...]
    canary_share: Decimal | None
    repeats: int
    seed: int
    settings: Mapping[str, Json] = field(default_factory=dict)  # the spec's block for this analysis

    def label(self, trial: TrialRow, kind: str) -> LabelRow | None:
        """The label of ``kind`` that ``trial`` refers to."""
        key = trial.labels.get(kind)
        return None if key is None else self.labels[kind][key]


class Analysis(ABC):
    """One analysis. Stateless."""

    name: ClassVar[str]
    version: ClassVar[int] = 1

    @abstractmethod
    def analyse(self, view: AnalysisView) -> Section:
        """The section. Pure: equal views give equal sections, on any machine."""
