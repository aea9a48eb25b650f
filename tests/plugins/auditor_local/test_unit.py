"""Units: what a document is read in — sentences, items, rows, headings — each from its own place in the text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor_local.unit import Unit, title_of, units


def texts(text: str) -> list[str]:
    """Texts of the units."""
    return [unit.text for unit in units(text)]


def test_sentences_end_where_sentences_end() -> None:
    """Abbreviations, initials, decimals and hard line breaks end none."""
    text = 'Built by Dr. A. Lin in\nOslo, e.g. for 1.5 km. "Done." It was (mostly) cheap! And fast? yes.'
    assert texts(text) == [
        "Built by Dr. A. Lin in Oslo, e.g. for 1.5 km.",
        '"Done."',
        "It was (mostly) cheap!",
        "And fast? yes.",
    ]


def test_rows_carry_their_header() -> None:
    """A row is read with the names of its columns; empty cells say nothing; an escaped bar is a bar."""
    made = units("| Plan | Price | Seats |\n|---|---:|:-:|\n| Pro | 49 \\| 59 | |\n")
    assert made == [Unit("Plan: Pro; Price: 49 | 59", 40, 60, (), (("Plan", "Pro"), ("Price", "49 | 59")))]


def test_headings_stand_above_what_follows() -> None:
    """Markdown's marks, underlines and bare lines make headings; each ends those of its own rank."""
    made = units("Top\n===\n\n## One\n\nA is b.\n\n## Two\n\nBare line\n\nC is d.\n")
    assert [(unit.text, unit.headings) for unit in made if not unit.is_heading] == [
        ("A is b.", ("Top", "One")),
        ("C is d.", ("Top", "Two", "Bare line")),
    ]


def test_items_carry_the_line_that_leads_them_in() -> None:
    """Each item can be read alone."""
    assert texts("It covers:\n\n- the *frame*\n  for 5 years\n2) paint\n\nEnd of list here.\n")[1:3] == [
        "It covers: the frame for 5 years",
        "It covers: paint",
    ]


def test_entries_of_plain_lists_are_read_one_by_one() -> None:
    """Key and value, or name and leader dots, a line each."""
    assert texts("From: Ann\nDate: 4 May 2025\n") == ["From: Ann", "Date: 4 May 2025"]
    assert texts("FAULT one blink ........ no sensor\nFAULT two blinks ....... memory full\n") == [
        "FAULT one blink: no sensor",
        "FAULT two blinks: memory full",
    ]


def test_title_is_the_first_heading_else_the_file_name() -> None:
    """What a passage is headed with."""
    assert title_of(units("# A *title*\n\nText here."), "x/y.md") == "A title"
    assert title_of(units("Only a sentence."), "x/price-list.md") == "price-list"
    assert title_of([], "x/.md") == "x/.md"


@given(st.text(alphabet="ab |#-*\n.:`[](x)\t=漢\x00", max_size=200))
def test_units_lie_in_order_inside_the_text(text: str) -> None:
    """Spans never run backwards or out of the text, whatever the marks."""
    made = units(text)
    assert all(0 <= unit.start <= unit.end <= len(text) and unit.text.strip() for unit in made)
    assert [unit.start for unit in made] == sorted(unit.start for unit in made)


@pytest.mark.parametrize(
    "noise",
    ["x" * 200_000, "|" * 200_000, "a. " * 70_000, "[a](" * 50_000, "\n#" * 100_000, "*_`" * 70_000, '."' * 100_000]
    + ["a: b\n" * 40_000, "- " * 100_000, ". " * 100_000, "x    " * 40_000, "." * 200_000, " " * 200_000 + "|"],
)
def test_noise_of_200_kB_is_read_at_once(noise: str) -> None:
    """No pattern backtracks: noise costs time in proportion to its length."""
    begun = time.perf_counter()
    units(noise)
    assert time.perf_counter() - begun < 3
