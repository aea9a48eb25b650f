"""Text of any script is shown, or replaced visibly and counted; it is never lost and never markup (FAULTS 60)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from auditor.testing.check import HOSTILE_TEXTS
from auditor_pdf.bidi import BidiParagraph, Reorder, load_reorder
from auditor_pdf.document import Document, Facts, Layout
from auditor_pdf.font import Fonts, load_fonts
from auditor_pdf.script import pieces
from auditor_pdf.typesetter import Typesetter
from pdf_kit import page_texts, set_text, shown_of, squeezed

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


def test_markup_is_shown_literally() -> None:
    """What looks like the library's own markup, or like HTML, is text."""
    text = '<font size="40">big</font> <br/> &lt;b&gt; <a href="x">y</a> </para><para> <seq/> <img src="x"/>'
    _, pages = set_text(text)
    assert squeezed(pages[0]) == squeezed(text)


def backwards(line: str) -> str:
    """The order of drawing where every letter goes from right to left."""
    return line[::-1]


def test_right_to_left_lines_are_broken_as_they_are_read() -> None:
    """Lines are taken from the beginning of the text, none is wider than its place, and a long text goes over pages."""
    words = [f"{letter}{number}" for number in range(900) for letter in "אבג"] + ["ש" * 400]
    made = Typesetter(FONTS, backwards).paragraph(" ".join(words))
    first, rest = made.split(300, 700)
    assert isinstance(first, BidiParagraph) and isinstance(rest, BidiParagraph)
    assert first.wrap(300, 700)[1] <= 700
    rest.wrap(300, 700)
    assert squeezed("".join([*first.broken, *rest.broken])) == "".join(words)
    assert all(first._width(first._drawn(line)) <= 300 for line in [*first.broken, *rest.broken])
    assert len(page_texts(made_of(" ".join(words), backwards))) > 1


def test_marks_of_direction_are_shown_not_obeyed() -> None:
    """A name that an override would turn round is drawn as its letters stand."""
    setter = Typesetter(FONTS, load_reorder() or str)
    made = setter.paragraph("\u202egnp.exe\u202c א")
    made.wrap(400, 800)
    assert isinstance(made, BidiParagraph)
    drawn = "".join(piece.text for line in made.broken for piece in made._drawn(line))
    assert "gnp.exe" in drawn and "U+202E" in drawn and setter.coded == {"\u202e": 1, "\u202c": 1}


@pytest.mark.skipif(load_reorder() is None, reason="the extra arabic is not installed")
def test_right_to_left_is_drawn_with_the_extra() -> None:
    """With the extra installed Arabic and Hebrew are drawn, and read back as they were written."""
    text = "العربية، مع English في سطر واحد 42. שלום עולם"
    read = unicodedata.normalize("NFKC", "".join(page_texts(made_of(text, load_reorder()))))
    assert "‹" not in read
    assert all(word in read for word in ("العربية", "English", "سطر", "42", "שלום"))


def made_of(text: str, reorder: Reorder | None) -> bytes:
    """A document of ``text`` alone."""
    setter = Typesetter(FONTS, reorder)
    return Document(setter, Facts("", "", "", "", None), Layout()).made([setter.paragraph(text)])
