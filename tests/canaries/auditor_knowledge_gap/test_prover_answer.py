"""The prover never takes a fact for absent that a document states in another form, and proves what is absent."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from auditor.corpus import Corpus, CorpusForm
from auditor.question import ProofGrade, Question, QuestionKind
from auditor_knowledge_gap.builder import KnowledgeGap, KnowledgeGapConfig

Given = Callable[[Mapping[str, str | bytes]], Corpus]
Asked = Callable[..., Question]
CONFIG = KnowledgeGapConfig()
DATE = "2026-11-30"
TRIP = "At which temperature does the pump switch off?"
WEIGHT = "How much does the pump weigh?"
FITTED = "On which date was the pump fitted?"
MOVED = "How many litres does the pump move a year?"
CHANGED = "Who changed the impeller of the pump?"
MADE = "What is the body of the pump made of?"
FILLER = "The yard is swept on Mondays and the gate is shut at dusk by whoever leaves last.\n" * 25

PLANTED = {
    "as it stands": (TRIP, "65 °C", "The pump switches off at 65 °C."),
    "number in words": (TRIP, "65 °C", "The pump switches off at sixty-five degrees Celsius."),
    "another unit": (TRIP, "65 °C", "The pump switches off at 149 °F."),
    "full-width digits": (TRIP, "65 °C", "The pump switches off at ６５ ℃."),
    "character references": (TRIP, "65 °C", "The pump switches off at 65&nbsp;&deg;C."),
    "markup": (TRIP, "65 °C", "<html><p>The pump switches off at <b>6</b>5? No: <td>65</td>&#176;C</p></html>"),
    "rounded": (TRIP, "65 °C", "The pump switches off at 64.8 °C."),
    "smaller unit": (WEIGHT, "1.1 kg", "The pump weighs 1100 g."),
    "unit in a table's head": (WEIGHT, "1.1 kg", "# Pump\n\n| Part | Weight in kg |\n| --- | --- |\n| pump | 1.1 |\n"),
    "ISO date": (FITTED, "3 July 2024", "Pump: fitted 2024-07-03."),
    "American date": (FITTED, "3 July 2024", "The pump was fitted on July 3rd, 2024."),
    "slashed date": (FITTED, "3 July 2024", "The pump was fitted on 03/07/2024."),
    "date without its year": (FITTED, "3 July 2024", "In 2024 a pump came. It was fitted on the 3rd of July."),
    "year in words": ("In which year was the pump built?", "1987", "The pump was built in nineteen eighty-seven."),
    "large number in words": (MOVED, "1,200,000", "It is a pump of 1.2 million litres a year."),
    "no group marks": (MOVED, "1,200,000", "The pump moves 1200000 litres."),
    "time in another unit": ("How long does the pump run?", "2 years", "The pump runs for 24 months."),
    "diacritics": (CHANGED, "José Ibáñez", "The impeller was changed by JOSE IBANEZ."),
    "misspelt": (CHANGED, "Norrgate", "The impeller of the pump was changed by Norgate."),
    "cut at a line's end": (MADE, "titanium", "The body is tita-\nnium, the pump is new."),
    "soft hyphen": (MADE, "titanium", "The body of the pump is ti\u00adta\u00adnium."),
    "inflected": ("What does the pump need?", "monthly greasing of bearings", "Grease the pump's bearing monthly."),
    "subject in the heading": (TRIP, "65 °C", f"# Pump and switch\n\n{FILLER}\nOff at 65 °C.\n"),
    "subject across a chunk's end": (TRIP, "65 °C", f"# Yard\n\n{FILLER}The pump can switch off.\n\nIt does at 65 °C."),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted_fact_is_never_proven_absent(
    name: str, prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """A fact that is in the corpus in another format, unit, spelling or place is not proven absent."""
    text, reference, document = PLANTED[name]
    question = asked(text, reference)
    assert prover.prove(question, given({**background, "planted.md": document}), CONFIG, date=DATE) is None
    assert prover.prove(question, given(background), CONFIG, date=DATE) is not None


def test_subject_in_the_document_name(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """What a document is about may stand in its name alone."""
    corpus = given({**background, "pump-temperature-switch.txt": "Off at 65 °C.\n"})
    assert prover.prove(asked(TRIP, "65 °C"), corpus, CONFIG, date=DATE) is None


def test_alias_counts_as_the_answer(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """Absence of a reference is no absence while one of its aliases stands there."""
    corpus = given({**background, "owner.md": "The pump belongs to the Iron Duke."})
    question = asked("Who owns the pump?", "Arthur Wellesley", aliases=("the Iron Duke",))
    assert prover.prove(question, corpus, CONFIG, date=DATE) is None


def test_alias_of_the_subject_counts(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """A tag gives the subject another name; a passage that joins that name with the answer is a doubt."""
    corpus = given({**background, "gauge.md": "The staff gauge stands at 3.25 m."})
    plain = asked("How high does the river post reach?", "3.25 m")
    tagged = asked("How high does the river post reach?", "3.25 m", tags=("subject:staff gauge",))
    harmless = {**background, "post.md": "The river post is painted white, high and low."}
    with_post = given({**harmless, "gauge.md": "The staff gauge stands at 3.25 m."})
    assert prover.prove(plain, with_post, CONFIG, date=DATE) is not None
    assert prover.prove(tagged, with_post, CONFIG, date=DATE) is None
    assert prover.prove(tagged, corpus, CONFIG, date=DATE) is None


def test_answer_beside_another_subject_is_no_doubt(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """A short answer occurs somewhere in any corpus: the oven's 65 °C says nothing about the pump."""
    proof = prover.prove(asked(TRIP, "65 °C"), given(background), CONFIG, date=DATE)
    assert proof is not None
    [lexical] = [step for step in proof.steps if step["step"] == "lexical"]
    assert lexical["passages_with_answer"] == 1
    assert lexical["passages_with_both"] == 0


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("On which date did the team of the school win?", "4 December 2001"),
        ("How much does the crane of the harbour lift?", "172 kg"),
        ("How many goals did the team of the school score?", "4"),
        ("Who sows the beans of the garden?", "Ed"),
    ],
)
def test_part_of_a_word_is_not_the_word(
    text: str, reference: str, prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """Words and numbers are whole: 14 goals in 2001 are no 4 December 2001, 1,720 is not 172, no Ed lies in beds."""
    proof = prover.prove(asked(text, reference), given(background), KnowledgeGapConfig(embedded=False), date=DATE)
    assert proof is not None


def test_proof_records_every_step(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """A proof names prover, date and corpus, and holds coverage, the exact search and six searches for passages."""
    corpus = given(background)
    proof = prover.prove(asked(TRIP, "65 °C"), corpus, CONFIG, date=DATE)
    assert proof is not None
    assert (proof.grade, proof.corpus_digest, proof.date) == (ProofGrade.EMBEDDED, corpus.digest, DATE)
    assert proof.prover
    names = [(step["step"], step.get("query")) for step in proof.steps]
    searches = [(step, query) for step in ("retrieval", "embedded") for query in ("question", "answer", "both")]
    assert names == [("coverage", None), ("lexical", None), *searches]
    assert all(step["doubts"] == 0 for step in proof.steps)
    assert proof.steps[0]["documents"] == proof.steps[0]["passages"] == len(background)


def test_grade_is_no_higher_than_what_was_searched(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """Without embedded search the grade is lexical."""
    config = KnowledgeGapConfig(embedded=False)
    proof = prover.prove(asked(TRIP, "65 °C"), given(background), config, date=DATE)
    assert proof is not None
    assert proof.grade is ProofGrade.LEXICAL


def test_question_without_a_reference_is_not_proven(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """Nothing to search for is a doubt, not a success."""
    assert prover.prove(asked(TRIP), given(background), CONFIG, date=DATE) is None


@pytest.mark.parametrize("reference", ["…", "?!", "\u200b"])
def test_reference_without_words_is_not_proven(
    reference: str, prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """A reference that cannot be searched for counts as found everywhere."""
    assert prover.prove(asked(TRIP, reference), given(background), CONFIG, date=DATE) is None


def test_unknown_subject_joins_every_passage(
    prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """Where no word of the subject is in the corpus, the answer alone is a doubt: it may be named otherwise."""
    question = asked("Wie heiß wird der Ofen?", "65 °C")
    assert prover.prove(question, given(background), CONFIG, date=DATE) is None


@pytest.mark.parametrize("kind", [QuestionKind.BENCHMARK, QuestionKind.HOLD_OUT, QuestionKind.TEMPORAL])
def test_kind_does_not_soften_the_search(
    kind: QuestionKind, prover: KnowledgeGap, given: Given, asked: Asked, background: Mapping[str, str]
) -> None:
    """Whatever the question's kind, the same search decides, so that the miss rate can be measured on known facts."""
    present = asked("How many seats does the reading room have?", "48", kind=kind)
    absent = asked(TRIP, "65 °C", kind=kind)
    assert prover.prove(present, given(background), CONFIG, date=DATE) is None
    assert prover.prove(absent, given(background), CONFIG, date=DATE) is not None


@pytest.mark.parametrize("form", [CorpusForm.LISTING, CorpusForm.NONE])
def test_without_documents_nothing_is_proven(form: CorpusForm, prover: KnowledgeGap, asked: Asked) -> None:
    """A corpus that the auditor does not hold proves nothing."""
    assert prover.prove(asked(TRIP, "65 °C"), Corpus(form, reason="elsewhere"), CONFIG, date=DATE) is None


def test_empty_corpus_proves_nothing(prover: KnowledgeGap, given: Given, asked: Asked) -> None:
    """No documents, no proof."""
    assert prover.prove(asked(TRIP, "65 °C"), given({}), CONFIG, date=DATE) is None


def test_failing_step_is_a_doubt(
    given: Given, asked: Asked, background: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in a search is not an "absent"; what failed is said."""
    from auditor_knowledge_gap import search

    def fail(*_: object) -> None:
        raise RuntimeError("no model")

    monkeypatch.setattr(search.EmbeddedIndex, "_embed", fail)
    prover = KnowledgeGap()
    examination = prover.examine(asked(TRIP, "65 °C"), given(background), CONFIG)
    assert any("RuntimeError: no model" in doubt for doubt in examination.doubts)
    assert prover.prove(asked(TRIP, "65 °C"), given(background), CONFIG, date=DATE) is None


def test_fewer_than_ten_passages_are_refused() -> None:
    """The search cannot be made narrower than the method says."""
    with pytest.raises(ValueError, match="passages"):
        KnowledgeGapConfig(passages=9)


def test_another_corpus_is_read_anew(given: Given, asked: Asked, background: Mapping[str, str]) -> None:
    """A prover that has read one corpus does not answer for another from memory."""
    prover, question = KnowledgeGap(), asked(TRIP, "65 °C")
    config = KnowledgeGapConfig(embedded=False)
    planted = given({**background, "planted.md": "The pump switches off at 65 °C."})
    assert prover.prove(question, given(background), config, date=DATE) is not None
    assert prover.prove(question, planted, config, date=DATE) is None
