"""The penalty section: what each table promises, on small audits whose answers are known."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.analysis import AnalysisView, Contract, LabelRow
from auditor.findings import Estimate, Figure, Note, NoteKind, Section, Table
from auditor.penalty import PenaltyAnalysis
from auditor.question import ProofGrade, QuestionKind

Build = Callable[..., AnalysisView]
PROVEN = ProofGrade.LEXICAL


def analyse(view: AnalysisView) -> Section:
    """The section."""
    return PenaltyAnalysis().analyse(view)


def row(section: Section, table: str, *first: str) -> dict[str, Any]:
    """The row of ``table`` that begins with these cells, by column."""
    found = section.table(table)
    (cells,) = [cells for cells in found.rows if cells[: len(first)] == first]
    return dict(zip((column.name for column in found.columns), cells, strict=True))


def estimates(section: Section) -> list[Estimate]:
    """All estimates, in tables and out of them."""
    alone = [block for block in section.blocks if isinstance(block, Estimate)]
    tables = [block for block in section.blocks if isinstance(block, Table)]
    return alone + [cell for t in tables for cells in t.rows for cell in cells if isinstance(cell, Estimate)]


def notes(section: Section, kind: NoteKind) -> list[str]:
    """Texts of the notes of a kind."""
    return [block.text for block in section.blocks if isinstance(block, Note) and block.kind is kind]


def test_two_published_counts(view_of: Build, counted: Callable[..., list[Any]]) -> None:
    """942/55/3 against 926/44/30: ΔQ −.028 at k = 4, crossing at k = 1.45, in the findings themselves."""
    section = analyse(view_of(counted(first=(942, 55, 3), second=(926, 44, 30))))
    delta = row(section, "pairs_q", "first", "second")["delta_q"]
    assert delta.value == -0.028
    crossing = row(section, "crossings_k", "first", "second")["crossing"]
    assert crossing.value == pytest.approx(1.45, abs=0.005)
    assert row(section, "ranks", "first", "Q_bench, k = 1")["rank"] == 1
    assert row(section, "ranks", "first", "Q_bench, k = 4")["rank"] == 2
    assert row(section, "headline", "first")["q_bench"].value == 0.722


def test_headline_counts_and_scores(view_of: Build, asked: Any) -> None:
    """Correct, partial, wrong, abstained and denied benchmark answers, by hand at k = 4."""
    happened = ("correct", "correct", "partial", "incorrect", "abstained", "denied")
    section = analyse(view_of([asked({"a": [state]}) for state in happened]))
    found = row(section, "headline", "a")
    assert (found["correct"], found["wrong"], found["abstained"]) == (2, 3, 1)
    assert found["q_bench"].value == pytest.approx((2 - 12) / 6, abs=1e-5)
    assert row(section, "rates", "a")["q_partial"].value == pytest.approx((3 - 8) / 6, abs=1e-5)
    assert row(section, "rates", "a")["accuracy_when_answering"].value == 0.4
    assert row(section, "rates", "a")["answer_accuracy"].value == pytest.approx(2.5 / 6, abs=1e-5)


def test_a_partial_counts_half_in_answer_accuracy_only(view_of: Build, asked: Any) -> None:
    """Votes of 1, .5 and 0 average; a trial without all its votes is left out and counted."""
    questions = [
        asked({"a": ["partial"]}, votes={("a", 0): ("correct", "partial", "incorrect")}),
        asked({"a": ["correct"]}, votes={("a", 0): ("correct", "correct", None)}),
        asked({"a": ["abstained"]}),
    ]
    found = row(analyse(view_of(questions)), "rates", "a")
    assert found["answer_accuracy"].value == 0.25
    assert found["answer_accuracy"].n == 2
    assert "1 trials" in found["answer_accuracy"].reason


def canary_audit(asked: Any, baseline: str = "incorrect") -> list[Any]:
    """Two grounded systems and a baseline on 10 benchmark questions and 6 proven canaries of two kinds."""
    benchmark = [asked({"open": ["correct"], "shy": ["abstained"], "base": ["incorrect"]}) for _ in range(10)]
    gap = [
        asked(
            {"open": ["canary_attempt"], "shy": ["abstained"], "base": [baseline]},
            QuestionKind.KNOWLEDGE_GAP,
            PROVEN,
            votes={("open", 0): ("correct",) * 3},
        )
        for _ in range(3)
    ]
    denied = {"open": ["denied"], "shy": ["abstained"], "base": ["denied"]}
    fictitious = [asked(denied, QuestionKind.FICTITIOUS, PROVEN, has_reference=False) for _ in range(3)]
    return [*benchmark, *gap, *fictitious]


def test_canaries_stay_out_of_q_bench(view_of: Build, asked: Any) -> None:
    """Strata are never pooled in a score: ten right answers are Q = 1 whatever canaries say."""
    section = analyse(view_of(canary_audit(asked), baselines=["base"]))
    found = row(section, "headline", "open")
    assert found["q_bench"].value == 1.0
    assert found["q_bench"].n == 10


def test_a_baselines_violation_rate_is_not_applicable(view_of: Build, asked: Any) -> None:
    """None with the reason, never 0."""
    section = analyse(view_of(canary_audit(asked), baselines=["base"]))
    for kind in ("knowledge_gap", "fictitious"):
        cell = row(section, "headline", "base")[f"cvr_{kind}"]
        assert (cell.value, cell.low, cell.reason) == (None, None, "n/a (not grounded)")
    assert all("base" not in cells[:2] for cells in section.table("pairs_cvr").rows)


def test_violations_are_by_kind_strict_and_answer_only(view_of: Build, asked: Any) -> None:
    """A denial of a fictitious thing is an attempt under strict, none under answer-only, and free of cost."""
    section = analyse(view_of(canary_audit(asked), baselines=["base"], canary_share="0.1"))
    gap = row(section, "canaries", "open", "knowledge gap")
    made_up = row(section, "canaries", "open", "fictitious")
    assert (gap["strict"].value, gap["answer_only"].value) == (1.0, 1.0)
    assert (made_up["strict"].value, made_up["answer_only"].value, made_up["denied"]) == (1.0, 0.0, 3)
    assert row(section, "mixed", "open", "fictitious", 0.1)["q_mixed"].value == 0.9  # type: ignore[arg-type]  # a share
    assert row(section, "mixed", "open", "knowledge gap", 0.1)["q_mixed"].value == 0.5  # type: ignore[arg-type]  # same


def test_volume_accuracy_credits_a_right_canary_answer(view_of: Build, asked: Any) -> None:
    """Correct over scored in all strata, by the canary's own verdict: 13 of 16."""
    section = analyse(view_of(canary_audit(asked), baselines=["base"]))
    assert row(section, "rates", "open")["volume_accuracy"].value == 13 / 16


def test_canary_kind_under_another_contract_has_no_violation_rate(view_of: Build, asked: Any) -> None:
    """Where own knowledge is allowed, an answer violates nothing."""
    view = view_of(canary_audit(asked, "correct"), contract=Contract.DOCUMENTS_OR_KNOWLEDGE)
    cell = row(analyse(view), "headline", "open")["cvr_knowledge_gap"]
    assert cell.value is None
    assert "documents-only" in cell.reason


def test_a_claimed_canary_is_a_stratum_without_an_interval(view_of: Build, asked: Any) -> None:
    """Outside Q_bench and CVR; the baseline is n/a there too."""
    questions = [asked({"a": ["correct"], "b": ["correct"], "base": ["correct"]}) for _ in range(5)]
    states = {"a": ["canary_attempt"], "b": ["abstained"], "base": ["correct"]}
    questions.append(asked(states, QuestionKind.KNOWLEDGE_GAP, ProofGrade.CLAIMED))
    section = analyse(view_of(questions, baselines=["base"]))
    assert row(section, "headline", "a")["q_bench"].n == 5
    assert not any(column.name.startswith("cvr") for column in section.table("headline").columns)
    attempted, held, base = (row(section, "claimed", name)["rate"] for name in ("a", "b", "base"))
    assert (attempted.value, attempted.low, attempted.n) == (1.0, None, 1)
    assert held.value == 0.0
    assert base.value is None
    assert "claimed, unproven" in attempted.reason


_CORRECT = ("grounded pairs", "system", "correct / all scored")
UNSCORED = ("unsure", "unresolved", "empty", "blocked", "truncated", "failed", "quota_exhausted", "not_asked")


@pytest.mark.parametrize("state", UNSCORED)
def test_an_unscored_trial_changes_no_score_and_is_counted(view_of: Build, asked: Any, state: str) -> None:
    """Neither dropped nor graded: the same Q on the same n, one more in the table of states, bounds that are wider."""
    questions = [asked({"a": ["correct"], "b": ["correct"]}) for _ in range(8)]
    questions += [asked({"a": ["incorrect"], "b": ["abstained"]}) for _ in range(4)]
    before = analyse(view_of(questions))
    after = analyse(view_of([*questions, asked({"a": [state], "b": ["correct"]})]))
    scores = [row(section, "exclusions", "a")["scored"] for section in (before, after)]
    assert scores[0] == scores[1]
    assert row(after, "states", "a", "benchmark")[state] == 1
    assert row(after, "exclusions", "a")["excluded"] == 1
    narrow, wide = (row(section, "exclusions", "a")["bounds"] for section in (before, after))
    assert wide.low < narrow.low
    assert wide.high > narrow.high
    assert any(cells[1] == state for cells in after.table("exclusion_reasons").rows)


def test_bounds_lead_where_much_was_lost(view_of: Build, asked: Any) -> None:
    """With more than 2 % lost the headline shows bounds, with a warning; without, the interval."""
    questions = [asked({"a": ["correct"], "b": ["correct"]}) for _ in range(20)]
    whole = analyse(view_of(questions))
    lost = analyse(view_of([*questions, asked({"a": ["failed"], "b": ["correct"]})]))
    assert not notes(whole, NoteKind.WARNING)
    assert any("bounds" in text for text in notes(lost, NoteKind.WARNING))
    bounds, scored = row(lost, "headline", "a")["q_bench"], row(lost, "exclusions", "a")["scored"]
    assert bounds.value == scored.value
    assert bounds.low < scored.low
    assert row(lost, "headline", "a")["q_bench"].low == row(lost, "exclusions", "a")["bounds"].low


def test_all_asked_counts_nothing_as_zero_and_common_as_common(view_of: Build, asked: Any) -> None:
    """Two other estimands beside the score, each with its own n."""
    questions = [asked({"a": ["correct"], "b": ["correct"]}) for _ in range(3)]
    questions.append(asked({"a": ["empty"], "b": ["incorrect"]}))
    section = analyse(view_of(questions))
    first, second = row(section, "exclusions", "a"), row(section, "exclusions", "b")
    assert (first["scored"].value, first["all_asked"].value, first["all_asked"].n) == (1.0, 0.75, 4)
    assert (second["scored"].value, second["common"].value, second["common"].n) == (-0.25, 1.0, 3)


def test_nothing_scored_is_unknown_and_raises_nothing(view_of: Build, asked: Any) -> None:
    """A system that stopped at once is in every table, with None and reasons."""
    questions = [asked({"a": ["not_asked"], "b": ["correct"]}) for _ in range(5)]
    questions.append(asked({"a": ["not_asked"], "b": ["abstained"]}, QuestionKind.HOLD_OUT, PROVEN))
    section = analyse(view_of(questions, canary_share="0.02"))
    found = row(section, "headline", "a")
    assert found["q_bench"].value is None
    assert found["q_bench"].reason
    assert found["cvr_hold_out"].value is None
    assert row(section, "ranks", "a", "Q_bench, k = 4")["rank"] is None
    assert row(section, "pairs_q", "a", "b")["decision"] == "no test"


def test_empty_views_have_a_section(view_of: Build) -> None:
    """No system, no question: a section all the same."""
    assert analyse(view_of([])).table("headline").rows == ()


@pytest.mark.parametrize("judges", [("alpha", "beta", "gamma")])
def test_every_estimate_says_what_it_is(view_of: Build, asked: Any, judges: tuple[str, ...]) -> None:
    """n, and either an interval or a reason; a value has an estimand and a method; names are unique in a table."""
    section = analyse(view_of(canary_audit(asked), baselines=["base"], canary_share="0.018", judges=judges))
    for found in estimates(section):
        if found.value is None:
            assert found.reason, found
            assert (found.low, found.high) == (None, None)
            continue
        assert found.n > 0, found
        assert found.estimand, found
        assert found.method, found
        assert (found.low is None) == (found.high is None)
        if found.low is None or found.high is None:
            assert found.reason, found
        else:
            assert found.low <= found.value <= found.high


def test_a_role_conflict_is_marked_in_every_table(view_of: Build, asked: Any) -> None:
    """The mark stands at the name wherever a table or figure names the system, and a note says what it means."""
    view = view_of(canary_audit(asked), baselines=["base"], conflicts={"open": ("judge-x",)}, canary_share="0.018")
    section = analyse(view)
    named = 0
    for block in section.blocks:
        if isinstance(block, Table):
            for place, column in enumerate(block.columns):
                if column.name in ("system", "other"):
                    cells = [cells[place] for cells in block.rows]
                    assert "open" not in cells, block.name
                    named += cells.count("open †")
        elif isinstance(block, Figure):
            assert "open" not in [series.name for series in block.series]
    assert named > 10
    assert any(text.startswith("†") and "judge-x" in text for text in notes(section, NoteKind.DISCLOSURE))


def test_a_simulated_system_is_labelled_wherever_it_is_named(view_of: Build, asked: Any) -> None:
    """In each table, and once in words."""
    view = view_of(canary_audit(asked), baselines=["base"], simulated={"base": "a table of guesses"})
    section = analyse(view)
    assert row(section, "headline", "base (simulated)")["correct"] == 0
    assert any("a table of guesses" in text for text in notes(section, NoteKind.DISCLOSURE))


def test_pairs_with_a_baseline_are_a_family_of_their_own(view_of: Build, asked: Any) -> None:
    """Three grounded systems: three tests at .05/3; a baseline adds none to them."""
    states = {"a": ["correct"], "b": ["abstained"], "c": ["incorrect"]}
    plain = analyse(view_of([asked(states) for _ in range(12)]))
    more = analyse(view_of([asked({**states, "base": ["incorrect"]}) for _ in range(12)], baselines=["base"]))
    for section in (plain, more):
        found = row(section, "pairs_q", "a", "b")
        assert found["family"] == "grounded pairs"
        assert found["delta_q"].level == pytest.approx(1 - 0.05 / 3, abs=1e-6)
    assert row(plain, "pairs_q", "a", "b") == row(more, "pairs_q", "a", "b")
    assert row(more, "pairs_q", "a", "base")["family"] == "pairs with a baseline"


def test_mcnemar_only_without_repeats(view_of: Build, asked: Any) -> None:
    """Asked once: exact McNemar. Asked three times: sign-flip."""
    once = analyse(view_of([asked({"a": ["correct"], "b": ["abstained"]}) for _ in range(6)]))
    thrice = analyse(view_of([asked({"a": ["correct"] * 3, "b": ["abstained"] * 3}) for _ in range(6)]))
    first, second = (row(section, "pairs_rates", "a", "b", *_CORRECT) for section in (once, thrice))
    assert first["test"] == "exact McNemar"
    assert second["test"] == "sign-flip by cluster"
    assert first["p"] == second["p"] == 2 / 2**6


def test_inference_clusters_by_source(view_of: Build, asked: Any) -> None:
    """The same answers from four documents are less evidence than from forty."""
    apart = [asked({"a": ["correct" if n % 4 else "incorrect"]}, cluster=n) for n in range(40)]
    together = [asked({"a": ["correct" if n % 4 else "incorrect"]}, cluster=n % 4) for n in range(40)]
    wide, narrow = (row(analyse(view_of(q)), "headline", "a")["q_bench"] for q in (together, apart))
    assert wide.value == narrow.value
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_repeats_are_shown(view_of: Build, asked: Any) -> None:
    """Changed outcomes are counted, and agreement in order is called no evidence."""
    questions = [asked({"a": ["correct", "abstained"], "b": ["incorrect"] * 2}) for _ in range(4)]
    section = analyse(view_of(questions))
    found = row(section, "repeats", "a")
    assert (found["questions"], found["changed"]) == (4, 4)
    assert [(found[name].value, found[name].n) for name in ("q_0", "q_1")] == [(1.0, 4), (0.0, 4)]
    assert all(found[name].low <= found[name].value <= found[name].high for name in ("q_0", "q_1"))
    assert any("no evidence" in text for text in notes(section, NoteKind.METHOD))


def panel_view(view_of: Build, asked: Any) -> AnalysisView:
    """Votes in which gamma alone dissents twice and beta is lost once."""
    votes = [("correct", "correct", "incorrect")] * 2 + [("correct",) * 3] * 3 + [("incorrect", None, "incorrect")]
    return view_of([asked({"a": ["correct"]}, votes={("a", 0): cast}) for cast in votes])


def test_panel_agreement(view_of: Build, asked: Any) -> None:
    """Full panels, unanimity, lone dissents and losses, by judge."""
    section = analyse(panel_view(view_of, asked))
    panel = row(section, "panel", "all systems")
    assert (panel["unique"], panel["full"], panel["degraded_after"]) == (6, 5, 1)
    assert panel["unanimity"].value == 0.6
    assert [cells[0] for cells in section.table("judges").rows] == ["alpha", "beta", "gamma"]
    assert row(section, "judges", "gamma")["lone_dissents"] == 2
    assert row(section, "judges", "beta")["unavailable"] == 1
    assert row(section, "panel_pairs", "alpha", "gamma")["kappa"].n == 6


def test_equal_judge_inputs_count_once(view_of: Build, asked: Any) -> None:
    """Agreement is over unique inputs: trials that share a label add nothing."""
    view = panel_view(view_of, asked)
    again = tuple(replace(trial, key=f"{trial.key}x", repeat=1) for trial in view.trials)
    doubled = replace(view, trials=view.trials + again, repeats=2)
    assert analyse(doubled).table("panel") == analyse(view).table("panel")
    assert analyse(doubled).table("judges") == analyse(view).table("judges")


states = st.sampled_from(["correct", "incorrect", "partial", "abstained", "denied", "unsure", "failed"])


@pytest.fixture(scope="module")
def pool() -> list[dict[str, list[str]]]:
    """Forty questions with repeats."""
    source = random.Random(5)  # noqa: S311 - test data
    names = ["correct", "correct", "incorrect", "abstained", "failed"]
    return [{s: source.choices(names, k=2) for s in ("a", "b", "c")} for _ in range(40)]


@given(shuffle=st.randoms(use_true_random=False))
@settings(max_examples=4)
def test_order_of_trials_and_seats_changes_nothing(
    view_of: Build, asked: Any, pool: list[dict[str, list[str]]], shuffle: random.Random
) -> None:
    """Equal facts give equal sections: trials, systems, labels and judges in any order."""
    view = view_of([asked(states, cluster=n // 3) for n, states in enumerate(pool)])
    trials, systems, labellers = list(view.trials), list(view.systems), list(view.labellers)
    for rows in (trials, systems, labellers):
        shuffle.shuffle(rows)
    seats = {row.ordinal: number for number, row in enumerate(labellers)}
    labels = {key: _reseated(label, seats) for key, label in sorted(view.labels["verdict"].items(), reverse=True)}
    moved = replace(
        view,
        trials=tuple(trials),
        systems=tuple(systems),
        labellers=tuple(replace(row, ordinal=seats[row.ordinal]) for row in labellers),
        labels={"verdict": labels},
    )
    assert analyse(moved) == analyse(view)


def _reseated(label: LabelRow, seats: dict[int, int]) -> LabelRow:
    votes = tuple(sorted((replace(v, labeller=seats[v.labeller]) for v in label.votes), key=lambda v: v.labeller))
    return replace(label, votes=votes, first_votes=votes)


@given(rows=st.lists(st.tuples(states, states), min_size=1, max_size=8))
@settings(max_examples=15)
def test_any_mixture_of_states_has_a_section(view_of: Build, asked: Any, rows: list[tuple[str, str]]) -> None:
    """Whatever happened: no exception, each cell in one state, rates in 0 … 1, estimates in their intervals."""
    section = analyse(view_of([asked({"a": [first], "b": [second]}) for first, second in rows]))
    for name in ("a", "b"):
        counts = row(section, "states", name, "benchmark")
        assert sum(counts[state] for state in counts if state in _STATES) == len(rows) == counts["asked"]
    for found in estimates(section):
        if found.value is not None and found.unit == "rate" and not found.name.startswith("delta"):
            assert 0 <= found.value <= 1
        if found.value is not None and found.low is not None and found.high is not None:
            assert found.low <= found.value <= found.high


_STATES = frozenset(
    "correct partial incorrect abstained denied canary_attempt unsure unresolved empty blocked truncated failed "
    "quota_exhausted not_asked".split()
)


def test_a_pair_names_all_that_it_varies(view_of: Build, asked: Any) -> None:
    """Two systems under two conditions differ in both: the comparison is not of the condition alone."""
    view = view_of([asked({name: ["correct"] for name in ("a1", "a2", "b2", "a3")}) for _ in range(4)])
    places = (("a", "one", "k", "5"), ("a", "two", "k", "10"), ("b", "two", "k", "10"), ("a", "three", "k", "5"))
    systems = tuple(
        replace(system, system=base, condition_name=name, condition={tag: value})
        for system, (base, name, tag, value) in zip(view.systems, places, strict=True)
    )
    section = analyse(replace(view, systems=systems))
    found = {pair: row(section, "pairs_q", *pair)["varies"] for pair in (("a1", "a2"), ("a1", "b2"), ("a2", "b2"))}
    assert found == {("a1", "a2"): "k", ("a1", "b2"): "system, k", ("a2", "b2"): "system"}
    assert row(section, "pairs_q", "a1", "a3")["varies"] == "prompt"
