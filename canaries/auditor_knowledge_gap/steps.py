"""The steps of a proof, each of which searches the whole corpus and records what it did in counts.

Invariant: a step records itself whether or not it raises a doubt, and no step holds a text of the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from auditor.canonical import Json, decimal_text
from auditor.normalize import contains
from auditor.question import Question
from auditor_knowledge_gap.answer import Answer
from auditor_knowledge_gap.entity import ENTITY_TAG, edit_limit, nearest
from auditor_knowledge_gap.reading import Passage, Reading
from auditor_knowledge_gap.search import Found
from auditor_knowledge_gap.subject import Subject

__all__ = ["Record", "Target", "coverage_step", "entity_step", "lexical_step", "search_steps"]

# How much of the subject, by weight, a passage must hold to be joined with the answer. A passage that only comes near
# to the answer is doubted as well when it lies among the nearest of a search.
_JOINED_SHARE = 0.4
_NEAR_SHARE = 0.5
_PLACES = 2


@dataclass(slots=True)
class Record:
    """Steps in their order, and every doubt that they raised."""

    steps: list[Mapping[str, Json]] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def add(self, step: str, doubts: Sequence[str], **facts: Json) -> None:
        """One step with the doubts it raised."""
        self.steps.append({"step": step, **facts, "doubts": len(doubts)})
        self.doubts.extend(doubts)


@dataclass(frozen=True, slots=True)
class Target:
    """What is searched for: ``question`` is the text of all its forms."""

    question: str
    answer: Answer
    subject: Subject

    @property
    def queries(self) -> tuple[tuple[str, str], ...]:
        """The three searches of METHODS §3."""
        both = f"{self.question}\n{self.answer.text}"
        return ("question", self.question), ("answer", self.answer.text), ("both", both)


def coverage_step(reading: Reading, record: Record) -> None:
    """Every document could be read."""
    doubts = [f"{document.document} is not readable: {document.reason}" for document in reading.unreadable]
    if not reading.passages:
        doubts.append("the corpus has no passage")
    record.add(
        "coverage",
        doubts,
        documents=reading.documents,
        unreadable=len(reading.unreadable),
        passages=len(reading.passages),
    )


def entity_step(question: Question, reading: Reading, record: Record) -> None:
    """Neither a made-up name nor a near-spelling of it stands anywhere, names of documents included."""
    names = [tag.removeprefix(ENTITY_TAG) for tag in question.tags if tag.startswith(ENTITY_TAG)]
    if not names:
        record.add("entity", [f"no tag {ENTITY_TAG}NAME says which name exists nowhere"])
    for name in names:
        doubts = []
        if not all(contains(form.text, name) for form in question.forms):
            doubts.append(f"{name!r} does not stand in the question")
        limit = edit_limit(name)
        if limit is None:
            record.add("entity", [*doubts, f"{name!r} is too short to be told from other words"])
            continue
        search = nearest(name, reading.passages)
        if search.found:
            doubts.append(f"{name!r} or a near-spelling stands in the corpus, {search.distance} edits away")
        record.add("entity", doubts, sequences=search.sequences, edit_limit=limit)


def lexical_step(target: Target, passages: Sequence[Passage], record: Record) -> None:
    """No passage of the whole corpus joins the answer, in any format, with the subject."""
    stating = [passage for passage in passages if target.answer.stated(passage)]
    joined = [p for p in stating if target.answer.distinctive_in(p) or target.subject.joins(p, _JOINED_SHARE)]
    record.add(
        "lexical",
        [f"{passage.document} states the answer beside its subject" for passage in joined[:1]],
        wordings=len(target.answer.forms),
        subject_words=len(target.subject.weights),
        subject_names=len(target.subject.names),
        passages=len(passages),
        passages_with_answer=len(stating),
        passages_with_both=len(joined),
    )


def search_steps(
    step: str,
    search: Callable[[str, int], Found],
    target: Target,
    passages: Sequence[Passage],
    count: int,
    record: Record,
) -> None:
    """None of the ``count`` passages nearest to question, answer and both comes near to the answer of the subject."""
    for query, text in target.queries:
        found = search(text, count)
        near = [passages[position] for position in found.positions if _is_near(target, passages[position])]
        record.add(
            step,
            [f"{p.document} comes near to the answer, found by {step} search for {_SOUGHT[query]}" for p in near[:1]],
            query=query,
            passages=len(found.positions),
            best_score=decimal_text(round(found.best, _PLACES)),
            near=len(near),
        )


_SOUGHT = {"question": "the question", "answer": "the answer", "both": "question and answer"}


def _is_near(target: Target, passage: Passage) -> bool:
    return target.answer.hinted(passage) and target.subject.coverage(passage) >= _NEAR_SHARE
