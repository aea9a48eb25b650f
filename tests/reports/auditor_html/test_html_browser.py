"""The report in a real browser: sort, filter, trial pages, hostile texts, phone, print; no network (FAULTS 61)."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from auditor.archive import Run
from auditor_html.text import shown
from auditor_html.writer import HtmlWriter
from big_report import big_report
from browser import Browser
from report_kit import HOSTILE_ANSWERS, LONG_ANSWER

pytestmark = pytest.mark.browser

_ROWS = "[...document.querySelectorAll('#trial-table tbody tr')]"
_COUNT = "document.getElementById('trial-count').textContent"


@pytest.fixture
def page(chromium: Browser, report: Path) -> Browser:
    """The report, open at desktop width."""
    chromium.errors.clear()
    chromium.requests.clear()
    chromium.size(1280, 900)
    chromium.call("Page.navigate", url="about:blank")
    chromium.open((report / "report.html").as_uri())
    return chromium


def trial(page: Browser, key: str) -> str:
    """Open the page of a trial and return its text."""
    page.value(f"location.hash = '#trial=' + encodeURIComponent({key!r})")
    page.wait(f"document.querySelector('#trial-title')?.textContent.includes({key.removeprefix('ask/')!r})")
    return str(page.value("document.getElementById('trial').innerText"))


def column(page: Browser, number: int) -> list[str]:
    """Texts of one column of the trials' table."""
    found: list[str] = page.value(f"{_ROWS}.map((row) => row.cells[{number}].textContent)")
    return found


def test_it_opens_without_errors_and_without_network(page: Browser, report: Path) -> None:
    """All it loads is itself and the picture that tells whether its folder is there."""
    assert page.errors == []
    (picture,) = (report / "report_files").glob("present-*.svg")
    asked: list[str] = []
    for _ in range(50):  # events arrive with the replies to calls
        page.value("new Promise((done) => setTimeout(done, 20))")
        asked = [url for url in page.requests if url != "about:blank"]
    assert asked == [(report / "report.html").as_uri(), picture.as_uri()]
    assert page.value(_COUNT) == "192 of 192 trials"


def test_trials_are_sorted_by_keyboard(page: Browser) -> None:
    """The header's button takes the focus, sorts up, then down, and says so to those who cannot see."""
    score = "document.querySelectorAll('#trial-table th[scope=col]')[5]"
    assert page.value(f"{score}.textContent") == "Score"
    page.value(f"{score}.querySelector('button').focus()")
    page.press("Enter", "\r")
    assert page.value(f"{score}.getAttribute('aria-sort')") == "ascending"
    assert set(column(page, 5)) == {"−4"}
    page.press(" ", " ")
    assert page.value(f"{score}.getAttribute('aria-sort')") == "descending"
    assert column(page, 5)[:30] == ["1"] * 28 + ["0"] * 2
    assert page.value("document.activeElement.tagName") == "BUTTON"
    page.press("Tab")
    assert page.value("document.activeElement.textContent") == "Votes"


def test_tables_of_the_report_are_sorted_by_value(page: Browser) -> None:
    """Numbers sort as numbers, and what is missing stays last both ways."""
    column_of = "document.querySelectorAll('#table-penalty-headline th[scope=col]')[5]"
    cells = "[...document.querySelectorAll('#table-penalty-headline tbody tr')].map((row) => row.cells[0].innerText)"
    page.value(f"{column_of}.querySelector('button').click()")
    assert page.value(cells) == ["careful", "eager †", "bare", "memory (simulated)"]
    page.value(f"{column_of}.querySelector('button').click()")
    assert page.value(cells) == ["eager †", "careful", "bare", "memory (simulated)"]
    assert page.value(f"{column_of}.getAttribute('aria-sort')") == "descending"


def choose(page: Browser, name: str, value: str) -> None:
    """Choose an option of a filter by its text."""
    page.value(
        f"(() => {{ const s = document.getElementById('filter-{name}');"
        f" s.value = [...s.options].find((o) => o.text === {value!r}).value;"
        " s.dispatchEvent(new Event('change')); })()"
    )


def search(page: Browser, text: str) -> None:
    """Type into the search field."""
    page.value(
        f"(() => {{ const s = document.getElementById('filter-text'); s.value = {text!r};"
        " s.dispatchEvent(new Event('input')); })()"
    )


def test_trials_are_filtered(page: Browser, rich: Run) -> None:
    """By system, kind, state and text; together; the counts are those of the findings; all come back on reset."""
    attempts = sum(t["state"] == "canary_attempt" and t["system"] == 1 for t in rich.findings.trials)
    choose(page, "system", "eager †")
    choose(page, "state", "canary attempt")
    assert page.value(_COUNT) == f"{attempts} of 192 trials"
    assert set(column(page, 4)) == {"canary attempt"}
    choose(page, "stratum", "canary: fictitious")
    assert set(column(page, 7)) == {"canary: fictitious"}
    page.value("document.querySelector('.filters button[type=reset]').click()")
    assert page.value(_COUNT) == "192 of 192 trials"
    search(page, "漢字")
    page.wait(f"{_COUNT} === '2 of 192 trials'")
    search(page, "nothing has this")
    page.wait(f"{_COUNT} === '0 of 192 trials'")


def test_pages_of_the_table(page: Browser) -> None:
    """Fifty rows at a time, in order, with an end."""
    first = column(page, 0)
    assert len(first) == 50
    assert page.value("document.getElementById('page-back').disabled")
    for _ in range(3):
        page.value("document.getElementById('page-next').click()")
    assert len(column(page, 0)) == 192 - 150
    assert page.value("document.getElementById('page-next').disabled")
    assert not set(first) & set(column(page, 0))


def test_a_canary_has_a_page_with_everything(page: Browser) -> None:
    """Question, reference, proof, answer, evidence, votes before and after repair, score, flags and ledger entries."""
    text = trial(page, "ask/1.0.12.0.0")
    for wanted in (
        "canary attempt",
        "eager †",
        "−4",
        "What is gap 1?",
        "gap 1",
        "Proof that the documents do not hold the answer",
        "lexical",
        "2026-11-30",
        "found: 0",
        "It is gap 1, b=partial.",
        "Retrieved passages: 1; citations: not reported.",
        "a passage about What is gap 1?",
        "Stance: answer",
        "Verdict: correct",
        "partial",
        "embedded:stub-b",
        "outcome ask/1.0.12.0.0#1",
        "outcome label/verdict/1/",
    ):
        assert wanted in text
    assert "not grounded" not in text
    assert page.value("document.activeElement.id") == "trial-title"
    assert "no vote: unparseable" in trial(page, "ask/1.0.21.0.0")


def test_a_trial_without_text_says_what_became_of_it(page: Browser) -> None:
    """A failed call has its fault, no answer and no score."""
    text = trial(page, "ask/0.0.3.0.0")
    assert "permanent" in text
    assert "none: not scored" in text
    assert "No text: the trial ended as failed" in text


def test_back_and_forth(page: Browser) -> None:
    """Next follows the list as it is sorted and filtered; back returns to the row that was left."""
    choose(page, "system", "bare")
    first, second = column(page, 0)[:2]
    page.value("document.querySelector('#trial-table tbody a').click()")
    page.wait(f"document.querySelector('#trial-title')?.textContent.includes({first!r})")
    page.value("[...document.querySelectorAll('#trial .way button')][1].click()")
    page.wait(f"document.querySelector('#trial-title').textContent.includes({second!r})")
    page.value("document.querySelector('#trial .way a').click()")
    page.wait("document.getElementById('trial').hidden")
    assert page.value("document.activeElement.textContent") == second
    assert page.value(_COUNT) == "48 of 192 trials"


def test_a_link_to_a_trial_opens_it(page: Browser, report: Path) -> None:
    """A trial's address works when the file is opened with it, and an unknown one says so."""
    page.call("Page.navigate", url="about:blank")
    page.open((report / "report.html").as_uri() + "#trial=ask/0.0.0.0.0")
    page.wait("!document.getElementById('trial').hidden")
    assert "It is right 1." in page.value("document.getElementById('trial').innerText")
    page.value("location.hash = '#trial=%E0%A4%A'")
    page.wait("document.querySelector('#trial-title')?.textContent.includes('no such trial')")
    assert page.errors == []


@pytest.mark.parametrize("name", HOSTILE_ANSWERS)
def test_hostile_answers_are_shown_literally(page: Browser, name: str) -> None:
    """Each is on its trial's page and in the list as text; nothing of it runs, loads or leaves its box."""
    number = list(HOSTILE_ANSWERS).index(name)
    title = page.value("document.title")
    trial(page, f"ask/1.0.{number}.0.0")
    boxes: list[str] = page.value("[...document.querySelectorAll('#trial .text')].map((box) => box.textContent)")
    assert shown(HOSTILE_ANSWERS[name])[:20_000] in boxes
    assert page.value("document.querySelectorAll('#trial img, #trial script, #trial [onerror]').length") == 0
    assert page.value("document.title").endswith(title)
    assert page.value("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.errors == []


def test_long_texts_lie_beside(page: Browser, report: Path) -> None:
    """The link leads to the whole answer and the whole evidence, in files that work alone."""
    assert "180,006 characters more" in trial(page, "ask/1.0.7.0.0")
    link = page.value(
        "[...document.querySelectorAll('#trial a')].find((a) => a.textContent === 'The answer in full').href"
    )
    page.open(link, wait="true")
    assert page.value("document.querySelector('.text').textContent") == LONG_ANSWER
    assert page.value("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.errors == []


def test_the_page_says_when_its_folder_is_not_there(page: Browser, report: Path, tmp_path: Path) -> None:
    """A file that was sent alone says so where something is missing, and everything else works."""
    shutil.copy(report / "report.html", tmp_path / "alone.html")
    page.call("Page.navigate", url="about:blank")
    page.open((tmp_path / "alone.html").as_uri())
    page.wait("document.querySelectorAll('#trial-table tbody tr').length === 50")
    trial(page, "ask/1.0.2.0.0")
    page.wait("document.getElementById('trial').innerText.includes('not beside this file')")
    assert "249 characters more" in page.value("document.getElementById('trial').innerText")


@pytest.mark.parametrize("place", ["", "#trial=ask/1.0.12.0.0", "#trial=ask/1.0.7.0.0", "#trial=ask/1.0.3.0.0"])
def test_a_phone_scrolls_down_only(page: Browser, report: Path, place: str) -> None:
    """At 360 px nothing is wider than the window; wide tables scroll in boxes of their own."""
    page.size(360, 740, phone=True)
    page.call("Page.navigate", url="about:blank")
    page.open((report / "report.html").as_uri() + place)
    assert page.value("window.innerWidth") == 360
    assert page.value("document.documentElement.scrollWidth") == 360
    wide = page.value(
        "[...document.querySelectorAll('body *')].filter((e) => e.getClientRects().length && !e.closest('.scroll')"
        " && !e.matches('.hidden, .skip') && e.getBoundingClientRect().right > 361)"
        ".map((e) => e.outerHTML.slice(0, 90))"
    )
    assert wide == []


def test_all_that_scrolls_can_be_reached_by_keyboard(page: Browser) -> None:
    """Each box that may scroll takes the focus and has a name."""
    boxes: list[dict[str, Any]] = page.value(
        "[...document.querySelectorAll('.scroll')].map((box) => ({tab: box.tabIndex, role: box.getAttribute('role'),"
        " name: box.getAttribute('aria-label')"
        " ?? document.getElementById(box.getAttribute('aria-labelledby'))?.textContent}))"
    )
    assert boxes
    assert all(box["tab"] == 0 and box["role"] == "region" and box["name"] for box in boxes)
    unnamed = "[...document.querySelectorAll('input, select')].filter((field) => !field.labels.length).length"
    assert page.value(unnamed) == 0


def test_without_scripts_it_says_what_is_missing(chromium: Browser, report: Path) -> None:
    """Everything but the trials is in the page itself; where they would be, it says why they are not."""
    chromium.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.call("Page.navigate", url="about:blank")
        chromium.open((report / "report.html").as_uri(), wait="true")
        chromium.wait("document.querySelector('noscript').innerText.includes('Scripts are switched off')")
        assert chromium.value("document.querySelector('noscript').getClientRects().length") > 0
        assert chromium.value("document.getElementById('trial-list').hidden")
        assert chromium.value("document.querySelectorAll('#section-penalty table').length") > 10
    finally:
        chromium.call("Emulation.setScriptExecutionDisabled", value=False)


def test_an_old_browser_is_told(page: Browser, report: Path) -> None:
    """A browser that cannot unpack shows the rest and says what is missing."""
    script = page.call("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")
    try:
        page.call("Page.navigate", url="about:blank")
        page.open((report / "report.html").as_uri(), wait="true")
        page.wait("!document.getElementById('trial-failed').hidden")
        assert "cannot be unpacked here" in page.value("document.getElementById('trial-failed').innerText")
    finally:
        page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


def test_it_prints(page: Browser, tmp_path: Path) -> None:
    """The whole page goes to paper, with the data of each figure unfolded."""
    page.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    page.value("window.dispatchEvent(new Event('beforeprint'))")
    assert page.value("document.querySelectorAll('main details:not([open])').length") == 0
    page.value("window.dispatchEvent(new Event('afterprint'))")
    assert page.value("document.querySelectorAll('main details:not([open])').length") > 0


def test_a_public_report_works_without_texts(chromium: Browser, rich: Run, tmp_path: Path) -> None:
    """List and trial pages are there, with states, scores and votes, and say that texts are kept out."""
    HtmlWriter().write(rich.report_data(public=True), tmp_path)
    chromium.size(1280, 900)
    chromium.errors.clear()
    chromium.call("Page.navigate", url="about:blank")
    chromium.open((tmp_path / "report.html").as_uri())
    text = trial(chromium, "ask/1.0.12.0.0")
    assert "Kept out of this public report." in text
    assert "Texts are kept out of this public report." in text
    assert "Verdict: correct" in text and "question 12" in text
    assert "gap 1" not in text
    assert chromium.errors == []


@pytest.mark.slow
def test_sixteen_thousand_trials(chromium: Browser, rich: Run, tmp_path: Path) -> None:
    """With 16,000 distinct answers of 300 characters and evidence of each, the file is below 10 MB and opens in 2 s."""
    HtmlWriter().write(big_report(rich.report_data(), 16_000), tmp_path)
    assert (tmp_path / "report.html").stat().st_size < 10_000_000
    opened = []
    for _ in range(3):  # the best of three: other work on the machine is no property of the page
        chromium.call("Page.navigate", url="about:blank")
        began = time.monotonic()
        chromium.open((tmp_path / "report.html").as_uri())
        opened.append(time.monotonic() - began)
    assert min(opened) < 2
    assert chromium.value(_COUNT) == "16,000 of 16,000 trials"
