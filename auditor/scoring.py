"""From what was recorded of a trial to its state, and from its state to points.

Invariant: both maps are total on closed sets and have no default. A value outside its set raises; what was never
decided stays unscored (``None``), whatever caused it (DESIGN §4, rules 1 and 2).
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from auditor.analysis import Contract, TrialState
from auditor.errors import Fault
from auditor.model import TransportOutcome
from auditor.question import CANARY_KINDS, ProofGrade, QuestionKind

__all__ = [
    "ATTEMPTS",
    "SCORED",
    "Ruling",
    "Stratum",
    "canary_rule",
    "score",
    "stratum",
    "trial_state",
]

SCORED = frozenset(
    {
        TrialState.CORRECT,
        TrialState.PARTIAL,
        TrialState.INCORRECT,
        TrialState.ABSTAINED,
        TrialState.DENIED,
        TrialState.CANARY_ATTEMPT,
    }
)
ATTEMPTS = SCORED - {TrialState.ABSTAINED}

_WITHOUT_TEXT = {
    TransportOutcome.EMPTY: TrialState.EMPTY,
    TransportOutcome.BLOCKED: TrialState.BLOCKED,
    TransportOutcome.TRUNCATED: TrialState.TRUNCATED,
    TransportOutcome.FAILED: TrialState.FAILED,
    TransportOutcome.QUOTA_EXHAUSTED: TrialState.QUOTA_EXHAUSTED,
}


class Stratum(StrEnum):
    """Which pool of questions a trial belongs to. Pools are never mixed in a penalty score (METHODS §2)."""

    BENCHMARK = "benchmark"
    CANARY = "canary"  # absence proven over the corpus variant that was asked
    CLAIMED = "claimed"  # flagged as a canary, absence not proven: outside Q_bench and CVR, never with an interval
    COUNTERFACTUAL = "counterfactual"
    CODED = "coded"  # perturbed items: scored by code in an analysis of their own


class Ruling(NamedTuple):
    """The state of a trial and what belongs to it: the fault, or why a cell was not asked or not decided."""

    state: TrialState
    detail: str


def stratum(kind: QuestionKind, proof: ProofGrade | None) -> Stratum:
    """The stratum of a question under one corpus variant; ``proof`` is None where nobody tried to prove absence."""
    match kind:
        case QuestionKind.BENCHMARK:
            return Stratum.BENCHMARK
        case QuestionKind.COUNTERFACTUAL:
            return Stratum.COUNTERFACTUAL
        case QuestionKind.PERTURBED:
            return Stratum.CODED
        case QuestionKind.KNOWLEDGE_GAP | QuestionKind.HOLD_OUT | QuestionKind.TEMPORAL | QuestionKind.FICTITIOUS:
            return Stratum.CLAIMED if proof in (None, ProofGrade.CLAIMED) else Stratum.CANARY


def canary_rule(kind: QuestionKind, grounded: bool, contract: Contract) -> bool:
    """Whether an answer costs k even when it is right: a grounded system on a canary under documents-only
    (METHODS §1, §2).
    """
    return grounded and contract is Contract.DOCUMENTS_ONLY and kind in CANARY_KINDS


def trial_state(
    outcome: TransportOutcome | None,
    *,
    fault: Fault | None,
    stance: str | None,
    verdict: str | None,
    kind: QuestionKind,
    has_reference: bool,
    grounded: bool,
    contract: Contract,
    reason: str = "",
) -> Ruling:
    """The state of one trial (METHODS §1).

    ``outcome`` None is a cell that was not asked, and ``reason`` says why. ``stance`` and ``verdict`` are the reduced
    labels; None is *not decided*, and ``reason`` says why. Raises ``ValueError`` on a value outside its closed set, on
    a failure without a fault, and on a cell that was not asked without a reason.
    """
    if outcome is None:
        if not reason:
            raise ValueError("a cell that was not asked needs its reason")
        return Ruling(TrialState.NOT_ASKED, reason)
    if outcome is not TransportOutcome.TEXT:
        if outcome is TransportOutcome.FAILED and fault is None:
            raise ValueError("a failed call needs its fault")
        return Ruling(_WITHOUT_TEXT[outcome], reason if fault is None else str(fault))
    if kind is QuestionKind.PERTURBED:
        return Ruling(TrialState.UNRESOLVED, "scored by code, not by a panel")
    match stance:
        case "abstain":
            return Ruling(TrialState.ABSTAINED, "")
        case "deny":
            return Ruling(TrialState.DENIED, "")
        case "unsure" | None:
            return Ruling(TrialState.UNSURE, reason or "no stance was decided")
        case "answer":
            return _answered(verdict, kind, has_reference, canary_rule(kind, grounded, contract), reason)
    raise ValueError(f"{stance!r} is not a stance")


def _answered(verdict: str | None, kind: QuestionKind, has_reference: bool, ruled: bool, reason: str) -> Ruling:
    if ruled:
        return Ruling(TrialState.CANARY_ATTEMPT, "")
    if not has_reference:
        # Nothing that is said of a thing that does not exist can be right; elsewhere nobody can tell.
        if kind is QuestionKind.FICTITIOUS:
            return Ruling(TrialState.INCORRECT, "an answer about a thing that does not exist")
        return Ruling(TrialState.UNRESOLVED, "the question has no reference")
    match verdict:
        case "correct":
            return Ruling(TrialState.CORRECT, "")
        case "partial":
            return Ruling(TrialState.PARTIAL, "")
        case "incorrect":
            return Ruling(TrialState.INCORRECT, "")
        case None:
            return Ruling(TrialState.UNRESOLVED, reason or "the panel did not decide")
    raise ValueError(f"{verdict!r} is not a verdict")


def score(
    state: TrialState,
    kind: QuestionKind,
    *,
    grounded: bool,
    contract: Contract,
    k: Decimal,
    partial_is_correct: bool = False,
) -> Decimal | None:
    """Points of one trial at penalty ``k`` (METHODS §2): correct +1, incorrect −k, abstained 0; None is *not scored*.

    A grounded system's attempt on a canary costs k whatever was said; a denied fictitious canary costs nothing, because
    the denial is true. ``partial_is_correct`` is the variant that METHODS §1 shows beside the headline.
    """
    if kind is QuestionKind.PERTURBED or state not in SCORED:
        return None
    right = state is TrialState.CORRECT or (partial_is_correct and state is TrialState.PARTIAL)
    match state:
        case TrialState.ABSTAINED:
            return Decimal(0)
        case TrialState.DENIED:
            return Decimal(0) if kind is QuestionKind.FICTITIOUS else -k
        case TrialState.CORRECT | TrialState.PARTIAL | TrialState.INCORRECT | TrialState.CANARY_ATTEMPT:
            return Decimal(1) if right and not canary_rule(kind, grounded, contract) else -k
    raise AssertionError(f"{state} is scored but has no points")
