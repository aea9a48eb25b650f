"""A document that the prover cannot read may hold the answer, so it ends every proof over its corpus."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from auditor.corpus import Corpus
from auditor.question import Question
from auditor_knowledge_gap.builder import KnowledgeGap, KnowledgeGapConfig
from auditor_knowledge_gap.reading import read

Given = Callable[[Mapping[str, str | bytes]], Corpus]
Asked = Callable[..., Question]
CONFIG = KnowledgeGapConfig(embedded=False)

UNREADABLE = {
    "scanned PDF": b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n",
    "zipped office file": b"PK\x03\x04 word/document.xml",
    "picture": b"\x89PNG\r\n\x1a\n",
    "NUL bytes": b"The pump\x00 switches off.",
    "control characters": b"The pump \x07\x1b[2J switches off.",
    "broken encoding": b"\xef\xbb\xbfThe pump \xff\xfe\xfd switches off.",
    "no meaning in cp1252": b"The pump \x81\x8d\x90 switches off.",
    "private-use glyphs": "The pump \ue000\ue001\ue002 switches off.".encode(),
    "replacement characters": "The pump \ufffd\ufffd switches off.".encode(),
    "empty": b"",
    "white space": b" \n\t\n",
    "marks without words": b"--- *** ---",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_document_ends_the_proof(
    name: str, prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """Each kind of unreadable document is named with a reason, and nothing is proven over it."""
    corpus = given({**background, "odd.bin": UNREADABLE[name]})
    examination = prover.examine(asked("At which temperature does the pump switch off?", "65 °C"), corpus, CONFIG)
    assert any(doubt.startswith("odd.bin is not readable: ") for doubt in examination.doubts)
    assert examination.steps[0]["unreadable"] == 1


def test_fictitious_name_needs_coverage_too(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """A name could stand in what was not read."""
    from auditor.question import QuestionKind

    question = asked("What does the Quillback weigh?", tags=("entity:Quillback",), kind=QuestionKind.FICTITIOUS)
    assert prover.prove(question, given(background), CONFIG, date="2026-11-30") is not None
    assert prover.prove(question, given({**background, "a.pdf": b"%PDF-1.7"}), CONFIG, date="2026-11-30") is None


def test_bytes_that_changed_since_the_manifest_are_not_read(given: Given, background: Mapping[str, str]) -> None:
    """A proof is bound to a digest, so other bytes under it prove nothing."""
    corpus = given(background)
    changed = replace(corpus.documents[0], read=lambda: b"other words")
    reading = read(replace(corpus, documents=(changed, *corpus.documents[1:])))
    assert [document.document for document in reading.unreadable] == [changed.name]


def test_read_that_fails_is_named(given: Given, background: Mapping[str, str]) -> None:
    """A file that is gone does not pass for one without the answer."""

    def gone() -> bytes:
        raise FileNotFoundError("gone")

    corpus = given(background)
    reading = read(replace(corpus, documents=(replace(corpus.documents[0], read=gone), *corpus.documents[1:])))
    assert "FileNotFoundError" in reading.unreadable[0].reason


def test_old_encodings_are_read(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """Windows-1252 and UTF-16 are text: they are searched, not refused."""
    for encoding in ("cp1252", "utf-16"):
        corpus = given({**background, "old.txt": "The pump switches off at 65 °C.".encode(encoding)})
        assert not read(corpus).unreadable
        question = asked("At which temperature does the pump switch off?", "65 °C")
        assert prover.prove(question, corpus, CONFIG, date="2026-11-30") is None


def test_every_word_stands_in_a_passage(given: Given) -> None:
    """Nothing of a long document is left out, wherever the chunks are cut."""
    text = "\n".join(f"line{number} says word{number}" for number in range(2000))
    passages = read(given({"long.txt": text})).passages
    seen = {word for passage in passages for word in passage.spaced_words.split()}
    assert len(passages) > 10
    assert {f"word{number}" for number in range(2000)} <= seen


def test_headings_follow_a_passage(given: Given) -> None:
    """A passage carries the headings it stands under, and none of a section that has ended."""
    filler = "Nothing to see here.\n" * 200
    text = f"# Pump\n\n{filler}\n## Motor\n\n{filler}\n## Valve\n\n{filler}"
    last = read(given({"parts.md": text})).passages[-1]
    assert "Pump" in last.context
    assert "Valve" in last.context
    assert "Motor" not in last.context


@pytest.mark.parametrize(
    "noise",
    [pattern * (200_000 // len(pattern)) for pattern in ("<", "&#", "a-\n", "# ", "=\n", "e\u0301", "9")],
    ids=["open tags", "references", "hyphens", "headings", "rules", "marks", "digits"],
)
def test_noise_is_read_in_bounded_time(noise: str, given: Given, background: Mapping[str, str]) -> None:
    """200 kB of hostile text take five seconds of one core at the very most, whatever they are made to defeat."""
    started = time.process_time()
    for passage in read(given({**background, "noise.md": f"noise {noise}"})).passages:
        assert passage.stems is not None
        assert passage.values is not None
    assert time.process_time() - started < 5
