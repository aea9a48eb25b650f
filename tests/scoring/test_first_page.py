"""The first page: requirements are met, not met, or cannot be told; sentences come from a closed set."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from auditor.analysis import AnalysisView
from auditor.findings import Note, NoteKind, Section
from auditor.first_page import Sentence, first_page
from auditor.question import ProofGrade, QuestionKind
from auditor.requirement import Demand, Measure, Ruling, demands, rulings
from auditor.statistics import Decision

INVENTED = Demand(Measure.INVENTED, Decimal("0.05"))
RIGHT = Demand(Measure.RIGHT, Decimal("0.85"))


def sentences(section: Section) -> list[str]:
    """The sentences that are findings."""
    return [b.text for b in section.blocks if isinstance(b, Note) and b.kind is NoteKind.RESULT]


@pytest.fixture
def canaries(asked: Any) -> Callable[..., list[Any]]:
    """``n`` canaries of one kind, of which the first ``violated`` are attempted by ``one``."""

    def build(n: int, violated: int, kind: QuestionKind = QuestionKind.KNOWLEDGE_GAP) -> list[Any]:
        return [
            asked({"one": ["canary_attempt" if i < violated else "abstained"]}, kind, ProofGrade.LEXICAL)
            for i in range(n)
        ]

    return build


def ruling(view: AnalysisView, demand: Demand, system: int = 0) -> Ruling:
    """The ruling on one system."""
    return next(r for r in rulings(view, [demand]) if r.system == system)


@pytest.mark.parametrize(
    ("n", "violated", "decision"),
    [
        (59, 0, Decision.MET),
        (58, 0, Decision.CANNOT_TELL),
        (93, 1, Decision.MET),
        (92, 1, Decision.CANNOT_TELL),
        (124, 2, Decision.MET),
        (60, 12, Decision.NOT_MET),
        (1, 1, Decision.CANNOT_TELL),
    ],
)
def test_a_bound_decides_and_nothing_else(
    view_of: Callable[..., AnalysisView], canaries: Any, n: int, violated: int, decision: Decision
) -> None:
    """METHODS §2: 0, 1, 2 violations bound 5 % in 59, 93, 124 clusters; one fewer cannot tell."""
    assert ruling(view_of(canaries(n, violated)), INVENTED).decision is decision


def test_how_many_more_questions_would_tell(view_of: Callable[..., AnalysisView], canaries: Any) -> None:
    """At no violation in 20 clusters, 39 more would bound 5 %; at exactly the limit none ever would."""
    assert ruling(view_of(canaries(20, 0)), INVENTED).more_clusters == 39
    assert ruling(view_of(canaries(20, 1)), INVENTED).more_clusters is None


def test_each_kind_of_canary_has_to_keep_the_limit(view_of: Callable[..., AnalysisView], canaries: Any) -> None:
    """Kinds are not pooled: many clean canaries of one kind do not hide another kind's violations."""
    questions = canaries(300, 0) + canaries(20, 10, QuestionKind.HOLD_OUT)
    found = ruling(view_of(questions), INVENTED)
    assert found.decision is Decision.NOT_MET
    assert found.value.name == "invented/hold_out"


def test_a_denied_fictitious_canary_invents_nothing(view_of: Callable[..., AnalysisView], asked: Any) -> None:
    """The denial is true."""
    questions = [asked({"one": ["denied"]}, QuestionKind.FICTITIOUS, ProofGrade.LEXICAL) for _ in range(60)]
    assert ruling(view_of(questions), INVENTED).decision is Decision.MET


def test_a_baseline_is_not_held_to_the_canary_rule(view_of: Callable[..., AnalysisView], canaries: Any) -> None:
    """It does not apply, and says why; it is never met by not applying."""
    found = ruling(view_of(canaries(60, 0), baselines=["one"]), INVENTED)
    assert found.decision is None
    assert found.value.value is None and found.reason


def test_claimed_canaries_prove_nothing(view_of: Callable[..., AnalysisView], asked: Any) -> None:
    """Without a proof nobody can tell."""
    questions = [asked({"one": ["abstained"]}, QuestionKind.KNOWLEDGE_GAP, ProofGrade.CLAIMED) for _ in range(200)]
    assert ruling(view_of(questions), INVENTED).decision is Decision.CANNOT_TELL


def test_right_answers_count_scored_trials_only(view_of: Callable[..., AnalysisView], asked: Any) -> None:
    """Abstentions are not right; outages are no trials of it; no trial at all cannot tell."""
    right = [asked({"one": ["correct"]}) for _ in range(190)]
    assert ruling(view_of(right + [asked({"one": ["abstained"]})] * 10), RIGHT).decision is Decision.MET
    lost = view_of(right + [asked({"one": ["failed"]})] * 100)
    assert ruling(lost, RIGHT).decision is Decision.MET
    assert ruling(lost, RIGHT).value.n == 190
    assert ruling(view_of([asked({"one": ["failed"]})]), RIGHT).decision is Decision.CANNOT_TELL
    wrong = view_of(right[:100] + [asked({"one": ["abstained"]})] * 100)
    assert ruling(wrong, RIGHT).decision is Decision.NOT_MET


@pytest.mark.parametrize(
    ("latencies", "limit", "decision"),
    [
        ([100] * 59, "200", Decision.MET),
        ([100] * 58, "200", Decision.CANNOT_TELL),
        ([300] * 58, "200", Decision.NOT_MET),
        ([100] * 94 + [300] * 6, "200", Decision.CANNOT_TELL),
        ([100] * 90 + [300] * 10, "200", Decision.NOT_MET),
        ([100] * 800 + [300] * 200, "200", Decision.NOT_MET),
        ([], "200", Decision.CANNOT_TELL),
    ],
)
def test_a_latency_tail_needs_enough_answers(
    view_of: Callable[..., AnalysisView], asked: Any, latencies: Sequence[int], limit: str, decision: Decision
) -> None:
    """The p95 is bounded by order statistics: below 59 answers no upper bound exists."""
    view = view_of([asked({"one": ["correct"]}) for _ in range(max(1, len(latencies)))])
    timed = [replace(t, latency_ms=Decimal(ms)) for t, ms in zip(view.trials, latencies, strict=False)]
    view = replace(view, trials=tuple(timed) or view.trials)
    assert ruling(view, Demand(Measure.LATENCY, Decimal(limit))).decision is decision


def test_one_unknown_price_makes_the_cost_unknown(view_of: Callable[..., AnalysisView], asked: Any) -> None:
    """Unknown is not zero."""
    view = view_of([asked({"one": ["correct"]}) for _ in range(3)])
    cost = Demand(Measure.COST, Decimal("0.02"))
    priced = tuple(replace(trial, cost_usd=Decimal("0.01")) for trial in view.trials)
    assert ruling(replace(view, trials=priced), cost).decision is Decision.MET
    lacking = (*priced[:2], view.trials[2])
    found = ruling(replace(view, trials=lacking), cost)
    assert found.decision is Decision.CANNOT_TELL
    assert "1 of 3" in found.reason


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ({"one": (90, 5, 5), "two": (30, 60, 10)}, Sentence.BEST),
        ({"one": (90, 5, 5), "two": (89, 5, 6)}, Sentence.NO_DIFFERENCE),
        ({"one": (90, 5, 5), "two": (89, 5, 6), "three": (10, 80, 10)}, Sentence.LEADERS),
        ({"one": (90, 5, 5)}, Sentence.ONE),
    ],
)
def test_the_comparison_is_one_of_a_closed_set(
    view_of: Callable[..., AnalysisView], counted: Callable[..., list[Any]], totals: dict[str, Any], expected: Sentence
) -> None:
    """A difference is claimed only where the corrected test shows one."""
    first = sentences(first_page(view_of(counted(**totals)), ()))[0]
    assert re.fullmatch(re.sub(r"\\\{\w+\\\}", ".+", re.escape(expected.value)), first), first


def test_nothing_scored_and_an_incomplete_run_are_said_first(view_of: Callable[..., AnalysisView], asked: Any) -> None:
    """Nobody reads a verdict over what was never asked."""
    assert sentences(first_page(view_of([asked({"one": ["failed"]})]), ()))[0] == Sentence.NOTHING
    partly = first_page(view_of([asked({"one": ["correct"]}), asked({"one": ["not_asked"]})]), ())
    assert sentences(partly)[0] == "The run is incomplete: 1 of 2 cells were never asked."


def test_requirements_lead_to_one_of_three_sentences(view_of: Callable[..., AnalysisView], canaries: Any) -> None:
    """Met by whom, by none, or not to be decided at this size."""
    said = [sentences(first_page(view_of(canaries(n, v)), [INVENTED]))[0] for n, v in ((59, 0), (60, 30), (20, 0))]
    assert said == [Sentence.MET.format(names="one"), Sentence.NONE_MET, Sentence.UNDECIDED]


def test_frequencies_are_natural_and_bounded(view_of: Callable[..., AnalysisView], canaries: Any) -> None:
    """Of a hundred, about so many, with what is plausible; no interval from one cluster."""
    text = " ".join(sentences(first_page(view_of(canaries(54, 9)), ())))
    assert re.search(r"cannot answer \(knowledge gap\), about 17 got an answer; \d+ to \d+ is plausible", text)
    one = " ".join(sentences(first_page(view_of(canaries(1, 1)), ())))
    assert "too few questions to say what is plausible" in one


def test_demands_are_read_in_their_own_order() -> None:
    """Absent is not demanded."""
    body = {"right_answers_at_least": "0.9", "invented_answers_at_most": "0.05", "latency_p95_ms_at_most": None}
    assert [demand.measure for demand in demands(body)] == [Measure.INVENTED, Measure.RIGHT]
    assert demands({}) == ()


def test_bounds_lead_here_where_they_lead_the_headline(view_of: Callable[..., AnalysisView], asked: Any) -> None:
    """Trials without a score widen the first page's figures exactly as they widen the headline's."""
    from auditor.penalty import PenaltyAnalysis

    states = ["correct"] * 30 + ["incorrect"] * 5 + ["failed"] * 15
    view = view_of([asked({"one": [state]}) for state in states])
    (shown,) = first_page(view, ()).table("in_short").rows
    (headline,) = PenaltyAnalysis().analyse(view).table("headline").rows
    assert shown[-1] in headline
