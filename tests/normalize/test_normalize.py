"""Normal forms of words: two wordings of one name are one, and no text is slow."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.normalize import contains, content_words, fold, one_edit_apart, sentences, squash, tokens, words


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Népszava", "NEPSZAVA"),
        ("C₂₉H₂₃F₆N₅O₃", "C29H23F6N5O3"),
        ("Urbana–Champaign", "urbana-champaign"),
        ("Ｔｏｋｙｏ", "tokyo"),
        ("“Coco” Chanel", '"coco" chanel'),
        ("Straße", "strasse"),
        ("Łódź", "lodz"),
        ("soft\u00adware", "software"),
        ("\u202eParis\u202c", "paris"),
        ("٣٤", "34"),
    ],
)
def test_wordings_of_one_name_fold_to_one_form(left: str, right: str) -> None:
    """Case, diacritics, width, subscripts, dashes, quotes, invisible marks and scripts of digits do not matter."""
    assert fold(left) == fold(right)


def test_superscripts_never_join_the_number_before_them() -> None:
    """A footnote mark or an exponent does not turn 1900 into 19001 or 10² into 102."""
    assert words("in 1900¹") == ("in", "1900", "1")
    assert words("10²") == ("10", "2")


def test_initialisms_and_unspaced_scripts_are_words() -> None:
    """``U.S.`` is ``US``; Japanese text is cut into characters, so that a name is found inside a sentence."""
    assert words("the U.S. team") == ("the", "us", "team")
    assert contains("答えは東京です", "東京")


@pytest.mark.parametrize(
    ("haystack", "needle", "found"),
    [
        ("It scored 14 goals", "4", False),
        ("Insufficient funds", "sufficient", False),
        ("to the University of Pretoria.", "university of pretoria", True),
        ("Lake Meadow", "Lake Mead", False),
        ("anything", "", False),
        ("anything", "…", False),
    ],
)
def test_containment_stops_at_word_boundaries(haystack: str, needle: str, found: bool) -> None:
    """No number or name is found inside another, and nothing is contained in nothing."""
    assert contains(haystack, needle) is found


def test_spelling_helpers() -> None:
    """Hyphens and spaces vanish; one edit is one insertion, deletion or substitution; stop words carry nothing."""
    assert squash("X-8") == squash("x 8") == "x8"
    assert one_edit_apart("bandipora", "bandipore")
    assert one_edit_apart("andrew", "andrews")
    assert not one_edit_apart("andrew", "adnrew")
    assert content_words("the City of London") == ("city", "london")
    assert content_words("of the") == ("of", "the")


def test_sentences_end_at_full_stops_but_not_at_initials() -> None:
    """Abbreviations and initials do not end a sentence; bold marks and line breaks do not hide an end."""
    text = "Mr. Smith met A. W. Skempton. **It rained.** Next!\n\nA list\n- one"
    assert sentences(text) == ("Mr. Smith met A. W. Skempton.", "**It rained.**", "Next!", "A list", "- one")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_folding_is_stable_and_total(text: str) -> None:
    """Every text folds, surrogates and all; words of folded text are words of the text."""
    folded = fold(text)
    folded.encode("utf-8")
    assert [token.text for token in tokens(folded)] == list(words(text))
    assert all(folded[token.start : token.end].replace(".", "") == token.text for token in tokens(folded))


@pytest.mark.parametrize(
    "unit", ["a\u0300\u0316", "\ufdfa", ".", "a.", " ", "1'000", "\ud800", "\u0d4d\u0334", ".*", "\u202e\x00", "กา"]
)
def test_hostile_text_is_linear(unit: str) -> None:
    """200 kB of the worst for each step (mark runs, expanding ligatures, runs of stops) takes seconds at most."""
    text = (unit * 200_000)[:200_000]
    begun = time.process_time()
    words(text)
    sentences(text)
    assert time.process_time() - begun < 3.0
