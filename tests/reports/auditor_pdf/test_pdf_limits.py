"""Whatever the findings hold, the report is made, its pages are bounded, and what is cut is counted where it is cut."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Any

import pytest

from auditor.findings import (
    SCHEMA_VERSION,
    Block,
    Cell,
    Column,
    Estimate,
    Figure,
    Findings,
    Note,
    NoteKind,
    Section,
    Series,
    Table,
    Unit,
)
from auditor.writer import ReportData
from auditor_pdf.number import estimate_text, number_text
from auditor_pdf.transcript import MAX_TRANSCRIPTS, violated_canaries
from auditor_pdf.writer import pdf_bytes
from pdf_kit import page_texts, shown_of, squeezed
from report_kit import HOSTILE_ANSWERS

_SIGNS = ("漢", "🔴", "م", "x", "\u202e", "<b>", "&")


def data(*blocks: Block, **more: Any) -> ReportData:
    """Findings of one unknown section."""
    section = Section("unheard", "Unheard of", 1, blocks)
    return replace(ReportData(Findings(SCHEMA_VERSION, (), (section,), {}), {}), **more)


def text_of(*blocks: Block) -> str:
    """All text of a report of these blocks, without white space."""
    return squeezed("".join(page_texts(pdf_bytes(data(*blocks)))))


def table(rows: list[tuple[Cell, ...]], unit: Unit = Unit.TEXT) -> Table:
    """A table of these rows."""
    columns = tuple(Column(f"c{n}", f"Column {n}", unit) for n in range(max(map(len, rows), default=1)))
    return Table("t", "A table", columns, tuple(rows))


@pytest.mark.parametrize("sign", _SIGNS)
def test_a_huge_text_takes_few_pages(sign: str) -> None:
    """200 kB without a space, in a note, a cell, a title and a name of a series: bounded, and the rest counted."""
    huge = sign * (200_000 // len(sign))
    figure = Figure("f", huge, "line", huge, huge, (Series(huge, (1.0, 2.0), (0.5, 0.7)),))
    pages = page_texts(
        pdf_bytes(data(Note(NoteKind.WARNING, huge), table([(huge,) * 3]), figure, protocol={"name": huge}))
    )
    assert len(pages) <= 40
    assert squeezed("characters more]") in squeezed("".join(pages))
    assert squeezed("Text that this file shows otherwise") in squeezed("".join(pages))


def test_a_wide_table_keeps_every_column() -> None:
    """Forty columns go on in parts that repeat row number and first column."""
    text = text_of(table([tuple(f"r{row}c{column}" for column in range(40)) for row in range(3)]))
    for row in range(3):
        assert all(f"r{row}c{column}" in text for column in range(40))


def test_a_long_table_is_cut_with_a_count() -> None:
    """5,000 rows do not make a book; how many are not shown is said."""
    pages = page_texts(pdf_bytes(data(table([(f"row {n}", n) for n in range(5000)]))))
    assert len(pages) < 30
    assert squeezed("4 600 more rows") in squeezed("".join(pages))


def test_rows_of_another_length_than_the_header_are_shown() -> None:
    """A plugin's mistake hides no cell."""
    columns = (Column("a", "A"), Column("b", "B"))
    text = text_of(Table("t", "T", columns, (("one",), ("two", "three", "four", "five"))))
    assert all(word in text for word in ("one", "unknown", "two", "three,four,five"))


def test_empty_parts_are_said_to_be_empty() -> None:
    """No columns, no rows, no points: a sentence each, no error."""
    empty = Figure("f", "Empty figure", "points", "x", "y", (Series("s", (1.0,), (None,)),))
    text = text_of(Table("t", "None", (), ()), table([]), empty, Figure("g", "No series", "bars", "x", "y", ()))
    for said in ("The table has no columns", "No rows", "There is no value to draw"):
        assert squeezed(said) in text


@pytest.mark.parametrize("kind", ["line", "points", "bars", "unheard-of"])
def test_every_figure_has_its_data_as_a_table(kind: str) -> None:
    """Numbers and words on the x axis, missing values, intervals, equal values, thirty series, other kinds."""
    many = tuple(Series(f"s{n}", (1.0, 2.0), (n / 7, None), (n / 8, None), (n / 6, None)) for n in range(30))
    figures = [
        Figure("a", "Many", kind, "x", "y", many),
        Figure("b", "Words", kind, "x", "y", (Series("w", ("left", "right"), (3.0, 3.0)),)),
        Figure("c", "One", kind, "x", "y", (Series("o", (5.0,), (0.0,), (0.0,), (0.0,)),)),
        Figure("d", "Huge", kind, "x", "y", (Series("h", (1e300, -1e300), (1e300, float("nan"))),)),
    ]
    text = text_of(*figures)
    for number in range(1, 5):
        assert squeezed(f"Data of figure {number}") in text
    assert "left" in text and "4.143(3.625to4.833)" in text and squeezed("unknown (not a number)") in text


def test_hostile_answers_in_transcripts(given: ReportData) -> None:
    """Markup, directions, controls, surrogates and 200 kB as answers to canaries: shown, bounded, nothing breaks."""
    keys = [t.keys[0] for t in violated_canaries(given)[1]]
    texts = {**given.texts, **{f"{k}#1/answer": said for k, said in zip(keys, HOSTILE_ANSWERS.values(), strict=False)}}
    pages = page_texts(pdf_bytes(appendix_only(replace(given, texts=texts))))
    assert len(pages) < 20
    text = squeezed("".join(pages))
    for said in HOSTILE_ANSWERS.values():
        assert shown_of(said)[:40] in unicodedata.normalize("NFC", text)


def appendix_only(given: ReportData) -> ReportData:
    """``given`` without its sections, which other tests read."""
    return replace(given, findings=replace(given.findings, sections=()), first_page=None)


def many_violations(given: ReportData, count: int) -> ReportData:
    """``given`` with ``count`` canary trials of one system, each with an answer of its own."""
    first = next(trial for trial in given.findings.trials if trial["state"] == "canary_attempt")
    trials = tuple(
        {**first, "key": f"ask/{first['system']}.0.{first['question']}.0.{n}", "repeat": n, "answer_class": n}
        for n in range(count)
    )
    texts = {key: text for key, text in given.texts.items() if not key.startswith("ask/")}
    texts |= {
        f"{trial['key']}#{attempt}/answer": f"said {n}.{attempt}"
        for n, trial in enumerate(trials)
        for attempt in (1, 2, 10)
    }
    return replace(given, findings=replace(given.findings, trials=trials), texts=texts)


def test_at_most_twenty_transcripts_a_system(given: ReportData) -> None:
    """Twenty are printed, the last attempt of each; the rest are counted and named by their keys."""
    more = many_violations(given, 27)
    text = squeezed("".join(page_texts(pdf_bytes(appendix_only(more)))))
    shown = [n for n in range(27) if f"said{n}.10" in text]
    assert len(shown) == MAX_TRANSCRIPTS == 20
    assert squeezed("7 more answers in 7 trials are not printed") in text
    for trial in more.findings.trials:
        assert squeezed(str(trial["key"])) in text


def test_transcripts_are_of_violations_alone(given: ReportData) -> None:
    """No abstention, no baseline, and no denial of a fictitious thing stands among them; equal answers stand once."""
    found = violated_canaries(given)
    states = {str(trial["key"]): trial for trial in given.findings.trials}
    assert set(found) == {1}
    for transcript in found[1]:
        assert len(transcript.keys) == 2
        assert {states[key]["state"] for key in transcript.keys} == {"canary_attempt"}
    answered = sum(trial["state"] == "canary_attempt" for trial in given.findings.trials)
    assert sum(len(transcript.keys) for transcript in found[1]) == answered
    denied = replace(given, findings=replace(given.findings, trials=tuple(_denied(t) for t in given.findings.trials)))
    kinds = {given.protocol["questions"][t.question]["kind"] for t in violated_canaries(denied)[1]}  # type: ignore[index] # as the core writes it
    assert kinds == {"knowledge_gap", "hold_out"}


def _denied(trial: Any) -> Any:
    return {**trial, "state": "denied"} if trial["state"] == "canary_attempt" else trial


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.862, Unit.RATE, "86.2\u00a0%"),
        (-0.0379, Unit.RATE, "−3.8\u00a0%"),
        (-2.966, Unit.POINTS, "−2.966"),
        (1234567, Unit.COUNT, "1\u00a0234\u00a0567"),
        (0.003, Unit.MILLISECONDS, "0.003\u00a0ms"),
        (12345.6, Unit.MILLISECONDS, "12\u00a0346\u00a0ms"),
        (0.00012, Unit.USD, "$0.00012"),
        (3.5, Unit.USD, "$3.50"),
        (20261130, Unit.NUMBER, "20261130"),
        (1e-09, Unit.NUMBER, "1e-09"),
        (float("nan"), Unit.RATE, "unknown (not a number)"),
        (float("-inf"), Unit.POINTS, "unknown (not a number)"),
    ],
)
def test_numbers_in_their_units(value: float, unit: Unit, shown: str) -> None:
    """A rate is a percentage, a cost in dollars, a minus a minus; no finite number, no number."""
    assert number_text(value, unit) == shown


def test_an_estimate_in_words() -> None:
    """Value over interval and n; a missing value is unknown with its reason, never a number."""
    marks: list[str] = []

    def mark(reason: str) -> str:
        marks.append(reason)
        return " (a)"

    known = Estimate("q", 0.5, Unit.RATE, 20, 0.3, 0.7, level=0.9833)
    assert estimate_text(known, mark).detail == "30.0\u00a0% to 70.0\u00a0% (98.33\u00a0%), n\u00a0=\u00a020"
    bare = Estimate("q", 0.5, Unit.RATE, 20, reason="no interval: fewer than two clusters")
    assert estimate_text(bare, mark).detail == "n\u00a0=\u00a020; no interval (a)"
    missing = Estimate("q", None, Unit.RATE, 0, reason="no scored trial")
    assert estimate_text(missing, mark).value == "unknown (a)"
    assert estimate_text(Estimate("q", None, Unit.RATE, 0, reason="n/a (not grounded)"), mark).value == "n/a (a)"
    assert marks == ["fewer than two clusters", "no scored trial", "not grounded"]
