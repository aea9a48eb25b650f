"""The panel's verdict is the seated panel's: medians, missing votes, order."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from auditor.label import NonLabel, Vote
from auditor.panel import Verdict, median_verdict, reduce_votes


def panel(*said: str) -> list[Vote]:
    """Votes by word: a verdict, or a kind of non-vote."""
    kinds = {kind.value: kind for kind in NonLabel}
    return [Vote(seat, non_label=kinds[word]) if word in kinds else Vote(seat, word) for seat, word in enumerate(said)]


def test_one_one_one_is_partial() -> None:
    """The scale is ordered, so three different votes meet in the middle."""
    assert reduce_votes(panel("correct", "partial", "incorrect")).value == "partial"


@pytest.mark.parametrize(
    ("said", "verdict"), [("correct correct incorrect", "correct"), ("incorrect incorrect correct", "incorrect")]
)
def test_two_of_three_decide(said: str, verdict: str) -> None:
    """The median of three is the majority where there is one."""
    assert reduce_votes(panel(*said.split())).value == verdict


@pytest.mark.parametrize("missing", [kind.value for kind in NonLabel])
def test_missing_vote_decides_only_where_it_cannot_matter(missing: str) -> None:
    """Two equal votes stand; two unequal ones are unresolved, in every order, whatever the reason of the third."""
    for order in permutations(["correct", "correct", missing]):
        assert reduce_votes(panel(*order)).value == "correct"
    for order in permutations(["correct", missing, "incorrect"]):
        reduced = reduce_votes(panel(*order))
        assert reduced.value is None
        assert missing in reduced.reason
    assert reduce_votes(panel("correct", "partial", missing)).value is None


def test_no_judge_left_is_unresolved() -> None:
    """A panel of which nobody voted has no verdict, and says so."""
    reduced = reduce_votes(panel("unavailable", "refused", "unparseable"))
    assert reduced.value is None
    assert "3 of 3" in reduced.reason
    assert reduce_votes(panel("correct", "refused", "refused")).value is None


@pytest.mark.parametrize("seats", [3, 5])
def test_order_never_matters_and_missing_votes_never_decide(seats: int) -> None:
    """Over all panels: the order is irrelevant, and a decided incomplete panel agrees with every way to complete it."""
    words = [*(verdict.value for verdict in Verdict), "unparseable"]
    for said in product(words, repeat=seats):
        value = reduce_votes(panel(*said)).value
        assert value == reduce_votes(panel(*sorted(said))).value
        missing = said.count("unparseable")
        cast = [Verdict(word) for word in said if word != "unparseable"]
        if missing <= 2:
            ends = {median_verdict([*cast, *rest]) for rest in product(Verdict, repeat=missing)}
            assert (value is None) == (len(ends) > 1)
            assert value is None or {Verdict(str(value))} == ends


@pytest.mark.parametrize("said", ["correct", "correct correct", "correct correct correct correct", ""])
def test_a_panel_has_an_odd_number_of_seats(said: str) -> None:
    """A panel made smaller is refused, not reduced."""
    with pytest.raises(ValueError, match="odd number of seats"):
        reduce_votes(panel(*said.split()))


def test_a_value_that_is_no_verdict_is_refused() -> None:
    """Nothing unknown slips into a median."""
    with pytest.raises(ValueError, match="maybe"):
        reduce_votes(panel("correct", "maybe", "correct"))
