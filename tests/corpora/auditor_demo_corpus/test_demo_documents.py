"""The demo's documents: many, varied, readable, unlike each other, and without what is kept from them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from auditor.normalize import contains, words
from auditor_demo_corpus.bundle import demo, folder

DOCUMENTS = folder() / "documents"
FILES = sorted(path for path in DOCUMENTS.rglob("*") if path.is_file())
MANIFEST = yaml.safe_load((folder() / "manifest.yaml").read_text(encoding="utf-8"))
MOST_ALIKE_SHARE, MOST_ALIKE_PAIRS = 0.30, 0.01
# Names of forms, policies, products and parts: QP-07, KA-12, K-1010, F-17, FC-2024-03.
CODE = re.compile(r"\b[A-Z]{1,3}-\d{2,4}(?:-\d+)?\b")


def _prose(path: Path) -> str:
    """Text without the rows of tables."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("|"))


def _five_grams(path: Path) -> set[tuple[str, ...]]:
    every = words(_prose(path))
    return {every[i : i + 5] for i in range(len(every) - 4)}


def test_there_are_enough() -> None:
    """At least 120 documents, in more than one format and in several folders."""
    assert len(FILES) >= 120
    assert {path.suffix for path in FILES} == {".md", ".txt"}
    assert len({path.parent for path in FILES}) >= 9


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_document_is_clean_and_of_common_length(path: Path) -> None:
    """Each is UTF-8 in NFC with plain line ends, between 200 and 600 words."""
    text = path.read_bytes().decode("utf-8")
    assert unicodedata.is_normalized("NFC", text)
    assert "\r" not in text
    assert 200 <= len(text.split()) <= 600


def test_lengths_vary() -> None:
    """Some documents have some 200 words and some 550, and several lie near either end."""
    lengths = sorted(len(path.read_text(encoding="utf-8").split()) for path in FILES)
    assert lengths[4] <= 230
    assert lengths[-5] >= 450
    assert lengths[-1] >= 550


def test_documents_refer_to_each_other() -> None:
    """At least half name a document, form or part that another document names too, or another document's title."""
    texts = {path: path.read_text(encoding="utf-8") for path in FILES}
    spaced = {path: f" {' '.join(words(text))} " for path, text in texts.items()}
    titles = {path: words(_title(text)) for path, text in texts.items()}
    codes = {path: set(CODE.findall(text)) for path, text in texts.items()}
    named = Counter(code for found in codes.values() for code in found)

    def refers(path: Path) -> bool:
        others = (" ".join(title) for other, title in titles.items() if other != path and len(title) > 1)
        return any(named[code] > 1 for code in codes[path]) or any(f" {title} " in spaced[path] for title in others)

    referring = [path for path in FILES if refers(path)]
    assert len(referring) >= len(FILES) / 2


def _title(text: str) -> str:
    return next(line for line in text.splitlines() if line.strip()).strip("#* ")


def test_forms_of_document_are_many() -> None:
    """Tables, lists and plain letters all occur, and not everywhere: what a reader meets is not one form."""
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    for mark in (r"^\|.*\|$", r"^[-*] ", r"^\d+[.)] ", r"^(From|To|Subject): ", r"^#{2,3} ", r"^```"):
        having = sum(bool(re.search(mark, text, re.MULTILINE)) for text in texts)
        assert 1 <= having <= 0.7 * len(texts), mark


def test_no_template_shows_through() -> None:
    """At most 1 % of pairs share more than 30 % of the shorter one's word five-grams outside tables."""
    grams = {path: _five_grams(path) for path in FILES}
    pairs = list(combinations(FILES, 2))
    alike = [
        (a.name, b.name)
        for a, b in pairs
        if len(grams[a] & grams[b]) > MOST_ALIKE_SHARE * min(len(grams[a]), len(grams[b]))
    ]
    assert len(alike) <= MOST_ALIKE_PAIRS * len(pairs), alike


def test_contradictions_are_flagged_and_real() -> None:
    """Each flagged pair of pages says two different things, each page only its own."""
    assert MANIFEST["contradictions"]
    for contradiction in MANIFEST["contradictions"]:
        pages = contradiction["pages"]
        assert len(pages) == 2
        for page, other in (pages, pages[::-1]):
            text = (DOCUMENTS / page["document"]).read_text(encoding="utf-8")
            assert contains(text, page["says"])
            assert not contains(text, other["says"])


def test_withheld_texts_are_given_to_nobody() -> None:
    """The manifest lists every withheld text; none of their sentences stands in a document, and none is below it."""
    withheld = sorted((folder() / "withheld").iterdir())
    assert [f"withheld/{path.name}" for path in withheld] == MANIFEST["withheld"]
    given = set().union(*map(_five_grams, FILES))
    for path in withheld:
        grams = _five_grams(path)
        assert len(grams & given) <= 0.02 * len(grams), path.name


def test_near_misses_exist() -> None:
    """The sister documents that the manifest names are there."""
    for group in MANIFEST["near_misses"]:
        assert len(group) >= 2
        assert all((DOCUMENTS / name).is_file() for name in group)


def test_names_beyond_ascii_occur() -> None:
    """Names with letters beyond ASCII, so that folding and encodings are used in every run."""
    text = "".join(path.read_text(encoding="utf-8") for path in FILES)
    for name in ("Sæther-Lowe", "Łukasz", "Kołodziej", "Ibáñez", "Tomáš"):
        assert name in text


def test_spec_names_what_is_there() -> None:
    """The spec's paths exist in the package, its corpus is the documents and nothing beside them."""
    spec = yaml.safe_load(demo().read_text(encoding="utf-8"))
    assert (demo().parent / spec["corpus"]["path"]) == DOCUMENTS
    for source in spec["questions"]:
        assert (demo().parent / source["path"]).is_file()
    memories = [system["config"]["memory"] for system in spec["systems"] if "memory" in system["config"]]
    assert memories == ["memory.jsonl"]
