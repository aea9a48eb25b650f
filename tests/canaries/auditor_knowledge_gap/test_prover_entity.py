"""A made-up name is proven only when neither it nor anything like a spelling of it stands in the corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from auditor.corpus import Corpus
from auditor.question import ProofGrade, Question, QuestionKind
from auditor_knowledge_gap.builder import KnowledgeGap, KnowledgeGapConfig
from auditor_knowledge_gap.entity import edit_limit, nearest
from auditor_knowledge_gap.reading import Passage

Given = Callable[[Mapping[str, str | bytes]], Corpus]
Asked = Callable[..., Question]
CONFIG = KnowledgeGapConfig()
DATE = "2026-11-30"


def _question(asked: Asked, *names: str, text: str = "What does the Marlinspike valve weigh?") -> Question:
    return asked(text, tags=tuple(f"entity:{name}" for name in names), kind=QuestionKind.FICTITIOUS)


def test_absent_name_is_proven(prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]) -> None:
    """A name that is nowhere gives a proof of grade lexical, without a reference."""
    proof = prover.prove(_question(asked, "Marlinspike"), given(background), CONFIG, date=DATE)
    assert proof is not None
    assert proof.grade is ProofGrade.LEXICAL
    assert [step["step"] for step in proof.steps] == ["coverage", "entity"]


@pytest.mark.parametrize(
    "document",
    [
        "The Marlinspike is new.",
        "THE MARLINSPIKE.",
        "A marlin-spike of steel.",
        "A marlin spike of steel.",
        "Marlinspikes are sold in pairs.",
        "The Marlenspike is new.",
        "The Marlinspke is new.",
        "The Márlïnspike is new.",
        "The Marlin\u00adspike is new.",
        "The Marlin-\nspike is new.",
        "Mar&shy;linspike",
    ],
)
def test_any_spelling_is_a_doubt(
    document: str, prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """Case, hyphens, spaces, plurals, accents and one or two slips do not hide a name."""
    corpus = given({**background, "found.md": document})
    assert prover.prove(_question(asked, "Marlinspike"), corpus, CONFIG, date=DATE) is None


def test_name_of_a_document_counts(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """A name that stands in a file's name alone is known to every system."""
    corpus = given({**background, "sheets/marlinspike.md": "A valve of steel."})
    assert prover.prove(_question(asked, "Marlinspike"), corpus, CONFIG, date=DATE) is None


def test_one_known_name_among_several_is_a_doubt(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """Every name that is said to exist nowhere must exist nowhere."""
    question = _question(asked, "Marlinspike", "harbour", text="What does the Marlinspike of the harbour weigh?")
    assert prover.prove(question, given(background), CONFIG, date=DATE) is None


def test_which_name_must_be_said(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """Without a tag nothing is proven, nor for a name that the question does not hold."""
    assert prover.prove(_question(asked), given(background), CONFIG, date=DATE) is None
    assert prover.prove(_question(asked, "Quillback"), given(background), CONFIG, date=DATE) is None


@pytest.mark.parametrize("name", ["X9", "Ray", "…"])
def test_short_names_are_not_proven(
    name: str, prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """A name of three characters has no near-spellings that would mean anything."""
    question = _question(asked, name, text=f"What does the {name} weigh?")
    assert prover.prove(question, given(background), CONFIG, date=DATE) is None


def test_limits_grow_with_length() -> None:
    """One edit for short names, two from eight characters on; none can be told below four."""
    assert [edit_limit(name) for name in ("Ray", "Wren", "Curlew", "Dabchick", "Fen Wright")] == [None, 1, 1, 2, 2]


@examples(st.text(alphabet="abcdefghij", min_size=8, max_size=12), st.data())
def test_two_edits_are_always_noticed(name: str, data: st.DataObject) -> None:
    """Whatever two letters of a long name are changed, it is found."""
    places = data.draw(st.lists(st.integers(0, len(name) - 1), min_size=2, max_size=2, unique=True))
    changed = "".join("x" if place in places else letter for place, letter in enumerate(name))
    passage = Passage("a.md", "a.md", f"some words, then {changed}, then more")
    assert nearest(name, [passage]).found


@examples(st.text(alphabet="abcdefghij", min_size=8, max_size=12))
def test_three_edits_are_another_name(name: str) -> None:
    """A name of which three letters differ is another name."""
    passage = Passage("a.md", "a.md", f"zz {'xyz' + name[3:]} zz")
    assert not nearest(name, [passage]).found
