"""Questions: what is asked, what a right answer is, and what proves that a canary has none.

Invariant: nothing in a ``Question`` but the text of one of its forms ever reaches a system (DESIGN §4, rule 4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from auditor.canonical import Json
from auditor.errors import QuestionError

__all__ = [
    "BASE_VARIANT",
    "CANARY_KINDS",
    "Form",
    "Proof",
    "ProofGrade",
    "Question",
    "QuestionKind",
    "refuse_duplicates",
]

BASE_VARIANT = "base"


class QuestionKind(StrEnum):
    """METHODS §1 and §3. Only the kinds in ``CANARY_KINDS`` fall under the canary rule."""

    BENCHMARK = "benchmark"
    KNOWLEDGE_GAP = "knowledge_gap"
    HOLD_OUT = "hold_out"
    TEMPORAL = "temporal"
    FICTITIOUS = "fictitious"
    COUNTERFACTUAL = "counterfactual"  # scored as a question of its own; never in CVR
    PERTURBED = "perturbed"  # RefusalBench items: scored by code only, never in Q, CVR or CAR


CANARY_KINDS = frozenset(
    {
        QuestionKind.KNOWLEDGE_GAP,
        QuestionKind.HOLD_OUT,
        QuestionKind.TEMPORAL,
        QuestionKind.FICTITIOUS,
    }
)


class ProofGrade(StrEnum):
    """How far an absence was proven (METHODS §3). ``CLAIMED`` is a flag of the data that nobody could check."""

    CLAIMED = "claimed"
    LEXICAL = "lexical"
    EMBEDDED = "embedded"
    MODEL_PANEL = "model_panel"


@dataclass(frozen=True, slots=True)
class Proof:
    """That the answer of a question is absent from one corpus variant.

    ``steps`` holds every step as the prover recorded it; ``corpus_digest`` binds it to the documents it read.
    """

    grade: ProofGrade
    corpus_digest: str | None
    date: str
    prover: str
    steps: tuple[Mapping[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """One wording of a question. Most questions have one, named ``plain``."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question with everything that only the auditor may know.

    ``cluster`` is the source page, withheld group or original triple (METHODS §1): all inference clusters there.
    ``variants`` and ``conditions`` say where the question is asked (``None``: everywhere); ``proofs`` are by variant.
    ``analyses`` names the analyses that the question feeds.
    """

    id: str
    kind: QuestionKind
    forms: tuple[Form, ...]
    references: tuple[str, ...]
    cluster: str
    aliases: tuple[str, ...] = ()
    gold_documents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    variants: tuple[str, ...] = (BASE_VARIANT,)
    conditions: tuple[str, ...] | None = None
    proofs: Mapping[str, Proof] = field(default_factory=dict)
    analyses: tuple[str, ...] = ("penalty",)

    @property
    def is_canary(self) -> bool:
        """Whether the canary rule may apply (it also depends on the system and the contract)."""
        return self.kind in CANARY_KINDS

    @property
    def text(self) -> str:
        """The wording of the first form."""
        return self.forms[0].text


def refuse_duplicates(sources: Mapping[str, Sequence[Question]]) -> None:
    """Raise ``QuestionError`` when one id stands in two sources (or twice in one), which names both."""
    first: dict[str, str] = {}
    for source, questions in sources.items():
        for question in questions:
            if question.id in first:
                raise QuestionError(f"question id {question.id!r} is in {first[question.id]} too", file=source)
            first[question.id] = source
