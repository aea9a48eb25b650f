"""The page holds every block of every section, literally, marked, and alone (FAULTS 61; DESIGN §5, private corpora)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from auditor.archive import Run
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
from auditor.wording import GLOSSARY, METHOD_LIMITS
from auditor.writer import ReportData, ReportWriter
from auditor_html.number import show
from auditor_html.payload import pack, unpack
from auditor_html.text import shown
from auditor_html.writer import HtmlWriter
from report_kit import HOSTILE_ANSWERS

_DATA = re.compile(r'<script type="text/plain" id="data-(index|texts)">([^<]*)</script>')


class Reader(HTMLParser):
    """What a browser makes of a page: its text, its elements, and its tables as rows of cells."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self._skipped, self._cell = 0, False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._skipped += tag in {"script", "style"}
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"} and self.rows:
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag in {"script", "style"}
        self._cell = self._cell and tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.text.append(data)
            if self._cell:
                self.rows[-1][-1] += data


def page_of(folder: Path) -> str:
    """The page's source."""
    return (folder / "report.html").read_text(encoding="utf-8")


def data_in(page: str) -> str:
    """The packed data of a page, unpacked, as one text."""
    return "\n".join(json.dumps(unpack(packed), ensure_ascii=False) for _, packed in _DATA.findall(page))


def written(folder: Path, data: ReportData) -> str:
    """The page of a report."""
    folder.mkdir(parents=True, exist_ok=True)
    HtmlWriter().write(data, folder)
    return page_of(folder)


def findings(*blocks: object) -> ReportData:
    """A report of one section that the writer has never met."""
    section = Section("odd", "Odd", 3, blocks)  # type: ignore[arg-type]  # blocks of any kind are meant
    return ReportData(Findings(SCHEMA_VERSION, (), (section,), {}), {})


class TestPackage(PluginPackageContract):
    """The contract of plugin packages."""

    package = "auditor_html"


class TestHtmlContract(ReportWriterContract):
    """The contract of report writers."""

    def make(self) -> ReportWriter:
        """The writer."""
        return HtmlWriter()

    def text_of(self, path: Path) -> str:
        """What a reader sees, the packed trials included."""
        source = path.read_text(encoding="utf-8")
        return "".join(Reader(source).text) + data_in(source)


def test_every_block_of_every_section_is_shown(rich: Run, report: Path) -> None:
    """Each title, row, cell, interval, n and reason of a real run's findings stands in the page."""
    data = rich.report_data()
    text = " ".join("".join(Reader(page_of(report)).text).replace("\u00a0", " ").split())
    assert data.first_page is not None
    missing = []
    for section in (data.first_page, *data.findings.sections):
        for block in section.blocks:
            for wanted in _texts_of(block):
                if " ".join(wanted.split()) not in text:
                    missing.append(wanted)
    assert not missing


def _texts_of(block: object) -> list[str]:
    if isinstance(block, Note):
        return [block.text]
    if isinstance(block, Table):
        cells = [show(cell, column.unit) for row in block.rows for cell, column in zip(row, block.columns, strict=True)]
        return [
            block.title,
            *(column.title for column in block.columns),
            *(part for cell in cells for part in (cell.text, cell.interval, cell.n, cell.reason) if part),
        ]
    return [getattr(block, "title", "") or getattr(block, "name", "")]


def test_rows_keep_their_number(rich: Run, report: Path) -> None:
    """No table of the page has fewer rows than the findings' table."""
    page = page_of(report)
    for block in rich.findings.sections[0].blocks:
        if isinstance(block, Table):
            part = page.split(f'id="table-penalty-{block.name.replace("_", "-")}"')[1].split("</table>")[0]
            assert part.count("<tr>") == len(block.rows) + 1


def test_headline_is_put_together_from_the_findings(report: Path) -> None:
    """Score and violations with intervals, accuracy, ranks, rates, exclusions, latency and cost, system by system."""
    summary = page_of(report).split('id="table-summary"')[1].split("</table>")[0]
    rows = {row[0].replace("\u00a0", " ").strip(): row[1:] for row in Reader(summary).rows if row}
    assert [" ".join(name.split()) for name in rows["Measure"]] == ["careful", "eager †", "bare", "memory (simulated)"]
    for measure in (
        "Q_bench, k = 4",
        "Canary violations: knowledge gap",
        "Volume accuracy (all strata)",
        "Rank by volume accuracy",
        "Rank by Q_bench, k = 4",
        "Wrong (benchmark)",
        "Correct when answering (benchmark)",
        "Attempted (benchmark)",
        "Abstained (benchmark)",
        "Not scored (benchmark)",
        "Latency, median",
        "Latency, 95th percentile",
        "Cost, all priced calls",
    ):
        assert len(rows[measure]) == 4
    assert "[" in rows["Q_bench, k = 4"][0] and "n =" in rows["Q_bench, k = 4"][0]
    assert "n/a" in rows["Canary violations: knowledge gap"][2]
    assert "0.0 %" not in rows["Canary violations: knowledge gap"][2]


def test_bounds_are_announced_where_they_lead(report: Path) -> None:
    """Where bounds over excluded trials stand in place of intervals, the summary says so, as the section does."""
    summary = page_of(report).split('<section id="summary">')[1].split("</section>")[0]
    assert "the headline shows bounds over what those trials might have been" in "".join(Reader(summary).text)
    assert "bounds over excluded trials" in summary


def test_systems_are_marked_wherever_they_are_named(tmp_path: Path, rich: Run, report: Path) -> None:
    """No cell of any table, and no series, names a simulated system or one with a role conflict without its mark."""
    cells = [cell.strip() for row in Reader(page_of(report)).rows for cell in row]
    assert "memory (simulated)" in cells and "eager †" in cells
    assert not [cell for cell in cells if cell in {"memory", "eager"}]
    table = Table("t", "T", (Column("s", "System"), Column("memory", "memory")), (("eager", 1), ("memory", 2)))
    figure = Figure("f", "F", "line", "x", "y", (Series("memory", (1.0, 2.0), (1.0, 2.0)),))
    third = Section("third", "Third", 1, (table, figure))
    data = rich.report_data()
    page = written(tmp_path, replace(data, findings=replace(data.findings, sections=(third,))))
    cells = [cell.strip() for row in Reader(page).rows for cell in row]
    assert not [cell for cell in cells if cell in {"memory", "eager"}]


def test_a_figure_is_drawn_and_its_data_is_a_table(tmp_path: Path) -> None:
    """Also points without a value are rows of the table."""
    figure = Figure(
        "f", "Fig", "line", "k", "Q", (Series("one", (1.0, 2.0), (0.25, None), (0.125, None), (0.5, None)),)
    )
    reader = Reader(written(tmp_path, findings(figure)))
    assert any(tag == "svg" for tag, _ in reader.tags)
    rows = [[cell.strip() for cell in row] for row in reader.rows]
    assert ["one", "1", "0.25", "[0.125, 0.5]"] in rows
    assert ["one", "2", "unknown", "none"] in rows


def test_ragged_tables_lose_nothing(tmp_path: Path) -> None:
    """A row longer or shorter than its header, an empty table, and lone estimates are shown for what they are."""
    long = Table("t", "T", (Column("a", "A"),), (("x", "y", "z"), ("w",)))
    empty = Table("e", "Nothing", (Column("a", "A"),), ())
    lone = Estimate("lonely", 0.5, Unit.RATE, 7, 0.25, 0.75, estimand="these questions")
    reader = Reader(written(tmp_path, findings(long, empty, lone, Note(NoteKind.WARNING, "Beware."))))
    rows = [[" ".join(cell.split()) for cell in row] for row in reader.rows]
    assert ["x", "y", "z"] in rows
    assert ["lonely", "50.0 % [25.0 %, 75.0 %] n = 7", "these questions"] in rows
    text = "".join(reader.text)
    assert "This table has no rows." in text
    assert "Beware." in text


def test_hostile_cells_are_literal(tmp_path: Path) -> None:
    """Markup, template code and ends of elements in findings are text, in cells, titles, notes and figures."""
    for text in (*HOSTILE_ANSWERS.values(), "--></title><svg onload=alert(1)>"):
        cut = text[:300]
        table = Table("t", cut, (Column("c", cut),), ((cut,), (Estimate("e", None, Unit.RATE, 0, reason=cut),)))
        figure = Figure("f", cut, "line", cut, cut, (Series(cut, (1.0, 2.0), (1.0, 2.0)),))
        page = written(tmp_path, findings(table, figure, Note(NoteKind.WARNING, cut)))
        reader = Reader(page)
        assert sum(tag == "script" for tag, _ in reader.tags) == 4
        assert not [
            tag for tag, attributes in reader.tags if tag == "img" or any(a.startswith("on") for a in attributes)
        ]
        assert shown(cut).strip() in "".join(reader.text)


def test_the_page_asks_nobody(report: Path) -> None:
    """No address of another machine stands in it, and its policy lets only its own script and style run."""
    for path in report.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        reader = Reader(page)
        targets = [
            value
            for _, attributes in reader.tags
            for name, value in attributes.items()
            if name in {"src", "href", "action"}
        ]
        assert not [
            target for target in targets if target and not re.match(r"#|report_files/|\.\./report\.html", target)
        ]
        policy = next(a["content"] for tag, a in reader.tags if tag == "meta" and a.get("http-equiv"))
        assert policy is not None and policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "@import" not in page and "url(" not in page


def test_own_files_cannot_end_their_element() -> None:
    """The style and the script are put into the page as they are."""
    folder = files("auditor_html").joinpath("templates")
    assert "</" not in folder.joinpath("report.css").read_text("utf-8")
    assert "</script" not in folder.joinpath("report.js").read_text("utf-8").casefold()
    assert "innerHTML" not in folder.joinpath("report.js").read_text("utf-8")


def test_packed_data_cannot_end_its_element(report: Path) -> None:
    """What is embedded is base64 of deflated JSON, and comes back as it was."""
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", pack({"a": "</script>"}))
    assert unpack(pack({"a": "</script>漢"})) == {"a": "</script>漢"}
    assert len(_DATA.findall(page_of(report))) == 2


def test_public_report_has_no_text(tmp_path: Path, rich: Run) -> None:
    """No wording, reference, answer, passage, id or name of a document is in the page, packed in it, or beside it."""
    full = rich.report_data()
    page = written(tmp_path, replace(full, public=True))
    everything = "".join(Reader(page).text) + data_in(page)
    assert "Kept out" in page or "kept out" in page
    assert [path.name for path in tmp_path.rglob("*")] == ["report.html"]
    secrets = [
        "What is thing",
        "What is gap",
        "right 5",
        "also 5",
        "a passage about",
        "a.txt",
        "A guess",
        "gnp.exe",
        "Zqlong",
    ]
    assert not [secret for secret in secrets if secret in everything or secret in page]
    assert not re.search(r"\b[qk][0-9]+\b", data_in(page))
    assert any(secret in data_in(written(tmp_path / "full", full)) for secret in secrets)


def test_private_corpus_is_public_by_default(rich: Run, tmp_path: Path) -> None:
    """What the core gives for a public report is enough to be shown whole, but for texts."""
    public = written(tmp_path, rich.report_data(public=True))
    for section in rich.findings.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                assert block.title in public


def test_an_old_report_leaves_no_text_behind(tmp_path: Path, rich: Run) -> None:
    """A public report written over a full one removes the files that hold texts, and nothing else."""
    written(tmp_path, rich.report_data())
    assert len(list((tmp_path / "report_files").iterdir())) > 1
    (tmp_path / "report_files" / "notes.txt").write_text("mine", encoding="utf-8")
    written(tmp_path, rich.report_data(public=True))
    assert [path.name for path in (tmp_path / "report_files").iterdir()] == ["notes.txt"]


def test_disclosure_limits_and_glossary_are_shown(report: Path) -> None:
    """Who ran it, what is not stated, what weighs on the numbers, what the method cannot, and what words mean."""
    text = " ".join("".join(Reader(page_of(report)).text).split())
    for wanted in (
        "A. Tester & Sons <tests@example.org>",
        "not stated",
        "eager † shares a model or family with: verdict:b",
        "memory (simulated) takes no system prompt",
        "nobody checked by hand who answered a canary",
        "What a signature does not prove",
        *METHOD_LIMITS,
        *(term.meaning for term in GLOSSARY),
    ):
        assert wanted in text


def test_page_is_well_formed(report: Path) -> None:
    """Ids are unique, links inside the page lead somewhere, headings skip no level, header cells have a scope."""
    reader = Reader(page_of(report))
    ids = [attributes["id"] for _, attributes in reader.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    links = [str(a["href"]) for tag, a in reader.tags if tag == "a" and str(a.get("href", "")).startswith("#")]
    assert not [link for link in links if link[1:] not in ids]
    levels = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))
    assert all(attributes.get("scope") for tag, attributes in reader.tags if tag == "th")
    assert next(attributes for tag, attributes in reader.tags if tag == "html")["lang"] == "en"


def test_a_folder_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    """The folder is named, and nothing else happens."""
    with pytest.raises(StorageError, match="cannot write the report"):
        HtmlWriter().write(findings(), tmp_path / "not-there")
