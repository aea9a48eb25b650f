"""Values are equal to the prover when a reader could take one for the other, and differ otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor_knowledge_gap.stem import stem
from auditor_knowledge_gap.value import values

MORE_NEAR = [
    ("40 %", "two fifths"),
    ("0.4", "40 percent"),
    ("over four hundred (412)", "412 stations"),
    ("end of August 2026", "31 August"),
]


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("65 °C", "sixty-five degrees Celsius"),
        ("65 °C", "149 °F"),
        ("1,450", "EUR 1450"),
        ("890 euros", "| Plumb 10R | 890 |"),
        ("30 June 2027", "2027-06-30"),
        ("31 August 2026", "the last day is 31 August"),
        ("1987", "in nineteen eighty-seven"),
        ("1987", "founded on 3 March 1987"),
        ("between 122 and 128", "122 to 128 tips"),
        ("1,200,000", "1.2 million"),
        ("06.11.2025", "on 6 November 2025"),
        ("-5 °C", "5 °C below zero"),
    ],
)
def test_stated_in_another_format(wanted: str, text: str) -> None:
    """The values of ``wanted`` are all in ``text``."""
    assert values(wanted).all_in(values(text))


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("65 °C", "65 kg"),
        ("65 °C", "165 °C"),
        ("4 December 2001", "scored 14 goals in 2001"),
        ("172", "1720"),
        ("30 June 2027", "30 June 2026"),
        ("between 122 and 128", "122 tips"),
        ("890 euros", "890 of the loggers"),
        ("1987", "nineteen of the 87"),
    ],
)
def test_not_stated(wanted: str, text: str) -> None:
    """Another unit, another year, a part of a number, or one of two numbers is not the value."""
    assert not values(wanted).all_in(values(text))


@pytest.mark.parametrize(
    ("wanted", "text"),
    [("3.98 °C", "about 4 °C"), ("1,413 µS/cm", "1.413 mS/cm"), ("28 W", "28 V"), ("12 weeks", "84 days"), *MORE_NEAR],
)
def test_near(wanted: str, text: str) -> None:
    """Rounded, at another power of ten, or with another unit is near."""
    assert values(wanted).near(values(text))


def test_text_without_values_states_none() -> None:
    """No value is in any text: nothing is stated by nothing."""
    assert not values("titanium").all_in(values("titanium 65"))
    assert not values("titanium").near(values("titanium 65"))


@given(st.text(max_size=200))
def test_any_text_states_its_own_values(text: str) -> None:
    """Whatever a text is, what it states stands in itself."""
    found = values(text)
    assert not found or (found.all_in(found) and found.near(found))


@pytest.mark.parametrize(
    ("left", "right"),
    [("weigh", "weighs"), ("battery", "batteries"), ("house", "housing"), ("stopped", "stop"), ("gland", "glands")],
)
def test_inflections_have_one_stem(left: str, right: str) -> None:
    """Common endings do not part a word from itself."""
    assert stem(left) == stem(right)


def test_numbers_and_short_words_keep_their_ending() -> None:
    """A version is no plural."""
    assert [stem(word) for word in ("3s", "gps", "10es", "m2s")] == ["3s", "gps", "10es", "m2s"]
