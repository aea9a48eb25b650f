"""Numbers, units and dates: one value however it is written, and never a number out of a name."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.quantity import read_tolerance, read_values


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("1,200", 1200, ""),
        ("12,34,567", 1234567, ""),
        ("1.234.567", 1234567, ""),
        ("1\u202f234\u202f567", 1234567, ""),
        ("1'234'567", 1234567, ""),
        ("1.2 million", 1200000, ""),
        ("twenty-one", 21, ""),
        ("one hundred and five thousand two hundred", 105200, ""),
        ("two thirds", Fraction(2, 3), ""),
        ("½", Fraction(1, 2), ""),
        ("2½ miles", Fraction(5, 2) * Fraction("1609.344"), "length"),
        ("the 165th district", 165, ""),
        ("twenty-first", 21, ""),
        ("$1.65m", 1650000, "dollar"),
        ("1.65 million USD", 1650000, "dollar"),
        ("50 %", 50, "share"),
        ("50 per cent", 50, "share"),
        ("-5 °C", -5, "temperature"),
        ("212 °F", 100, "temperature"),
        ("32 degrees Fahrenheit", 0, "temperature"),
        ("10km", 10000, "length"),
        ("566-kilometer", 566000, "length"),
        ("3 lbs", 3 * Fraction("0.45359237"), "mass"),
        ("2 GB", 2000000000, "data"),
        ("2617.67 kJ/mol", Fraction("2617670"), "energy/mol"),
        ("2617.67 kJ mol⁻¹", Fraction("2617670"), "energy/mol"),
        ("3 × 10⁶ m/s", 3000000, "speed"),
        ("three dozen eggs", 36, ""),
    ],
)
def test_one_value_however_it_is_written(text: str, value: int | Fraction, dimension: str) -> None:
    """Groups, words, ordinals, fractions, magnitudes, money and units come to exact values in base units."""
    (quantity,) = read_values(text).quantities
    assert (quantity.value, quantity.dimension) == (value, dimension)


@pytest.mark.parametrize(
    "text", ["C29H23F6N5O3", "v1.3-rc8", "1.3.0", "C9LVQ0YUXG", "3:14 a.m.", "the 1990s", "X-ray b2b"]
)
def test_names_with_digits_are_no_numbers(text: str) -> None:
    """Formulas, versions, identifiers, times of day and decades state no number."""
    assert read_values(text).quantities == () or all(q.ordinal for q in read_values(text).quantities)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("14 June 1900", (1900, 6, 14)),
        ("June 14, 1900", (1900, 6, 14)),
        ("14th of June, 1900", (1900, 6, 14)),
        ("Jun. 14, 1900", (1900, 6, 14)),
        ("the fourteenth of June 1900", (1900, 6, 14)),
        ("1900-06-14", (1900, 6, 14)),
        ("1900/06/14", (1900, 6, 14)),
        ("14.06.1900", (1900, 6, 14)),
        ("mid-December 1930", (1930, 12, None)),
        ("May of 1991", (1991, 5, None)),
        ("in 1962", (1962, None, None)),
        ("on July 6", (None, 7, 6)),
    ],
)
def test_one_date_however_it_is_written(text: str, date: tuple[int | None, ...]) -> None:
    """All common formats give the same parts."""
    (found,) = read_values(text).dates
    assert (found.year, found.month, found.day) == date


def test_ambiguous_order_of_day_and_month_has_both_readings() -> None:
    """06/07/1900 may be June or July; neither is chosen."""
    assert {(d.month, d.day) for d in read_values("06/07/1900").dates} == {(6, 7), (7, 6)}


def test_parts_of_a_date_are_no_numbers() -> None:
    """A count is not found in the day or year of a date."""
    assert [q.stated for q in read_values("On October 1, 2022, 27 people died").quantities] == [27]


@pytest.mark.parametrize(
    ("reference", "low", "high", "dimension"),
    [
        ("172 (acceptable range: anything between 170 and 174)", 170, 174, ""),
        (
            "1.65 million USD (acceptable range: anything between 1.6 million and 1.7 million USD)",
            1600000,
            1700000,
            "dollar",
        ),
        ("5109 m (acceptable range: anything between 5057 and 5161 m)", 5057, 5161, "length"),
        ("30 km (between 29 and 31)", 29000, 31000, "length"),
        ("172 ± 2", 170, 174, ""),
        ("100 MHz ± 1%", 99000000, 101000000, "frequency"),
        ("40, within 5", 35, 45, ""),
    ],
)
def test_stated_tolerances(reference: str, low: int, high: int, dimension: str) -> None:
    """A reference's own bounds are read, with the unit of the number they bound."""
    tolerance = read_tolerance(reference)
    assert tolerance is not None
    assert (tolerance.low, tolerance.high) == (Fraction(low), Fraction(high))
    assert tolerance.dimension == dimension


@pytest.mark.parametrize("reference", ["Paris", "from Paris", "between the wars", "172"])
def test_no_tolerance_is_made_up(reference: str) -> None:
    """Where none is stated there is none."""
    assert read_tolerance(reference) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(min_value=0, max_value=10**12))
def test_digits_and_groups_agree(number: int) -> None:
    """Any whole number reads the same with and without groups."""
    assert read_values(f"{number:,}").quantities[0].value == read_values(str(number)).quantities[0].value == number


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120))
def test_every_text_can_be_read(text: str) -> None:
    """No text raises, here or in a tolerance."""
    read_values(text)
    read_tolerance(text)


@pytest.mark.parametrize(
    "unit", ["1,", "1 ", "two hundred ", "june ", "1/2 ", "1.", "-", "$", "9 km per ", "range 1 ", "of "]
)
def test_hostile_numbers_are_linear(unit: str) -> None:
    """100 kB of numerals, half dates and half ranges are read in seconds, not minutes."""
    text = (unit * 100_000)[:100_000]
    begun = time.process_time()
    read_values(text)
    read_tolerance(text)
    assert time.process_time() - begun < 4.0
