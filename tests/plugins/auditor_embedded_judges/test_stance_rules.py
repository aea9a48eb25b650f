"""The stance classifier ``rules``: METHODS §1 case by case, and patterns that cannot be slow."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import ConfigurationError
from auditor.judge import build_input, build_request, read_vote
from auditor.stance import Stance, StanceKind
from auditor_embedded_judges.patterns import PatternSet, read_pattern
from auditor_embedded_judges.rules import StanceRules

CASES = yaml.safe_load((Path(__file__).parent / "stance_cases.yaml").read_text(encoding="utf-8"))


def stance(question: str, text: str) -> str:
    """The stance, through JSON and the core's parser."""
    kind = StanceKind()
    asked = build_request(b"key", kind.name, build_input(kind, question=question, candidate=text))
    return str(kind.reduce([read_vote(kind, 0, StanceRules().label(asked, nullcontext))]).value)


@pytest.mark.parametrize("case", CASES, ids=[case["text"][:60] for case in CASES])
def test_stances(case: dict[str, str]) -> None:
    """Answer, abstain, deny and unsure as METHODS §1 defines them."""
    assert stance(case["question"], case["text"]) == case["stance"]


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["stance"] == "abstain"], ids=lambda case: case["text"][:40]
)
def test_declining_is_heard_in_any_dress(case: dict[str, str]) -> None:
    """Case, curly quotes, bold print and trailing space do not hide a refusal."""
    for text in (case["text"].upper(), case["text"].replace("'", "’"), f"  {case['text']}  \n"):
        assert stance(case["question"], text) == "abstain", text


def test_blank_text_never_reaches_a_classifier() -> None:
    """An empty text is no abstention: the core refuses to build an input from it."""
    for text in ("", " \n", "\t"):
        with pytest.raises(ValueError, match="candidate"):
            stance("Which city?", text)


@given(st.text(max_size=120), st.text(min_size=1, max_size=200).filter(str.strip))
def test_every_text_has_a_stance(question: str, text: str) -> None:
    """No text raises."""
    assert stance(question, text) in tuple(Stance)


def test_patterns() -> None:
    """Alternatives, lists, optional words, gaps and anchors."""
    lists = {"who": ["i", "we"]}

    def hit(source: str, said: str) -> bool:
        return PatternSet([read_pattern(source, lists)]).find(said.split()) is not None

    assert hit("@who do not *2 know|see", "well we do not really quite know")
    assert not hit("@who do not *2 know|see", "we do not a b c know")
    assert hit("a b? c", "a c") and hit("a b? c", "a b c") and not hit("a b? c", "a d c")
    assert hit("^ unknown $", "unknown") and not hit("^ unknown $", "unknown people") and not hit("^ a", "b a")


@pytest.mark.parametrize(
    "source", ["", "^", "*2 a", "a? b", "a *9 b", "a *x b", "@nobody a", "a | b", " ".join("a" * 17)]
)
def test_patterns_without_bounds_are_refused(source: str) -> None:
    """A pattern that is malformed, that begins with a gap, or whose gap is not small does not load."""
    with pytest.raises(ConfigurationError):
        read_pattern(source, {})
