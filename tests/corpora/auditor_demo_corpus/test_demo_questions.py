"""The demo's questions: answerable where they say so, alike in form whatever their kind, remembered by the baseline."""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import Decimal
from statistics import fmean
from typing import Any

import pytest

from auditor.normalize import contains, words
from auditor_demo_corpus.bundle import folder
from auditor_demo_corpus.threshold import best_threshold


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder() / name).read_text(encoding="utf-8").splitlines()]


BENCHMARK = _lines("questions.jsonl")
CANARIES = _lines("canaries.jsonl")
THRESHOLDS = _lines("thresholds.jsonl")
MEMORY = _lines("memory.jsonl")
EVERY = [*BENCHMARK, *CANARIES, *THRESHOLDS]
CANARY_KINDS = ("knowledge_gap", "hold_out", "fictitious")
BASELINE_RIGHT = (0.15, 0.45)


def _id(line: dict[str, Any]) -> str:
    return str(line["id"])


def _answers(line: dict[str, Any]) -> list[str]:
    return [*line["references"], *line["aliases"]]


def test_there_are_enough_questions() -> None:
    """At least 150 benchmark questions over 100 documents."""
    assert len(BENCHMARK) >= 150
    assert len({line["cluster"] for line in BENCHMARK}) >= 100
    assert {line["kind"] for line in BENCHMARK} == {"benchmark"}


@pytest.mark.parametrize("kind", CANARY_KINDS)
def test_there_are_enough_canaries(kind: str) -> None:
    """Of each kind at least twenty, from at least fifteen sources."""
    lines = [line for line in CANARIES if line["kind"] == kind]
    assert len(lines) >= 20
    assert len({line["cluster"] for line in lines}) >= 15


def test_questions_ask_for_many_sorts_of_thing() -> None:
    """Tags say what a question needs: a row of a table, a date, a version, a negation, one of two that are alike."""
    tags = Counter(tag for line in BENCHMARK for tag in line["tags"])
    for tag, least in {"table": 30, "near-miss": 60, "date": 15, "version": 15, "name": 10, "price": 20}.items():
        assert tags[tag] >= least, tag
    assert tags["negation"] >= 5
    assert tags["comparison"] >= 2


def test_canaries_are_of_the_three_kinds() -> None:
    """No other kind is among the canaries."""
    assert {line["kind"] for line in CANARIES} == set(CANARY_KINDS)


def test_ids_and_wordings_are_unique() -> None:
    """No id and no wording stands twice, over all files: the memory is keyed by wording, trials by id."""
    assert len({line["id"] for line in EVERY}) == len(EVERY)
    assert len({" ".join(words(line["question"])) for line in EVERY}) == len(EVERY)


@pytest.mark.parametrize("line", [q for q in EVERY if q["kind"] == "benchmark"], ids=_id)
def test_answer_stands_in_its_documents(line: dict[str, Any]) -> None:
    """A benchmark question's reference stands in its cluster's document, some wording of it in each gold document."""
    assert line["references"]
    assert line["gold_documents"][0] == line["cluster"]
    texts = [(folder() / "documents" / name).read_text(encoding="utf-8") for name in line["gold_documents"]]
    for reference in line["references"]:
        assert contains(texts[0], reference)
    for text in texts:
        assert any(contains(text, answer) for answer in _answers(line))


@pytest.mark.parametrize("line", [q for q in EVERY if q["kind"] == "hold_out"], ids=_id)
def test_held_out_answer_stands_in_what_was_withheld(line: dict[str, Any]) -> None:
    """A hold-out canary asks for a fact of a withheld text, which is its cluster."""
    text = (folder() / line["cluster"]).read_text(encoding="utf-8")
    for reference in line["references"]:
        assert contains(text, reference)


@pytest.mark.parametrize("line", [q for q in EVERY if q["kind"] == "fictitious"], ids=_id)
def test_fictitious_question_says_what_exists_nowhere(line: dict[str, Any]) -> None:
    """A fictitious question names the thing that exists nowhere, and says so in a tag; it has no reference."""
    names = [tag.removeprefix("entity:") for tag in line["tags"] if tag.startswith("entity:")]
    assert names
    assert all(contains(line["question"], name) for name in names)
    assert not line["references"]


@pytest.mark.parametrize("line", EVERY, ids=_id)
def test_question_is_one_plain_sentence(line: dict[str, Any]) -> None:
    """One sentence with one question mark, between 6 and 20 words, and nothing that hints at its kind."""
    text = line["question"]
    assert text.endswith("?")
    assert text.count("?") == 1
    assert 6 <= len(text.split()) <= 20
    assert not re.search(
        r"\b(if any|actually|really exist|documented|not mentioned|according to)\b", text, re.IGNORECASE
    )


def _openings(lines: list[dict[str, Any]]) -> set[str]:
    return {line["question"].split()[0] for line in lines}


def test_canaries_look_like_benchmark_questions() -> None:
    """Length, digits, capitals and opening words of canaries are those of benchmark questions, within narrow bounds."""
    asked = {kind: [q["question"] for q in CANARIES if q["kind"] == kind] for kind in CANARY_KINDS}
    usual = [line["question"] for line in BENCHMARK]
    for kind, texts in asked.items():
        assert abs(fmean(len(t.split()) for t in texts) - fmean(len(t.split()) for t in usual)) <= 2, kind
        assert abs(fmean(map(len, texts)) / fmean(map(len, usual)) - 1) <= 0.2, kind
        assert abs(_capitals(texts) - _capitals(usual)) <= 1, kind
        assert abs(_share_with_digit(texts) - _share_with_digit(usual)) <= 0.25, kind
    assert _openings(CANARIES) <= _openings(BENCHMARK)


def _capitals(texts: list[str]) -> float:
    return fmean(sum(word[0].isupper() for word in text.split()[1:]) for text in texts)


def _share_with_digit(texts: list[str]) -> float:
    return fmean(any(character.isdigit() for character in text) for text in texts)


def test_memory_answers_everything_with_one_face() -> None:
    """The simulated memory has one answer for each benchmark question and canary, none for others, and never doubts."""
    remembered = Counter(line["question"] for line in MEMORY)
    assert remembered == Counter(line["question"] for line in (*BENCHMARK, *CANARIES))
    for line in MEMORY:
        assert set(line) == {"question", "answer"}
        assert not re.search(r"\b(not sure|perhaps|maybe|probably|cannot|do not know|I think)\b", line["answer"])


def test_memory_is_right_now_and_then() -> None:
    """It guesses: it is right on a part of the benchmark questions, and on some canaries too (a right violation)."""
    answers = {line["question"]: line["answer"] for line in MEMORY}

    def right(lines: list[dict[str, Any]]) -> float:
        return fmean(any(contains(answers[q["question"]], a) for a in _answers(q)) for q in lines)

    low, high = BASELINE_RIGHT
    assert low <= right(BENCHMARK) <= high
    assert 0 < right(CANARIES) < high


def test_threshold_questions_are_apart() -> None:
    """At least thirty questions set the threshold, half of them answerable; the demo asks none of them."""
    assert len(THRESHOLDS) >= 30
    kinds = Counter(line["kind"] == "benchmark" for line in THRESHOLDS)
    assert min(kinds[True], kinds[False]) >= 15


def _decimals(*texts: str) -> list[Decimal]:
    return [Decimal(text) for text in texts]


def test_threshold_rule_weighs_both_errors_alike() -> None:
    """The rule takes the lowest best step: above what cannot be answered, at or below what can."""
    assert best_threshold(_decimals("0.70", "0.80"), _decimals("0.20", "0.31")) == Decimal("0.35")
    assert best_threshold(_decimals("0.2", "0.9", "0.9", "0.9"), _decimals("0.3")) == Decimal("0.35")
    assert best_threshold(_decimals("0.2"), _decimals("0.3", "0.1", "0.1", "0.1")) == Decimal("0.15")
    with pytest.raises(ValueError, match="both sorts"):
        best_threshold([], _decimals("0.1"))
