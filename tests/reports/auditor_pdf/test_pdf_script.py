"""Text of any script is shown, or replaced visibly and counted; it is never lost and never markup (FAULTS 60)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from auditor.canonical import clean_text
from auditor.testing.check import HOSTILE_TEXTS
from auditor_pdf.bidi import load_reorder
from auditor_pdf.font import Fonts, load_fonts
from auditor_pdf.script import is_right_to_left, pieces
from pdf_kit import set_text, shown_of, squeezed

FONTS: Fonts = load_fonts("abc")


def told(text: str) -> str:
    """The characters that the pieces of ``text`` stand for."""
    return "".join(piece.source if piece.coded else piece.text for piece in pieces(text, FONTS.regular))


@given(st.text(max_size=80))
@example("‹U+0041› <b>&amp;</b>")
def test_every_character_is_in_the_pieces(text: str) -> None:
    """Nothing is left out, doubled or moved, whatever it is."""
    assert told(text) == text


@given(st.text(max_size=40))
def test_code_points_can_be_read_back(text: str) -> None:
    """What stands for a character names it: from the code points the text can be restored."""
    for piece in pieces(text, FONTS.regular):
        if piece.coded and piece.text != " ":
            codes = piece.text.removeprefix("‹").removesuffix("›").split(" ")
            assert "".join(chr(int(code.removeprefix("U+"), 16)) for code in codes) == piece.source


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Привет, naïve Ελλάδα", "Привет, naïve Ελλάδα"),
        ("≤ → ✓ ∑ κ", "≤ → ✓ ∑ κ"),
        ("漢字 東京 ありがとう 한국어", "漢字 東京 ありがとう 한국어"),
        ("red 🔴 dot", "red ‹U+1F534› dot"),
        ("مرحبا", "‹U+0645 U+0631 U+062D U+0628 U+0627›"),
        ("שלום", "‹U+05E9 U+05DC U+05D5 U+05DD›"),
        ("हिन्दी", "‹U+0939 U+093F U+0928 U+094D U+0926 U+0940›"),
        ("a\u202eb\u200bc\x07d\x00", "a‹U+202E›b‹U+200B›c‹U+0007›d‹U+0000›"),
        ("👩‍🚀", "‹U+1F469 U+200D› ‹U+1F680›"),
        ("\ue000\U000f0000", "‹U+E000› ‹U+F0000›"),
    ],
)
def test_what_a_reader_sees(text: str, shown: str) -> None:
    """Left-to-right scripts of the fonts are drawn; what needs shaping, direction or a glyph stands as code points."""
    assert "".join(piece.text for piece in pieces(text, FONTS.regular)) == shown


@pytest.mark.parametrize(
    "text",
    [
        *(hostile for hostile in HOSTILE_TEXTS if hostile.strip()),
        "Привет مرحبا 漢字 🔴",
        "<script>alert(1)</script> </para> <font> &lt; &#65; <br/>",
        "東京 ‘quotes’ “curly” — … ½ Å",
        "lone \ud800 surrogate \udfff",
        "x" * 5000,
        "漢" * 3000,
    ],
)
def test_extracted_text_is_what_is_shown(text: str) -> None:
    """What a program reads out of the file is what a person sees, sign for sign."""
    _, pages = set_text(text)
    assert unicodedata.normalize("NFC", squeezed("".join(pages))) == shown_of(text)


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=("Zs", "Zl", "Zp", "Cc")), min_size=1, max_size=60))
def test_any_text_comes_out_as_shown(text: str) -> None:
    """The same for any text: extraction and sight agree."""
    _, pages = set_text(text)
    assert unicodedata.normalize("NFC", squeezed("".join(pages))) == shown_of(text)


def test_what_is_replaced_is_counted() -> None:
    """Each replaced character is counted by what it is, and characters of fonts that are not in the file too."""
    setter, _ = set_text("🔴🔴 مر 漢字")
    assert setter.coded == {"🔴": 2, "م": 1, "ر": 1}
    assert setter.not_embedded == 2


def test_line_ends_are_line_ends() -> None:
    """Every mark of a line's end breaks a line, and nothing else of it is shown."""
    _, pages = set_text("one\r\ntwo\rthree\n\n\tfour\x85five\u2028six")
    assert [line.strip() for line in pages[0].split("\n") if line.strip()] == [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
    ]


def test_spaces_do_not_hide_a_text() -> None:
    """A text of blanks alone is set, and takes a bounded place."""
    _, pages = set_text(" \n\t \n" * 20)
    assert len(pages) == 1


@pytest.mark.skipif(load_reorder() is None, reason="the extra arabic is not installed")
def test_right_to_left_is_drawn_with_the_extra() -> None:
    """With the extra installed Arabic and Hebrew are drawn, lines broken as they are read."""
    text = "العربية مع English في سطر واحد " * 12 + "שלום עולם"
    assert is_right_to_left(text)
    setter, pages = set_text(text)
    setter.reorder = load_reorder()
    made = setter.paragraph(clean_text(text)[0])
    made.wrap(300, 800)
    assert "‹" not in "".join(piece.text for line in made.broken for piece in made._drawn(line))  # type: ignore[attr-defined] # of the paragraph that the extra brings
    assert " ".join(made.broken).split() == text.split()  # type: ignore[attr-defined] # the same
