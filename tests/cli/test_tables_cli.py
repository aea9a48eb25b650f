"""Findings on a terminal: nothing dropped, nothing guessed, nothing that moves the cursor."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.cli.grid import cell_width, grid, wrapped
from auditor.cli.show import operations_section
from auditor.cli.tables import estimate_text, number_text, section_lines
from auditor.cli.text import visible
from auditor.findings import Block, Cell, Column, Estimate, Figure, Note, NoteKind, Section, Series, Table, Unit

LONG = "every answer of this system was lost to a technical failure of its endpoint"


def shown(*blocks: Block, width: int = 100) -> str:
    return "\n".join(section_lines(Section("x", "Title", 1, blocks), width))


def table(rows: Sequence[Sequence[Cell]], *units: Unit) -> Table:
    columns = tuple(Column(f"c{index}", f"col{index}", unit) for index, unit in enumerate(units))
    return Table("t", "A table", columns, tuple(tuple(row) for row in rows))


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate("q", 0.788, Unit.POINTS, 99, 0.7, 0.86), "0.788 [0.700, 0.860] n=99"),
        (Estimate("q", 0.5, Unit.RATE, 12, 0.25, 0.75), "50.0% [25.0%, 75.0%] n=12"),
        (Estimate("q", -1.202, Unit.POINTS, 99, -1.9, -0.5, level=0.99), "-1.202 [-1.900, -0.500] (99%) n=99"),
        (Estimate("q", None, Unit.RATE, 0, reason="n/a (not grounded)"), "n/a (not grounded)"),
        (Estimate("q", None, Unit.RATE, 0, reason="nothing scored"), "unknown (nothing scored)"),
        (Estimate("q", None, Unit.RATE, 0), "unknown (no reason given)"),
        (Estimate("q", 0.2, Unit.RATE, 1, reason="no interval: one cluster"), "20.0% n=1, no interval (one cluster)"),
        (Estimate("q", 0.2, Unit.RATE, 5, low=0.1), "20.0% [10.0%, -] n=5"),
        (Estimate("q", 0.0, Unit.POINTS, 5, 0.0, 0.0), "0.000 [0.000, 0.000] n=5"),
    ],
)
def test_estimate_is_shown_with_n_and_interval(estimate: Estimate, text: str) -> None:
    """A value with its interval and n, or the reason why there is none: never a bare number, never 0 for unknown."""
    assert estimate_text(estimate) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_unknown(value: float) -> None:
    """A NaN that got this far does not look like a figure."""
    assert number_text(value, Unit.RATE) == "unknown (not a number)"


def test_unknown_cells_and_long_reasons() -> None:
    """A missing cell says unknown; a long reason stands once below the table."""
    unknown = Estimate("q", None, Unit.POINTS, 0, reason=LONG)
    text = shown(table([["a", None, unknown], ["b", 0, unknown]], Unit.TEXT, Unit.COUNT, Unit.POINTS))
    assert text.count(LONG) == 1
    assert text.count("unknown (a)") == 2
    lines = text.splitlines()
    assert any(line.startswith("a") and "unknown  unknown (a)" in line for line in lines)
    assert any(line.startswith("b") and " 0  unknown (a)" in line for line in lines)


def test_every_kind_of_block_is_shown() -> None:
    """Estimates, tables, figures as data, and notes in full, of a section that nobody has heard of."""
    figure = Figure("f", "A sweep", "line", "k", "Q", (Series("s1", (1, 2), (0.5, None), (0.4, None), (0.6, None)),))
    text = shown(
        Estimate("alone", 0.25, Unit.RATE, 4, 0.0, 1.0, estimand="these questions"),
        table([["a", True]], Unit.TEXT, Unit.TEXT),
        figure,
        Note(NoteKind.WARNING, "word " * 100 + "end"),
        Table("empty", "Nothing", (Column("c", "Column"),), ()),
    )
    for part in (
        "these questions",
        "A table",
        "yes",
        "A sweep",
        "0.500 [0.400, 0.600]",
        "Warning: word",
        "end",
        "(no rows)",
    ):
        assert part in text


def test_a_plugins_ragged_table_loses_nothing() -> None:
    """Rows longer or shorter than the header are shown whole."""
    text = shown(table([["a"], ["b", "c", "d", "e"]], Unit.TEXT, Unit.TEXT))
    assert "unknown" in text
    assert "c, d, e" in text


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_wide_tables_are_split_and_never_cut(width: int) -> None:
    """Every cell is there at every width, no line is wider, and each part names its rows."""
    cells = [[f"system{row}", *(f"v{row}x{column}" for column in range(15))] for row in range(3)]
    header = ["system", *(f"h{column}" for column in range(15))]
    lines = grid(header, cells, width, numeric=[False] * 16)
    assert max(map(cell_width, lines)) <= width
    words = " ".join(lines).split()
    for row in [header, *cells]:
        assert set(row) <= set(words)
    parts = sum(line.startswith("---") for line in lines)
    assert words.count("system0") == parts


@given(st.lists(st.lists(st.text(max_size=30), min_size=3, max_size=3), max_size=4), st.integers(20, 90))
def test_no_width_is_exceeded_and_no_character_lost(rows: list[list[str]], width: int) -> None:
    """Whatever stands in cells, lines fit and every visible character is in them."""
    cells = [[visible(cell) for cell in row] for row in rows]
    lines = grid(["a", "b", "c"], cells, width, numeric=[False, True, False])
    assert all(cell_width(line) <= width for line in lines)
    text = "".join(lines)
    for row in cells:
        for cell in row:
            for character in cell.replace(" ", ""):
                assert character in text


@given(st.text(max_size=200), st.integers(2, 50))
def test_wrapping_keeps_every_word(text: str, width: int) -> None:
    """Broken lines are the text again when joined."""
    lines = wrapped(visible(text), width)
    assert "".join(lines).replace(" ", "") == visible(text).replace(" ", "")
    assert all(cell_width(line) <= width for line in lines)


def test_east_asian_and_combining_characters_are_aligned() -> None:
    """Wide characters take two columns and combining ones none."""
    assert cell_width("東京") == 4
    assert cell_width("e\u0301") == 1
    lines = grid(["name", "n"], [["東京", "1"], ["ab", "2"]], 80, numeric=[False, False])
    assert [cell_width(line) for line in lines[2:]] == [7, 7]


HOSTILE = [
    "\x1b[2J\x1b[31m",
    "\x1b]0;title\x07",
    "a\rb",
    "\u202e123",
    "\u2066x\u2069",
    "\ue200cite\ue201",
    "\ud800",
    "\x9b31m",
    "a\u2028b",
    "\U000e0041",
    "\x00",
    "a\nb",
    "\ufeff",
]


def is_harmful(character: str) -> bool:
    """Control, format, surrogate, private-use and line-breaking characters, but for the two joiners."""
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} and character not in "\u200c\u200d"


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_from_data_reaches_the_terminal_raw(text: str) -> None:
    """Escapes, direction overrides, private-use and control characters are shown by their escapes, everywhere."""
    rows = Table(
        text, text, (Column("c", text), Column("d", text)), ((text, Estimate(text, None, Unit.RATE, 0, reason=text)),)
    )
    figure = Figure(text, text, "line", text, text, (Series(text, (text,), (0.5,)),))
    estimate = Estimate(text, 0.5, Unit.RATE, 1, reason=text * 30, estimand=text)
    section = Section(text, text, 1, (estimate, rows, figure, Note(NoteKind.METHOD, text)))
    lines = list(section_lines(section, 60))
    assert not [line for line in lines if any(map(is_harmful, line))]


@given(st.text(max_size=300))
def test_visible_text_is_one_harmless_line(text: str) -> None:
    """Idempotent, a single line, and encodable whatever came in."""
    line = visible(text)
    assert len(line.splitlines()) <= 1
    assert visible(line) == line
    assert not any(map(is_harmful, line))


def test_persian_and_emoji_keep_their_joiners() -> None:
    """Neutralising is not mutilating: joiners that words and emoji need stay."""
    for text in ("می\u200cخواهم", "\U0001f469\u200d\U0001f4bb", "naïve † 東京"):
        assert visible(text) == text


def test_unknown_price_is_unknown() -> None:
    """A sum over replies of which some have no known price is not shown as if it were the cost."""
    systems = [
        {"name": "a", "simulated": "", "asked": 3, "attempts": 4, "cost_usd": None, "unpriced": 3},
        {"name": "b", "simulated": "a simulation", "asked": 3, "attempts": 3, "cost_usd": "0.5", "unpriced": 1},
        {"name": "c", "simulated": "", "asked": 3, "attempts": 3, "cost_usd": "0.5", "unpriced": 0},
    ]
    section = operations_section({"systems": systems})
    assert section is not None
    rows = {row[0]: row for row in section.table("operations").rows}
    assert rows["a"][5] is None
    assert rows["b (simulated)"][5] == "$0.5 and 1 replies of unknown price"
    assert rows["c"][5] == 0.5
    assert rows["c"][3] is None


def test_parts_of_a_split_table_tell_their_rows_apart() -> None:
    """Where one system has several rows, each part repeats what distinguishes them."""
    rows = [[f"system{s}", f"stratum{t}", *(f"v{s}{t}{c}" for c in range(10))] for s in range(2) for t in range(2)]
    lines = grid(["system", "stratum", *(f"column{c}" for c in range(10))], rows, 60, numeric=[False] * 12)
    with_values = [line for line in lines if "v0" in line or "v1" in line]
    assert len(with_values) > 4
    assert all("system" in line and "stratum" in line for line in with_values)
