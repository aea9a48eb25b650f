"""Every figure of METHODS §1–2 that can be recomputed, recomputed."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from auditor.statistics import (
    Decision,
    Item,
    ScoreItem,
    answer_threshold,
    clusters_needed,
    cvr_range,
    effective_trials,
    false_canary_share,
    gate_at_most,
    minimum_detectable_difference,
    penalty_crossing,
    rate,
    score_difference,
    score_of,
    share_crossing,
    upper_bound,
)


def counted(right: int, wrong: int, abstained: int) -> list[ScoreItem]:
    """Independent questions asked once."""
    outcomes = [(1, 0)] * right + [(0, 1)] * wrong + [(0, 0)] * abstained
    return [ScoreItem(number, number, 1, *outcome) for number, outcome in enumerate(outcomes)]


def attempts(count: int, of: int) -> list[Item]:
    """Trials of questions of their own."""
    return [Item(number, number, 1, Fraction(number < count)) for number in range(of)]


@pytest.mark.parametrize(("k", "threshold"), [(1, 0.5), (2, 0.667), (4, 0.8), (9, 0.9)])
def test_thresholds(k: int, threshold: float) -> None:
    """Answering pays iff p ≥ k/(1+k)."""
    assert float(answer_threshold(k)) == pytest.approx(threshold, abs=5e-4)


def test_two_published_counts() -> None:
    """942 right, 55 wrong, 3 abstained against 926, 44, 30: ΔQ at k = 4 is −.028, and they cross at k = 1.45."""
    first, second = counted(942, 55, 3), counted(926, 44, 30)
    found = score_difference(first, second, 4)
    assert found is not None
    assert found.value == Fraction(-28, 1000)
    assert penalty_crossing(first, second).value == pytest.approx(16 / 11)
    low, high = score_of(first, 1), score_of(second, 1)
    assert low is not None
    assert high is not None
    assert low.value > high.value


@pytest.mark.parametrize(("violations", "share"), [(9, 0.167), (12, 0.222), (53, 0.981)])
def test_violation_rates(violations: int, share: float) -> None:
    """9, 12 and 53 of 54 canary trials."""
    found = rate(attempts(violations, 54))
    assert found is not None
    assert float(found.value) == pytest.approx(share, abs=5e-4)


@pytest.mark.parametrize(("violations", "clusters"), [(0, 59), (1, 93), (2, 124)])
def test_clusters_that_bound_five_percent(violations: int, clusters: int) -> None:
    """No violation in 59 clusters bounds 5 %; one needs 93, two need 124; and no fewer do."""
    assert clusters_needed(violations, 0.05) == clusters
    assert upper_bound(violations / clusters, clusters) <= 0.05
    assert upper_bound(violations / (clusters - 1), clusters - 1) > 0.05


def test_gate_says_when_it_cannot_tell() -> None:
    """Pass, fail, or cannot be decided at this n."""
    assert gate_at_most(0.0, 59, 0.05) is Decision.MET
    assert gate_at_most(0.0, 58, 0.05) is Decision.CANNOT_TELL
    assert gate_at_most(0.5, 58, 0.05) is Decision.NOT_MET
    assert gate_at_most(0.0, 0, 0.05) is Decision.CANNOT_TELL


def test_repeats_are_worth_little() -> None:
    """18 canaries × 3 repeats at ρ = .9 are worth 19.3 trials."""
    assert effective_trials(18, 3) == pytest.approx(19.3, abs=0.05)
    assert effective_trials(18, 1) == 18


def test_detectable_difference_shrinks_with_clusters_and_grows_with_comparisons() -> None:
    """(z + .84)·sd/√G."""
    assert minimum_detectable_difference(1.0, 100) == pytest.approx((1.959964 + 0.84) / 10, abs=1e-6)
    assert minimum_detectable_difference(1.0, 400) < minimum_detectable_difference(1.0, 100)
    assert minimum_detectable_difference(1.0, 100, 6) > minimum_detectable_difference(1.0, 100)


def test_false_canaries() -> None:
    """At 982 of 1,000 present, a proof that misses .5 % makes 21 % of canaries false."""
    assert false_canary_share(0.005, 0.982) == pytest.approx(0.21, abs=0.005)
    low, high = cvr_range(0.222, 0.21)
    assert low == pytest.approx((0.222 - 0.21) / 0.79)
    assert high == 0.222
    assert cvr_range(0.1, 0.21)[0] == 0.0


def test_shares_that_reorder_the_papers_systems() -> None:
    """At k = 4 the paper's rates reorder two systems at s = 2.1 % and two others at 29.6 %."""

    def q4(abstained: float, accuracy: float) -> float:
        return (1 - abstained) * (accuracy - 4 * (1 - accuracy))

    custom, gemini, openai = q4(0.111, 0.975), q4(0.002, 0.970), q4(0.033, 0.980)
    first = share_crossing(gemini - custom, 0.981 - 0.167, 4.0)
    second = share_crossing(openai - custom, 0.222 - 0.167, 4.0)
    assert first.value == pytest.approx(0.021, abs=5e-4)
    assert second.value == pytest.approx(0.296, abs=5e-4)
    assert share_crossing(openai - gemini, 0.222 - 0.981, 4.0).value is None


def test_wilson_of_268_of_300() -> None:
    """.853–.923 with independent questions."""
    found = rate(attempts(268, 300))
    assert found is not None
    interval = found.interval()
    assert interval is not None
    assert interval.low == pytest.approx(0.853, abs=5e-4)
    assert interval.high == pytest.approx(0.923, abs=5e-4)


def test_mixed_score_of_counts() -> None:
    """Q_mixed = (1 − s)·Q_bench − s·k·CVR."""
    from auditor.statistics import mixed_score

    bench, canary = score_of(counted(90, 5, 5), 4), rate(attempts(9, 54))
    assert bench is not None
    assert canary is not None
    found = mixed_score(bench, canary, Decimal("0.018"))
    assert float(found.value) == pytest.approx(0.982 * 0.7 - 0.018 * 4 * 9 / 54)
