"""Report data of any number of trials with distinct texts, to measure what a writer makes of it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from auditor.writer import ReportData, VoteRow

__all__ = ["big_report"]

_ANSWER_CHARACTERS, _EVIDENCE_CHARACTERS = 300, 1500


def big_report(data: ReportData, count: int) -> ReportData:
    """``data`` with ``count`` trials of its four systems in place of its own, three repeats a question."""
    rng = random.Random(1)  # noqa: S311 - reproducible texts, no secret
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 10))) for _ in range(20_000)]
    trials: list[dict[str, Any]] = []
    texts: dict[str, str] = {}
    votes: list[VoteRow] = []
    for number in range(count):
        question, repeat, system = number // 12, number // 4 % 3, number % 4
        key = f"ask/{system}.0.{question}.0.{repeat}"
        stance, verdict = (f"{rng.getrandbits(128):032x}" for _ in range(2))
        trials.append(_trial(key, system, question, repeat, stance, verdict))
        passage = _text(rng, words, _EVIDENCE_CHARACTERS)
        texts[f"{key}#1/answer"] = _text(rng, words, _ANSWER_CHARACTERS)
        texts[f"{key}#1/evidence"] = json.dumps({"chunks": [{"text": passage, "document": "a.txt"}], "citations": None})
        texts[f"question/{question}/0"] = _text(rng, words, 100)
        votes += _votes(stance, verdict)
    one = data.protocol["questions"][0]  # type: ignore[index] # a protocol's questions are a list
    protocol = {**data.protocol, "questions": [one] * (count // 12 + 1)}
    findings = replace(data.findings, trials=tuple(trials))
    return replace(data, findings=findings, texts=texts, votes=tuple(votes), protocol=protocol)


def _trial(key: str, system: int, question: int, repeat: int, stance: str, verdict: str) -> dict[str, Any]:
    return {
        "key": key,
        "system": system,
        "variant": "base",
        "question": question,
        "form": "plain",
        "repeat": repeat,
        "stratum": "benchmark",
        "state": "correct",
        "detail": "",
        "score": "1",
        "stance": stance,
        "verdict": verdict,
        "flags": [],
        "answer_class": 0,
        "chunks": 1,
        "citations": None,
    }


def _text(rng: random.Random, words: list[str], characters: int) -> str:
    return " ".join(rng.choices(words, k=characters // 3))[:characters]


def _votes(stance: str, verdict: str) -> Iterator[VoteRow]:
    yield VoteRow("stance", stance, "stub-stance", "embedded:stub-stance", "answer", None, "answer", None, "answer")
    for seat in "abc":
        yield VoteRow("verdict", verdict, seat, f"embedded:stub-{seat}", "correct", None, "correct", None, "correct")
