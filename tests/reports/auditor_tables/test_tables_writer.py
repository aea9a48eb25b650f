"""The tables open right in a spreadsheet, hold every block of every section, and carry no formula (FAULTS 58)."""

from __future__ import annotations

import codecs
import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import StorageError
from auditor.findings import (
    SCHEMA_VERSION,
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
from auditor.testing import PluginPackageContract, ReportWriterContract
from auditor.writer import ReportData, ReportWriter, VoteRow
from auditor_tables.spreadsheet import safe_text
from auditor_tables.writer import TablesWriter

_KNOWN = Estimate("q", -1.202, Unit.POINTS, 99, -1.5, -0.9)
_UNKNOWN = Estimate("cvr", None, Unit.RATE, 0, reason="n/a (not grounded)")


def table(*rows: tuple[object, ...], name: str = "t", columns: int | None = None) -> Table:
    """A table of these rows."""
    width = columns or len(rows[0])
    return Table(name, "A table", tuple(Column(f"c{i}", f"C{i}") for i in range(width)), rows)  # type: ignore[arg-type]  # cells of any kind are meant


def data(*sections: Section, **more: object) -> ReportData:
    """Findings of these sections and one trial."""
    trial: dict[str, str | int | float | bool | None | list[str]] = {
        "key": "ask/0.0.0.0.0",
        "system": 0,
        "question": 0,
        "form": "plain",
        "score": "-4",
        "flags": ["capped", "cut"],
        "answer_class": None,
    }
    made = ReportData(Findings(SCHEMA_VERSION, (trial,), sections, {}), {})
    return replace(made, **more)  # type: ignore[arg-type]  # the caller names fields of ReportData


def written(folder: Path, given: ReportData) -> dict[str, bytes]:
    """Files by name."""
    return {path.name: path.read_bytes() for path in TablesWriter().write(given, folder)}


def rows_of(content: bytes) -> list[list[str]]:
    """Rows of a CSV file as a spreadsheet reads them."""
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))


class TestPackage(PluginPackageContract):
    """The contract of plugin packages."""

    package = "auditor_tables"


class TestTablesContract(ReportWriterContract):
    """The contract of report writers."""

    def make(self) -> ReportWriter:
        """The writer."""
        return TablesWriter()


def test_csv_has_a_mark_and_json_lines_has_none(tmp_path: Path) -> None:
    """``東京`` opens right in a spreadsheet, and in a program (FAULTS 58)."""
    files = written(
        tmp_path,
        data(
            Section(
                "s",
                "S",
                1,
                (
                    table(
                        ("東京", "é"),
                    ),
                ),
            )
        ),
    )
    assert files["s.t.csv"].startswith(codecs.BOM_UTF8)
    assert rows_of(files["s.t.csv"]) == [["c0", "c1"], ["東京", "é"]]
    assert files["s.t.jsonl"].startswith(b"{")
    assert json.loads(files["s.t.jsonl"]) == {"c0": "東京", "c1": "é"}


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "＝1+1",
        "＋1",
        "－1",
        "＠x",
        "﹦1",
        "−1+2",
        "|calc",
        "%x",
    ]
    + [" =1", "\u200b=1", "\ufeff=cmd|'/c calc'!A1", "\u00a0@x", "-", "- item", "+49 171 1", "-1e5"],
)
def test_no_text_is_a_formula(tmp_path: Path, text: str) -> None:
    """Signs, their look-alikes, and signs behind blanks or invisible characters are disarmed, in headers too."""
    block = Table("t", "T", (Column(text, text),), ((text,),))
    (header,), (cell,) = rows_of(written(tmp_path, data(Section("s", "S", 1, (block,))))["s.t.csv"])
    assert header.startswith("'")
    assert cell.startswith("'")


@pytest.mark.parametrize("text", ["-4", "-4.25", "7", "0.5"])
def test_a_decimal_written_as_text_is_a_number(text: str) -> None:
    """Scores are decimals as text; a number alone is no formula."""
    assert safe_text(text) == text


def test_numbers_stay_numbers_and_missing_stays_missing(tmp_path: Path) -> None:
    """A negative number has no apostrophe; an unknown estimate has an empty cell beside its reason."""
    block = table(("a", -3, -1.5, _KNOWN), ("b", None, 0.0, _UNKNOWN), ("c", 0, 1e-7, None))
    files = written(tmp_path, data(Section("s", "S", 1, (block,))))
    assert rows_of(files["s.t.csv"]) == [
        ["c0", "c1", "c2", "c3", "c3_low", "c3_high", "c3_n", "c3_reason"],
        ["a", "-3", "-1.5", "-1.202", "-1.5", "-0.9", "99", ""],
        ["b", "", "0.0", "", "", "", "0", "n/a (not grounded)"],
        ["c", "0", "1e-07", "", "", "", "", ""],
    ]
    first, second, _ = (json.loads(line) for line in files["s.t.jsonl"].splitlines())
    assert (first["c3"]["value"], first["c3"]["low"], second["c1"]) == (-1.202, -1.5, None)
    assert second["c3"]["reason"] == "n/a (not grounded)"


def test_every_block_of_an_unknown_section_is_a_file(tmp_path: Path) -> None:
    """Estimates, tables, figures and notes; the contents list all of them."""
    figure = Figure("f", "F", "line", "x", "y", (Series("one", (1.0, 2.0), (0.5, None), (0.4, None), (0.6, None)),))
    section = Section("odd", "Odd", 3, (_KNOWN, table(("x",)), figure, Note(NoteKind.WARNING, "Beware."), _UNKNOWN))
    files = written(tmp_path, data(section))
    names = {"odd.estimates", "odd.t", "odd.f", "odd.notes"}
    assert names <= {name.removesuffix(".csv") for name in files}
    assert [row[:2] for row in rows_of(files["odd.estimates.csv"])] == [
        ["name", "estimate"],
        ["q", "-1.202"],
        ["cvr", ""],
    ]
    assert rows_of(files["odd.f.csv"])[1:] == [["one", "1.0", "0.5", "0.4", "0.6"], ["one", "2.0", "", "", ""]]
    assert rows_of(files["odd.notes.csv"])[1] == ["warning", "Beware."]
    assert names <= {row[0] for row in rows_of(files["contents.csv"])}


def test_line_breaks_and_quotes_stay_in_their_cell(tmp_path: Path) -> None:
    """A cell may hold lines, quotes, commas and controls, and its row is still one row."""
    text = 'a "b",\r\nc\rd\te\x00\x1b[31m'
    files = written(tmp_path, data(Section("s", "S", 1, (table((text, "end")),))))
    assert rows_of(files["s.t.csv"])[1] == ['a "b",\nc\nd\te\u2400\u241b[31m', "end"]
    assert json.loads(files["s.t.jsonl"])["c0"] == text


def test_lone_surrogates_break_nothing(tmp_path: Path) -> None:
    """Half a character becomes U+FFFD in both."""
    files = written(tmp_path, data(Section("s", "S", 1, (table(("a\ud800b",)),))))
    assert rows_of(files["s.t.csv"])[1] == ["a\ufffdb"]
    assert json.loads(files["s.t.jsonl"])["c0"] == "a\ufffdb"


def test_a_cell_fits_a_spreadsheet_and_is_whole_in_json_lines(tmp_path: Path) -> None:
    """Programs stop at 32,767 characters; what is cut says so."""
    files = written(tmp_path, data(Section("s", "S", 1, (table(("漢" * 200_000,)),))))
    (cell,) = rows_of(files["s.t.csv"])[1]
    assert len(cell) < 32_767
    assert "cut" in cell[-40:]
    assert json.loads(files["s.t.jsonl"])["c0"] == "漢" * 200_000


def test_trials_have_their_texts_unless_public(tmp_path: Path) -> None:
    """Answer (of the last attempt) and wording stand beside the trial; a public report has neither."""
    texts = {
        "ask/0.0.0.0.0#10/answer": "=last",
        "ask/0.0.0.0.0#2/answer": "second",
        "ask/0.0.0.0.0#10/reader/0#1/answer": "nested",
        "question/0/0": "How long?",
        "question/0/private": '{"id": "q1"}',
    }
    (trial,) = map(json.loads, written(tmp_path, data(texts=texts))["trials.jsonl"].splitlines())
    assert (trial["answer"], trial["question_text"], trial["question_id"]) == ("=last", "How long?", "q1")
    assert trial["flags"] == ["capped", "cut"]
    header, row = rows_of(written(tmp_path, data(texts=texts))["trials.csv"])
    cells = dict(zip(header, row, strict=True))
    assert (cells["answer"], cells["score"], cells["flags"], cells["answer_class"]) == (
        "'=last",
        "-4",
        "capped, cut",
        "",
    )
    public = b"".join(written(tmp_path / "public", data(texts=texts, public=True)).values())
    assert b"How long" not in public
    assert b"=last" not in public


def test_votes_are_a_table(tmp_path: Path) -> None:
    """One row a labeller and input, after repair and before."""
    vote = VoteRow("verdict", "ab", "match", "embedded:x", "correct", None, None, "unparseable", "correct")
    header, row = rows_of(written(tmp_path, data(votes=(vote,)))["votes.csv"])
    assert dict(zip(header, row, strict=True)) == {
        "kind": "verdict",
        "input": "ab",
        "labeller": "match",
        "family": "embedded:x",
        "vote": "correct",
        "non_label": "",
        "first_vote": "",
        "first_non_label": "unparseable",
        "reduced": "correct",
    }


def test_systems_are_a_table(tmp_path: Path) -> None:
    """What is audited, with what makes its numbers differ: grounded, simulated, conflicts."""
    protocol = {
        "systems": [{"name": "s", "kind": "k", "traits": {"grounded": False, "evidence": "none", "simulated": "sim"}}],
        "conditions": [{"name": "default", "contract": "documents_only", "tags": {}}],
        "pairs": [[0, 0]],
        "seats": [],
        "questions": [{"forms": ["plain"]}],
    }
    files = written(tmp_path, data(protocol=protocol))
    header, row = rows_of(files["systems.csv"])
    cells = dict(zip(header, row, strict=True))
    assert (cells["name"], cells["grounded"], cells["simulated"], cells["family"]) == ("s", "false", "sim", "")
    assert json.loads(files["trials.jsonl"])["system_name"] == "s (simulated)"


def test_file_names_are_safe_and_distinct(tmp_path: Path) -> None:
    """No name leaves the folder, is reserved, or is another's but for case."""
    sections = [
        Section("../../etc", "S", 1, (table(("x",), name="passwd"), table(("y",), name="PassWd"))),
        Section("con", "S", 1, (table(("x",), name="漢字"), table(("x",), name="x" * 300))),
        Section("contents", "S", 1, (table(("x",), name=""),)),
    ]
    files = written(tmp_path, data(*sections))
    assert {"etc.passwd.csv", "etc.passwd_2.csv", "con-table.table.csv", "contents_2.csv"} <= set(files)
    assert len({name.casefold() for name in files}) == len(files)
    assert max(map(len, files)) < 150


def test_a_folder_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    """The file in the way is named, and nothing else happens."""
    (tmp_path / "tables").write_text("in the way", "utf-8")
    with pytest.raises(StorageError, match="cannot write the tables"):
        TablesWriter().write(data(), tmp_path)


@given(st.text(max_size=60))
def test_any_text_survives_the_way_into_a_spreadsheet(text: str) -> None:
    """What is read back is what was written, and never begins like a formula unless it is a plain number."""
    cell = safe_text(text)
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([cell, "end"])
    assert rows_of(line.getvalue().encode("utf-8"))[0] == [cell, "end"]
    assert not cell or cell[0] not in "=+@\t\r" and (cell[0] != "-" or cell[1:].replace(".", "").isdecimal())
