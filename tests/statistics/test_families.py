"""Families, ranks, exclusions and agreement."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]  # ships no types

from auditor.statistics import (
    AskedItem,
    benjamini_hochberg,
    bonferroni_level,
    bounds_lead,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    holm,
    lone_dissents,
    rank_sets,
    ranks,
    rate_bounds,
    same_order_share,
    score_bounds,
    score_of,
    specific_agreement,
    tipping_share,
    unanimity,
)

asked_lists = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)).filter(lambda t: t[0] + t[2] > 0),
    min_size=2,
    max_size=15,
).map(lambda rows: [AskedItem(q, q, m, min(m, r), m - min(m, r), x) for q, (m, r, x) in enumerate(rows)])


def test_holm_and_benjamini_hochberg_by_hand() -> None:
    """Three p-values, in the order given."""
    assert list(holm([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])
    assert list(benjamini_hochberg([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.04, 0.04])
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=10)
def test_corrections_equal_the_librarys(p_values: list[float]) -> None:
    """statsmodels is the oracle."""
    for ours, method in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        assert list(ours(p_values)) == pytest.approx(list(multipletests(p_values, method=method)[1]))


def test_a_test_that_could_not_be_made_still_counts() -> None:
    """The family is what was planned: its size does not shrink with missing results."""
    found = holm([0.01, None, None])
    assert found[0] == pytest.approx(0.03)
    assert found[1:] == (None, None)


def test_simultaneous_level() -> None:
    """α is shared among the intervals."""
    assert bonferroni_level(5) == pytest.approx(0.99)
    assert bonferroni_level(0) == pytest.approx(0.95)


def test_ranks_share_ties_and_leave_out_the_unknown() -> None:
    """1, 1, 3; no rank without a value."""
    assert ranks([Fraction(1), None, Fraction(1), Fraction(0)]) == (1, None, 1, 3)


def test_rank_sets_follow_what_was_decided() -> None:
    """Nothing decided: every rank is open. All decided: one each. p-values of an unknown decide nothing."""
    values = [Fraction(3), Fraction(2), Fraction(1)]
    undecided = dict.fromkeys([(0, 1), (0, 2), (1, 2)], 1.0)
    assert rank_sets(values, undecided) == ((1, 3), (1, 3), (1, 3))
    assert rank_sets(values, dict.fromkeys(undecided, 0.01)) == ((1, 1), (2, 2), (3, 3))
    assert rank_sets(values, undecided | {(0, 2): 0.01}) == ((1, 2), (1, 3), (2, 3))
    assert rank_sets([Fraction(1), None], {(0, 1): 0.001}) == ((1, 1), None)


def test_order_of_repeats() -> None:
    """The share that orders as the first does; unknown with a gap or one repeat."""
    first, second = [Fraction(2), Fraction(1)], [Fraction(1), Fraction(2)]
    assert same_order_share([first, first, second]) == Fraction(2, 3)
    assert same_order_share([first]) is None
    assert same_order_share([first, [None, Fraction(1)]]) is None


@given(asked_lists)
def test_bounds_hold_every_completion(items: list[AskedItem]) -> None:
    """What was scored, and any grade of what was not, lies between worst and best."""
    found = score_bounds(items, 4)
    assert found is not None
    observed = score_of([o for o in (item.observed() for item in items) if o is not None], 4)
    mixed = score_of([item.completed(excluded_are_right=item.question % 2 == 0) for item in items], 4)
    assert mixed is not None
    assert found.worst.value <= mixed.value <= found.best.value
    if not any(item.excluded for item in items):
        assert observed is not None
        assert found.worst.value == observed.value == found.best.value
    interval, worst, best = found.interval(), found.worst.interval(), found.best.interval()
    assert interval is not None
    assert worst is not None
    assert best is not None
    assert (interval.low, interval.high) == (worst.low, best.high)


def test_canary_bounds() -> None:
    """An excluded canary trial is an attempt at worst and none at best."""
    found = rate_bounds([AskedItem(q, q, 2, 0, 1, 1) for q in range(5)])
    assert found is not None
    assert (found.least.value, found.most.value) == (Fraction(1, 3), Fraction(2, 3))


@pytest.mark.parametrize(
    ("shares", "leads"),
    [((0, 0), False), ((2, 1), False), ((3, 3), True), ((2, 0), True), ((1, 0), False), ((), False)],
)
def test_when_bounds_become_the_headline(shares: tuple[int, ...], leads: bool) -> None:
    """More than 2 % lost, or more than 1 point apart."""
    assert bounds_lead([Fraction(share, 100) for share in shares]) is leads


def test_tipping_point() -> None:
    """0 without a lead, a share where the excluded can turn it, None where they cannot."""
    lead = [AskedItem(q, q, 1, 1, 0, 1) for q in range(10)]
    other = [AskedItem(q, q, 2, 1, 0, 0) for q in range(10)]
    # The leader moves from 1 to (1 − 4)/2 = −1.5, the other stays at .5: .5 of 2.5.
    assert tipping_share(lead, other, Fraction(4)) == Fraction(1, 5)
    assert tipping_share(other, lead, Fraction(4)) == Fraction(1, 5)
    assert tipping_share(other, other, Fraction(4)) == 0
    far = [AskedItem(q, q, 1, 0, 1, 0) for q in range(10)]
    assert tipping_share(lead, far, Fraction(4)) is None
    assert tipping_share(lead, [AskedItem(0, 0, 0, 0, 0, 1)], Fraction(4)) is None


PANELS = [
    ("correct", "correct", "correct"),
    ("correct", "correct", "incorrect"),
    ("incorrect", "incorrect", "correct"),
    ("incorrect", "incorrect", "incorrect"),
    ("partial", "correct", "incorrect"),
]


def test_agreement_by_hand() -> None:
    """Two judges on 50 inputs (20, 5, 10, 15): κ .4; AC1 of the same."""
    votes = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    assert cohen_kappa(votes).value == pytest.approx(0.4)
    # Share of a over both judges is .55: chance 2·.55·.45 = .495 on a scale of two.
    assert gwet_ac1(votes, 2).value == pytest.approx((0.7 - 0.495) / (1 - 0.495))


def test_fleiss_published_example() -> None:
    """Fleiss 1971 as commonly tabulated: 10 subjects, 14 raters, five categories, κ = .210."""
    table = [
        (0, 0, 0, 0, 14),
        (0, 2, 6, 4, 2),
        (0, 0, 3, 5, 6),
        (0, 3, 9, 2, 0),
        (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0),
        (3, 2, 6, 3, 0),
        (2, 5, 3, 2, 2),
        (6, 5, 2, 1, 0),
        (0, 2, 2, 3, 7),
    ]
    panels = ["".join(value * count for value, count in zip("abcde", row, strict=True)) for row in table]
    assert fleiss_kappa(panels).value == pytest.approx(0.210, abs=5e-4)


def test_lone_dissents_and_unanimity() -> None:
    """A seat that differs from two that agree; a three-way split is nobody's dissent."""
    assert unanimity(PANELS).value == pytest.approx(2 / 5)
    assert lone_dissents(PANELS, 3) == (0, 0, 2)


def test_specific_agreement_on_incorrect() -> None:
    """Pairs that agree on incorrect, over pairs with it: panels of 1, 2, 3 and 1 such votes."""
    found = specific_agreement(PANELS, "incorrect")
    assert found.value == pytest.approx((0 + 2 + 6 + 0) / (2 + 4 + 6 + 2))
    assert found.n == 4


def test_undefined_is_none_with_a_reason() -> None:
    """No input, no variance, no such vote: never 0 and never 1."""
    same = [("correct", "correct", "correct")] * 4
    for found in (
        unanimity([]),
        cohen_kappa([]),
        fleiss_kappa([]),
        gwet_ac1([], 3),
        fleiss_kappa(same),
        cohen_kappa([("correct", "correct")] * 3),
        specific_agreement(same, "incorrect"),
    ):
        assert found.value is None
        assert found.reason


@given(st.lists(st.tuples(*[st.sampled_from(["correct", "partial", "incorrect"])] * 3), min_size=1, max_size=12))
def test_agreement_does_not_depend_on_the_order_of_seats(panels: list[tuple[str, ...]]) -> None:
    """Only a seat's own count moves with it."""
    for order in permutations(range(3)):
        moved = [tuple(panel[seat] for seat in order) for panel in panels]
        assert gwet_ac1(moved, 3) == gwet_ac1(panels, 3)
        assert fleiss_kappa(moved) == fleiss_kappa(panels)
        assert specific_agreement(moved, "incorrect") == specific_agreement(panels, "incorrect")
        assert lone_dissents(moved, 3) == tuple(lone_dissents(panels, 3)[seat] for seat in order)
