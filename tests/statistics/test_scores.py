"""Q_k, its interval and its crossings."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.statistics import (
    Crossing,
    Item,
    ScoreItem,
    fieller,
    mixed_score,
    penalty_crossing,
    rate,
    score_difference,
    score_flip,
    score_of,
    share_crossing,
)

outcomes = st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(0, 3)).map(
    lambda t: (t[0], min(t[0], t[1]), min(t[0] - min(t[0], t[1]), t[2]))
)
score_items = st.lists(outcomes, min_size=2, max_size=25).map(
    lambda rows: [ScoreItem(q, q // 2, m, right, wrong) for q, (m, right, wrong) in enumerate(rows)]
)
penalties = st.sampled_from([Decimal("0"), Decimal("1"), Decimal("2.5"), Decimal("9")])


@given(score_items, penalties)
def test_score_is_the_mean_of_question_means(items: list[ScoreItem], k: Decimal) -> None:
    """c − k·w, whatever the number of repeats, inside its interval, inside [−k, 1]."""
    found = score_of(items, k)
    assert found is not None
    assert found.value == sum((item.score(Fraction(k)) for item in items), Fraction(0)) / len(items)
    interval = found.interval()
    if interval is not None:
        assert -k - Decimal("1e-12") <= interval.low <= found.value <= interval.high <= 1


@given(score_items)
def test_a_higher_price_never_raises_a_score(items: list[ScoreItem]) -> None:
    """Q falls in k, and stays where nothing is wrong."""
    low, high = score_of(items, 1), score_of(items, 4)
    assert low is not None
    assert high is not None
    assert high.value <= low.value
    assert (high.value == low.value) == (low.wrong.value == 0)


def test_no_trial_no_score_and_no_reward_for_errors() -> None:
    """None without trials; a negative penalty is refused."""
    assert score_of([], 4) is None
    with pytest.raises(ValueError, match="reward"):
        score_of([ScoreItem(0, 0, 1, 1, 0)], -1)


def test_correlation_narrows_or_widens_as_it_must() -> None:
    """Right and wrong answers exclude each other, so the interval is wider than with independent parts."""
    items = [ScoreItem(q, q, 1, int(q % 2 == 0), int(q % 2 == 1)) for q in range(100)]
    found = score_of(items, 1)
    assert found is not None
    assert found.correlation == pytest.approx(-1.0)
    interval, right = found.interval(), found.right.interval()
    assert interval is not None
    assert right is not None
    assert interval.high - interval.low == pytest.approx(2 * (right.high - right.low))


def test_fieller_by_hand() -> None:
    """Ratio 2 of independent parts with variances .04 and .01 at z = 1.96; unbounded where the denominator is weak."""
    found = fieller(2.0, 1.0, (0.04, 0.01, 0.0), 1.96)
    assert found is not None
    low, high = found
    for limit in found:
        assert (2.0 - limit) ** 2 == pytest.approx(1.96**2 * (0.04 + limit**2 * 0.01))
    assert low < 2 < high
    assert fieller(2.0, 1.0, (0.04, 0.30, 0.0), 1.96) is None


def test_crossing_is_where_scores_are_equal() -> None:
    """At k* both have the same Q, and it lies in its interval."""
    first = [ScoreItem(q, q, 1, int(q < 80), int(q >= 80)) for q in range(100)]
    second = [ScoreItem(q, q, 1, int(q < 60), 0) for q in range(100)]
    found = penalty_crossing(first, second)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high
    at = score_difference(first, second, Fraction(found.value))
    assert at is not None
    assert at.value == pytest.approx(0)


def test_crossings_that_are_not_there() -> None:
    """Equal wrong rates, one leader throughout, nothing in common: each has its reason; a weak one no interval."""
    worse = [ScoreItem(q, q, 1, int(q < 50), int(q >= 90)) for q in range(100)]
    better = [ScoreItem(q, q, 1, int(q < 60), int(q >= 90)) for q in range(100)]
    best = [ScoreItem(q, q, 1, int(q < 60), 0) for q in range(100)]
    assert penalty_crossing(better, worse) == Crossing(
        None, reason="equal wrong rates: the difference is the same at every k"
    )
    assert penalty_crossing(best, worse).value is None
    assert penalty_crossing(best, []).reason == "no question was scored for both"
    close = [ScoreItem(q, q, 1, int(q < 61), int(q >= 99)) for q in range(100)]
    weak = penalty_crossing(close, best)
    assert weak.value is not None
    assert weak.low is None
    assert "not identified" in weak.reason


def test_share_crossing_lies_between_the_strata() -> None:
    """At s* both mixed scores are equal; with variances it has an interval within 0 … 1."""
    bare = share_crossing(0.1, 0.5, 4.0)
    assert bare.value == pytest.approx(0.1 / 2.1)
    with_interval = share_crossing(0.1, 0.5, 4.0, (0.0004, 0.004), 1.96)
    assert with_interval.low is not None
    assert with_interval.high is not None
    assert 0 <= with_interval.low <= 0.1 / 2.1 <= with_interval.high <= 1
    assert share_crossing(0.1, -0.01, 4.0).value is None


@given(st.decimals(0, 1, places=2))
def test_mixed_score_lies_between_its_parts(share: Decimal) -> None:
    """s = 0 is Q_bench, s = 1 is −k·CVR."""
    bench = score_of([ScoreItem(q, q, 1, int(q < 8), int(q > 8)) for q in range(10)], 4)
    canary = rate([Item(q, q, 1, Fraction(q < 3)) for q in range(10)])
    assert bench is not None
    assert canary is not None
    found = mixed_score(bench, canary, share)
    assert -4 * canary.value <= found.value <= bench.value
    interval = found.interval()
    assert interval is not None
    assert interval.low <= found.value <= interval.high
    with pytest.raises(ValueError, match="share"):
        mixed_score(bench, canary, Decimal("1.1"))


def test_sign_flip_on_scores_needs_three_hundred_questions() -> None:
    """Below that it is not made."""
    few = [ScoreItem(q, q, 1, 1, 0) for q in range(299)]
    many = [ScoreItem(q, q, 1, q % 2, 0) for q in range(300)]
    assert score_flip(few, few, 4, seed=1) is None
    found = score_flip(many, [ScoreItem(q, q, 1, 0, 0) for q in range(300)], 4, seed=1)
    assert found is not None
    assert found.p_value < 1e-6
