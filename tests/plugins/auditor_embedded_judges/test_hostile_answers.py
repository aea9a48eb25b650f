"""200 kB of hostile text pass scrubbing, stance and the three judges within a second."""

from __future__ import annotations

import random
import time
from contextlib import nullcontext

import pytest

from auditor.judge import VerdictKind, build_input, build_request
from auditor.scrub import scrub
from auditor.stance import StanceKind
from auditor_embedded_judges.answer_match import AnswerMatch
from auditor_embedded_judges.embedding_agreement import EmbeddingAgreement
from auditor_embedded_judges.rules import StanceRules
from auditor_embedded_judges.token_alignment import TokenAlignment

REFERENCES = ["172 (acceptable range: anything between 170 and 174)", "June 14, 1900", "Starr Andrews"]


def noise(size: int) -> str:
    """Random characters of many scripts, lone surrogates, NUL and direction marks."""
    chance = random.Random(5)  # noqa: S311 - repeatable noise, no secret
    pools = (range(32, 127), range(0x80, 0x3000), range(0xD800, 0xE000), (0, 0x202E))
    return "".join(chr(chance.choice(chance.choice(pools))) for _ in range(size))


UNITS = (
    *("i do not ", "1 ", "in 1901 ", "x ", "no ", '"a" ', "june 1 1900 ", "two hundred and ", "documents do not say "),
    *("\ufdfa", "a\u0300\u0301", "**a**", "abcdefgh abcdefgi "),
)
TEXTS = {"noise": noise(200_000), **{repr(unit): (unit * 200_000)[:200_000] for unit in UNITS}}


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Word vectors are read once a process; that is not part of the time."""
    EmbeddingAgreement().judge("q", "r", "c")


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_hostile_answer_in_a_second(name: str) -> None:
    """All that is done with one answer, against three references, on one core; the best of three, since a loaded
    machine slows the processor itself.
    """
    assert min(_labelled_s(name, attempt) for attempt in range(3)) < 1.0


def _labelled_s(name: str, attempt: int) -> float:
    """Processor seconds that one answer costs; each time another text, so that nothing is remembered."""
    begun = time.process_time()
    text = scrub(f"{attempt} {TEXTS[name]}").text
    stance, verdict = StanceKind(), VerdictKind()
    asked = build_request(b"k", "stance", build_input(stance, question="How many?", candidate=text))
    StanceRules().label(asked, nullcontext)
    judged = build_request(
        b"k", "verdict", build_input(verdict, question="How many?", references=REFERENCES, candidate=text)
    )
    for judge in (AnswerMatch(), EmbeddingAgreement(), TokenAlignment()):
        judge.label(judged, nullcontext)
    return time.process_time() - begun


def test_hostile_question_and_references() -> None:
    """What is hostile need not be the answer: question and reference are bounded too."""
    text = TEXTS["noise"]
    given = build_input(VerdictKind(), question=text, references=[text], candidate=text)
    begun = time.process_time()
    for judge in (AnswerMatch(), EmbeddingAgreement(), TokenAlignment()):
        judge.label(build_request(b"k", "verdict", given), nullcontext)
    assert time.process_time() - begun < 2.0
