"""Text from data is visible, literal and encodable, whatever is in it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.findings import Estimate, Unit
from auditor_html.number import number_text, show
from auditor_html.text import clip, shown


@given(st.text(st.characters(), max_size=80))
def test_nothing_stays_hidden(text: str) -> None:
    """No control, format, private-use or surrogate character is left but joiners, line breaks and visible signs."""
    made = shown(text)
    made.encode("utf-8")
    visible_formats = set(
        "\u200c\u200d\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
    )
    for character in made:
        category = unicodedata.category(character)
        other = (
            category == "Cf" and not 0x13430 <= ord(character) <= 0x1BCAF and not 0x1D173 <= ord(character) <= 0x1D17A
        )
        assert category not in {"Cs", "Co", "Zl", "Zp"}
        assert category != "Cc" or character in "\n\t"
        assert not other or character in visible_formats


@pytest.mark.parametrize("text", ["مرحبا", "漢字 東京", "👩‍🚀🔴", "naïve", "<script>", "a\nb\tc", "=1+1", "می‌خواهم"])
def test_scripts_of_all_kinds_stay_as_they_are(text: str) -> None:
    """Letters, emoji, joiners and markup are not touched."""
    assert shown(text) == text


def test_what_was_hidden_is_named() -> None:
    """Each hidden character is shown by its sign or its code; half a character by U+FFFD."""
    assert shown("a\x00b\x7fc\x85d\u202ee\u200bf\ue000g\ud800h") == "a␀b␡c⟨U+0085⟩d⟨U+202E⟩e⟨U+200B⟩f⟨U+E000⟩g\ufffdh"
    assert shown("one\r\ntwo\rthree") == "one\ntwo␍three"


def test_a_cut_is_counted() -> None:
    """The rest of a text is counted, never silently lost."""
    assert clip("abcdef", 4) == ("abcd", 2)
    assert clip("abc", 4) == ("abc", 0)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.8345, Unit.RATE, "83.5 %"),
        (-1.2, Unit.POINTS, "−1.200"),
        (12345, Unit.COUNT, "12,345"),
        (0.00012, Unit.USD, "$0.00012"),
        (1234.5, Unit.MILLISECONDS, "1.23 s"),
        (0.1234567, Unit.NUMBER, "0.1235"),
        (float("inf"), Unit.NUMBER, "not a number"),
    ],
)
def test_numbers_are_written_by_their_unit(value: float, unit: Unit, text: str) -> None:
    """Percentages, points, counts, money and time each have one form."""
    assert number_text(value, unit) == text


def test_a_missing_value_is_a_word_with_its_reason() -> None:
    """Unknown is not 0, not applicable is not unknown, and an estimate without interval says why."""
    assert show(None, Unit.COUNT).text == "unknown"
    unknown = show(Estimate("e", None, Unit.RATE, 0, reason="no scored trial"), Unit.TEXT)
    assert (unknown.text, unknown.n, unknown.reason, unknown.sort) == ("unknown", "n = 0", "no scored trial", "")
    not_applicable = show(Estimate("e", None, Unit.RATE, 0, reason="n/a (not grounded)"), Unit.TEXT)
    assert (not_applicable.text, not_applicable.reason) == ("n/a", "not grounded")
    bare = show(Estimate("e", 0.5, Unit.RATE, 3, reason="no interval: fewer than two clusters"), Unit.TEXT)
    assert (bare.text, bare.interval, bare.n, bare.reason) == (
        "50.0 %",
        "no interval",
        "n = 3",
        "fewer than two clusters",
    )
    one_sided = show(Estimate("e", 0.5, Unit.RATE, 3, low=0.25, level=0.983), Unit.TEXT)
    assert one_sided.interval == "[25.0 %, open] at 98.3 %"
