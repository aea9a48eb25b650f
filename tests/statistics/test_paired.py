"""Two systems on the same questions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.statistics import (
    Item,
    ScoreItem,
    SplitMix64,
    common,
    mcnemar_exact,
    rate_difference,
    rate_flip,
    ratio_difference,
    score_difference,
    sign_flip,
)
from auditor.statistics import resampling as resampling_module

pairs = st.lists(
    st.tuples(st.sampled_from("rwa"), st.sampled_from("rwa")),
    min_size=4,
    max_size=25,
)


def items(letters: str | list[str]) -> list[ScoreItem]:
    """Single runs: r right, w wrong, a abstained."""
    return [ScoreItem(q, q, 1, int(x == "r"), int(x == "w")) for q, x in enumerate(letters)]


def yes(letters: str, repeats: int = 1) -> list[Item]:
    """Questions of ``repeats`` runs each: r is yes."""
    return [Item(q, q, repeats, Fraction(repeats * (x == "r"))) for q, x in enumerate(letters)]


@given(pairs)
def test_differences_are_antisymmetric(rows: list[tuple[str, str]]) -> None:
    """Swapping the two systems turns the sign and keeps the p-value."""
    first, second = items([a for a, _ in rows]), items([b for _, b in rows])
    one, other = score_difference(first, second, 4), score_difference(second, first, 4)
    assert one is not None
    assert other is not None
    assert one.value == -other.value
    here, there = one.interval(), other.interval()
    assert here is not None
    assert there is not None
    assert here.low <= one.value <= here.high
    assert here.low == pytest.approx(-there.high)
    assert here.high == pytest.approx(-there.low)
    assert one.p_value() == pytest.approx(other.p_value(), rel=1e-6)


@given(pairs)
def test_p_value_and_interval_agree(rows: list[tuple[str, str]]) -> None:
    """p < α exactly where the interval of level 1 − α leaves out 0."""
    found = score_difference(items([a for a, _ in rows]), items([b for _, b in rows]), 4)
    assert found is not None
    p = found.p_value()
    assert p is not None
    assert 0 < p <= 1
    for alpha in (0.01, 0.05, 0.2):
        interval = found.interval(1 - alpha)
        assert interval is not None
        if abs(p - alpha) > 1e-6:
            assert (p < alpha) == (not interval.low <= 0 <= interval.high)


def test_equal_systems_have_p_one() -> None:
    """No difference, nothing to test."""
    same = items("rwarwarrr")
    found = score_difference(same, same, 4)
    assert found is not None
    assert found.value == 0
    assert found.p_value() == 1.0


def test_only_common_questions_count() -> None:
    """What one system was not scored on says nothing of the pair."""
    first, second = items("rrrrww"), items("wwww")
    ours, theirs = common(first, second)
    assert [item.question for item in ours] == [item.question for item in theirs] == [0, 1, 2, 3]
    found = score_difference(first, second, 4)
    assert found is not None
    assert found.value == 5
    assert found.questions == 4
    assert score_difference(first, [], 4) is None
    assert rate_difference(yes("r"), []) is None


def test_violation_difference_is_paired_by_question() -> None:
    """Two systems that violate on the same canaries differ less uncertainly than on others."""
    same = rate_difference(yes("rrrraaaaaaaa"), yes("rrraaaaaaaaa"))
    apart = rate_difference(yes("rrrraaaaaaaa"), yes("aaaaaaaaarrr"))
    assert same is not None
    assert apart is not None
    assert same.value == apart.value == Fraction(1, 12)
    assert same.correlation > 0 > apart.correlation
    near, far = same.interval(), apart.interval()
    assert near is not None
    assert far is not None
    assert near.high - near.low < far.high - far.low


def test_one_cluster_has_no_test() -> None:
    """No interval and no p-value, rather than a wrong one."""
    first = [ScoreItem(q, 0, 1, 1, 0) for q in range(20)]
    second = [ScoreItem(q, 0, 1, 0, 1) for q in range(20)]
    found = score_difference(first, second, 4)
    assert found is not None
    assert found.value == 5
    assert found.interval() is None
    assert found.p_value() is None


def test_ratio_difference_keeps_both_denominators() -> None:
    """9 of 10 against 3 of 3: not on the common questions alone."""
    found = ratio_difference(yes("rrrrrrrrra"), yes("rrr"))
    assert found is not None
    assert found.value == Fraction(9, 10) - 1


@given(st.lists(st.fractions(-2, 2, max_denominator=3), min_size=1, max_size=9))
def test_sign_flip_counts_all_flips(differences: list[Fraction]) -> None:
    """The packed count equals enumeration."""
    observed = abs(sum(differences, Fraction(0)))
    flips = list(product((1, -1), repeat=len(differences)))
    hits = sum(abs(sum((d * s for d, s in zip(differences, f, strict=True)), Fraction(0))) >= observed for f in flips)
    found = sign_flip(differences, seed=1)
    assert found is not None
    assert found.exact
    assert found.p_value == pytest.approx(hits / len(flips))


def test_sampled_flips_are_near_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the distribution is too large, seeded flips stand in, the same for any order and different by seed."""
    differences = [Fraction(n % 7 - 2, 3) for n in range(40)]
    exact = sign_flip(differences, seed=1)
    monkeypatch.setattr(resampling_module, "_EXACT_BITS", 0)
    sampled, again = sign_flip(differences, seed=1), sign_flip(differences[::-1], seed=1)
    assert exact is not None
    assert sampled is not None
    assert not sampled.exact
    assert sampled == again
    assert len({sign_flip(differences, seed=seed) for seed in range(6)}) > 1
    assert sampled.p_value == pytest.approx(exact.p_value, abs=0.015)


def test_generator_words_are_fixed() -> None:
    """Published first outputs of SplitMix64 for seed 1234567."""
    generator = SplitMix64(1234567)
    assert [generator.word() for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_flips_take_whole_clusters() -> None:
    """Ten questions of two sources are two coins, not ten."""
    first = [Item(q, q // 5, 1, Fraction(1)) for q in range(10)]
    second = [Item(q, q // 5, 1, Fraction(0)) for q in range(10)]
    found = rate_flip(first, second, seed=1)
    assert found is not None
    assert (found.clusters, found.p_value) == (2, 0.5)
    assert rate_flip(first, [], seed=1) is None


def test_mcnemar_is_exact_and_refuses_repeats_and_shared_sources() -> None:
    """6 against 1 discordant: 2·(1 + 7)/2⁷; with repeats or shared sources its size is wrong, so there is none."""
    first, second = yes("rrrrrraaaa"), yes("aaaaaaraaa")
    assert mcnemar_exact(first, second) == pytest.approx(16 / 128)
    assert mcnemar_exact(first, first) == 1.0
    assert mcnemar_exact(yes("rra", 3), yes("raa", 3)) is None
    assert mcnemar_exact([Item(0, 0, 1, Fraction(1)), Item(1, 0, 1, Fraction(0))], yes("ra")) is None
    assert mcnemar_exact([], []) is None


def test_two_clusters_prove_no_difference() -> None:
    """Residuals of two clusters are always in line, which is no reason for a narrow interval: whatever two sources
    hold, no pair is told apart at 1 %.
    """
    counts = [(3, 0), (2, 1), (1, 2), (0, 3), (0, 0)]
    for one, two, three, four in product(counts, repeat=4):
        first = [ScoreItem(n, n, 3, *count) for n, count in enumerate((one, two))]
        second = [ScoreItem(n, n, 3, *count) for n, count in enumerate((three, four))]
        difference = score_difference(first, second, 4)
        assert difference is not None
        found = difference.interval(0.99)
        assert found is not None
        assert found.low <= 0 <= found.high
