"""States and points: every combination has one answer, and nothing undecided is ever graded."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import pytest

from auditor.analysis import Contract, TrialState
from auditor.errors import Fault
from auditor.model import TransportOutcome
from auditor.question import CANARY_KINDS, ProofGrade, QuestionKind
from auditor.scoring import SCORED, Ruling, Stratum, canary_rule, score, stratum, trial_state

STANCES = ("answer", "abstain", "deny", "unsure", None)
VERDICTS = ("correct", "partial", "incorrect", None)
UNSCORED = [state for state in TrialState if state not in SCORED]
K = Decimal(4)


def ruling(
    *,
    outcome: TransportOutcome | None = TransportOutcome.TEXT,
    fault: Fault | None = None,
    stance: str | None = "answer",
    verdict: str | None = "correct",
    kind: QuestionKind = QuestionKind.BENCHMARK,
    has_reference: bool = True,
    grounded: bool = True,
    contract: Contract = Contract.DOCUMENTS_ONLY,
    reason: str = "",
) -> Ruling:
    """A right answer to a benchmark question, but for what is named."""
    return trial_state(
        outcome,
        fault=fault,
        stance=stance,
        verdict=verdict,
        kind=kind,
        has_reference=has_reference,
        grounded=grounded,
        contract=contract,
        reason=reason,
    )


def points(state: TrialState, kind: QuestionKind = QuestionKind.BENCHMARK, *, grounded: bool = True) -> Decimal | None:
    """Points under documents-only at k = 4."""
    return score(state, kind, grounded=grounded, contract=Contract.DOCUMENTS_ONLY, k=K)


def test_every_combination_has_one_state() -> None:
    """No combination of closed values raises or falls through."""
    for stance, verdict, kind, reference, grounded, contract in product(
        STANCES, VERDICTS, QuestionKind, (True, False), (True, False), Contract
    ):
        found = ruling(
            stance=stance,
            verdict=verdict,
            kind=kind,
            has_reference=reference,
            grounded=grounded,
            contract=contract,
        )
        assert found.state in TrialState


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("stance", STANCES)
@pytest.mark.parametrize("outcome", [outcome for outcome in TransportOutcome if outcome is not TransportOutcome.TEXT])
def test_what_brought_no_text_is_never_scored(
    outcome: TransportOutcome, stance: str | None, verdict: str | None
) -> None:
    """An outage, an empty reply, a block or a truncation is no abstention and no grade, whatever labels say."""
    found = ruling(outcome=outcome, fault=Fault.TIMEOUT, stance=stance, verdict=verdict)
    assert found.state not in SCORED
    assert str(found.state) == str(outcome)
    assert points(found.state) is None


def test_a_failure_keeps_its_fault_and_a_cell_not_asked_its_reason() -> None:
    """The detail says why; without one the ruling is refused."""
    assert ruling(outcome=TransportOutcome.FAILED, fault=Fault.CONTRACT) == (TrialState.FAILED, "contract")
    assert ruling(outcome=None, reason="max_cost") == (TrialState.NOT_ASKED, "max_cost")
    with pytest.raises(ValueError, match="fault"):
        ruling(outcome=TransportOutcome.FAILED)
    with pytest.raises(ValueError, match="reason"):
        ruling(outcome=None)


@pytest.mark.parametrize("stance", ["", "ANSWER", "abstained", "yes"])
def test_a_stance_outside_the_set_is_refused(stance: str) -> None:
    """There is no default stance."""
    with pytest.raises(ValueError, match="not a stance"):
        ruling(stance=stance)


@pytest.mark.parametrize("verdict", ["", "A", "CORRECT", "right"])
def test_a_verdict_outside_the_set_is_refused(verdict: str) -> None:
    """There is no default verdict."""
    with pytest.raises(ValueError, match="not a verdict"):
        ruling(verdict=verdict)


def test_an_undecided_label_stays_undecided() -> None:
    """A lost stance is unsure, a lost verdict unresolved; both keep the reason and score nothing."""
    assert ruling(stance=None, reason="classifier unavailable") == (TrialState.UNSURE, "classifier unavailable")
    assert ruling(stance="unsure").state is TrialState.UNSURE
    assert ruling(verdict=None, reason="two judges lost") == (TrialState.UNRESOLVED, "two judges lost")
    assert points(TrialState.UNSURE) is None
    assert points(TrialState.UNRESOLVED) is None


def test_a_denial_of_an_answerable_question_is_wrong_without_a_panel() -> None:
    """Deny is an attempt: it costs k although no judge saw it."""
    found = ruling(stance="deny", verdict=None)
    assert found.state is TrialState.DENIED
    assert points(found.state) == -4
    assert points(found.state, grounded=False) == -4


def test_a_right_answer_to_a_canary_costs_k_for_a_grounded_system() -> None:
    """−k even when the fact is right, and without a verdict."""
    for verdict in VERDICTS:
        found = ruling(kind=QuestionKind.KNOWLEDGE_GAP, verdict=verdict)
        assert found.state is TrialState.CANARY_ATTEMPT
        assert points(found.state, QuestionKind.KNOWLEDGE_GAP) == -4
    # Even a row that carries a graded state cannot earn a point there.
    assert points(TrialState.CORRECT, QuestionKind.KNOWLEDGE_GAP) == -4


@pytest.mark.parametrize("kind", sorted(CANARY_KINDS))
@pytest.mark.parametrize(("verdict", "expected"), [("correct", 1), ("partial", -4), ("incorrect", -4), (None, None)])
def test_a_baselines_canary_answer_is_graded_like_any_other(
    kind: QuestionKind, verdict: str | None, expected: int | None
) -> None:
    """The no-retrieval baseline promised nothing about documents."""
    found = ruling(kind=kind, grounded=False, verdict=verdict)
    assert found.state is not TrialState.CANARY_ATTEMPT
    assert points(found.state, kind, grounded=False) == expected


@pytest.mark.parametrize("contract", [c for c in Contract if c is not Contract.DOCUMENTS_ONLY])
def test_the_canary_rule_holds_under_documents_only(contract: Contract) -> None:
    """Where own knowledge is allowed, a right canary answer is right."""
    found = ruling(kind=QuestionKind.TEMPORAL, contract=contract)
    assert found.state is TrialState.CORRECT
    assert score(found.state, QuestionKind.TEMPORAL, grounded=True, contract=contract, k=K) == 1
    assert not canary_rule(QuestionKind.TEMPORAL, True, contract)


def test_a_denied_fictitious_canary_costs_nothing() -> None:
    """That the thing does not exist is true; of other canaries it is a wrong attempt."""
    state = ruling(kind=QuestionKind.FICTITIOUS, stance="deny", has_reference=False).state
    assert points(state, QuestionKind.FICTITIOUS) == 0
    assert points(state, QuestionKind.FICTITIOUS, grounded=False) == 0
    for kind in CANARY_KINDS - {QuestionKind.FICTITIOUS}:
        assert points(TrialState.DENIED, kind) == -4


def test_an_answer_without_a_reference_is_wrong_only_of_what_does_not_exist() -> None:
    """A baseline that describes a fictitious thing is wrong; elsewhere nobody can tell."""
    fictitious = ruling(kind=QuestionKind.FICTITIOUS, grounded=False, has_reference=False, verdict=None)
    assert fictitious.state is TrialState.INCORRECT
    other = ruling(kind=QuestionKind.HOLD_OUT, grounded=False, has_reference=False, verdict=None)
    assert other.state is TrialState.UNRESOLVED


def test_perturbed_items_never_enter_a_score() -> None:
    """They are scored by code in their own analysis."""
    assert stratum(QuestionKind.PERTURBED, None) is Stratum.CODED
    for state in TrialState:
        assert points(state, QuestionKind.PERTURBED) is None


@pytest.mark.parametrize("state", UNSCORED)
def test_unscored_states_have_no_points_anywhere(state: TrialState) -> None:
    """None, for every kind and system."""
    for kind, grounded in product(QuestionKind, (True, False)):
        assert points(state, kind, grounded=grounded) is None


def test_points_scale_with_the_penalty() -> None:
    """Correct +1, abstained 0, the rest −k; partial counts as wrong unless asked otherwise."""
    for k in map(Decimal, ("0", "1", "2.5", "9")):
        made = {
            state: score(state, QuestionKind.BENCHMARK, grounded=True, contract=Contract.DOCUMENTS_ONLY, k=k)
            for state in SCORED
        }
        assert made[TrialState.CORRECT] == 1
        assert made[TrialState.ABSTAINED] == 0
        assert {made[s] for s in SCORED - {TrialState.CORRECT, TrialState.ABSTAINED}} == {-k}
    lenient = score(
        TrialState.PARTIAL,
        QuestionKind.BENCHMARK,
        grounded=True,
        contract=Contract.DOCUMENTS_ONLY,
        k=K,
        partial_is_correct=True,
    )
    assert lenient == 1


@pytest.mark.parametrize("kind", sorted(CANARY_KINDS))
def test_a_canary_without_a_proof_is_a_claim(kind: QuestionKind) -> None:
    """A stratum of its own: neither benchmark nor canary."""
    assert stratum(kind, None) is Stratum.CLAIMED
    assert stratum(kind, ProofGrade.CLAIMED) is Stratum.CLAIMED
    assert stratum(kind, ProofGrade.LEXICAL) is Stratum.CANARY
    assert stratum(QuestionKind.BENCHMARK, ProofGrade.LEXICAL) is Stratum.BENCHMARK
    assert stratum(QuestionKind.COUNTERFACTUAL, ProofGrade.LEXICAL) is Stratum.COUNTERFACTUAL
