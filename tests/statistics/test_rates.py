"""Rates: the interval is Wilson's at N_eff, the design effect stays in its bounds, order changes nothing."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]  # ships no types

from auditor.statistics import Interval, Item, Rate, Weighting, lower_bound, rate, upper_bound
from auditor.statistics.interval import critical_value

item_lists = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 4), st.integers(0, 4)).map(lambda t: (t[0], t[1], min(t[1], t[2]))),
    min_size=1,
    max_size=25,
).map(lambda rows: [Item(q, cluster, m, Fraction(x)) for q, (cluster, m, x) in enumerate(rows)])


def known(items: list[Item], weighting: Weighting = Weighting.TRIALS) -> Rate:
    """The rate of a list that is not empty."""
    found = rate(items, weighting)
    assert found is not None
    return found


def limits(items: list[Item], level: float = 0.95) -> Interval:
    """The interval of a list with two clusters or more."""
    found = known(items).interval(level)
    assert found is not None
    return found


def alike(clusters: int, trials: int, hits: int) -> list[Item]:
    """Clusters of one question with equal outcomes."""
    return [Item(g, g, trials, Fraction(hits)) for g in range(clusters)]


@given(item_lists, st.sampled_from(Weighting))
def test_interval_holds_the_rate_and_lies_in_range(items: list[Item], weighting: Weighting) -> None:
    """0 ≤ low ≤ rate ≤ high ≤ 1, and a higher level is wider."""
    found = known(items, weighting)
    assert 0 <= found.value <= 1
    narrow, wide = found.interval(0.8), found.interval(0.99)
    if found.clusters < 2:
        assert narrow is None
        return
    assert narrow is not None
    assert wide is not None
    assert 0 <= wide.low <= narrow.low <= found.value <= narrow.high <= wide.high <= 1


@given(item_lists, st.randoms(use_true_random=False))
def test_order_changes_nothing(items: list[Item], shuffle: random.Random) -> None:
    """Sums are exact, so the order of items cannot matter."""
    other = items[:]
    shuffle.shuffle(other)
    assert known(other) == known(items)


@given(item_lists)
def test_design_effect_stays_between_its_bounds(items: list[Item]) -> None:
    """At least 1 + (r̄−1)/2, at most the trials a cluster (as a fully correlated sample has)."""
    found = known(items)
    if found.deff is None:
        assert found.clusters < 2
        return
    sizes = [sum(i.trials for i in items if i.cluster == g) for g in {i.cluster for i in items}]
    assert 1 + (Fraction(found.trials, len(items)) - 1) / 2 <= found.deff
    assert found.deff <= Fraction(sum(size * size for size in sizes), found.trials)


def test_clusters_that_are_all_alike_count_once_each() -> None:
    """Nothing varies between them: N_eff is the number of clusters, not of trials."""
    for hits in (0, 1, 3):
        found = known(alike(40, 3, hits))
        assert found.deff == 3
        assert found.effective_trials == 40


def test_repeats_never_count_in_full() -> None:
    """Repeats that look independent still cost half: 3 repeats have deff of at least 2."""
    items = [Item(q, q, 3, Fraction(x)) for q, x in enumerate([1, 2] * 30)]
    assert known(items).deff == 2


def test_questions_of_one_source_are_no_independent_evidence() -> None:
    """60 questions from 12 documents that agree within: the interval is that of 12, not of 60."""
    items = [Item(q, q // 5, 1, Fraction(q // 5 % 2)) for q in range(60)]
    apart = [Item(q, q, 1, item.total) for q, item in enumerate(items)]
    assert known(items).effective_trials == 12
    assert limits(items).high - limits(items).low > 2 * (limits(apart).high - limits(apart).low)


def test_one_cluster_has_no_interval() -> None:
    """One document says nothing of others."""
    found = known([Item(q, 7, 1, Fraction(q % 2)) for q in range(50)])
    assert found.deff is None
    assert found.interval() is None


def test_no_trial_has_no_rate() -> None:
    """None, not 0."""
    assert rate([]) is None


def test_few_clusters_widen_by_students_t() -> None:
    """Below 30 clusters N_eff is multiplied by (z/t)²; at 30 it is not."""
    few, many = alike(29, 1, 0), alike(30, 1, 0)
    z, t = critical_value(0.95, 30), critical_value(0.95, 29)
    assert z == pytest.approx(1.959964)
    assert t == pytest.approx(2.048407)
    low, high = proportion_confint(0, 29 * (z / t) ** 2, method="wilson")
    assert limits(few).high == pytest.approx(high)
    assert limits(many).high == pytest.approx(proportion_confint(0, 30, method="wilson")[1])
    assert low == 0.0


def test_weighting_by_question_and_by_trial_differ_where_repeats_do() -> None:
    """A question that lost repeats still counts once in Q."""
    items = [Item(0, 0, 3, Fraction(3)), Item(1, 1, 1, Fraction(0))]
    assert known(items).value == Fraction(3, 4)
    assert known(items, Weighting.QUESTIONS).value == Fraction(1, 2)


def test_accuracy_when_answering_is_a_ratio() -> None:
    """Correct over attempted, with questions of unequal numbers of attempts."""
    items = [Item(0, 0, 3, Fraction(3)), Item(1, 1, 2, Fraction(1)), Item(2, 2, 1, Fraction(0))]
    assert known(items).value == Fraction(4, 6)


@pytest.mark.parametrize(("trials", "total"), [(0, 0), (1, 2), (2, -1)])
def test_impossible_counts_are_refused(trials: int, total: int) -> None:
    """More hits than trials is a bug, not a rate above 1."""
    with pytest.raises(ValueError, match="not a count"):
        Item(0, 0, trials, Fraction(total))


@given(st.integers(1, 200), st.data())
def test_one_sided_bounds_hold_the_rate(clusters: int, data: st.DataObject) -> None:
    """lower ≤ rate ≤ upper, also where N is not a whole number of violations."""
    value = data.draw(st.fractions(0, 1, max_denominator=50))
    assert lower_bound(float(value), clusters) <= float(value) <= upper_bound(float(value), clusters)
