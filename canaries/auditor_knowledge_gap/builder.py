"""The prover: that the answer of a question is absent from a corpus (METHODS §3, the part that needs no model).

Invariant: a proof is returned only when every step ran over the whole corpus and none of them raised a doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from auditor.canonical import Json
from auditor.corpus import Corpus, CorpusForm
from auditor.question import Proof, ProofGrade, Question, QuestionKind
from auditor.source import CanaryBuilder
from auditor_knowledge_gap.answer import answer_of
from auditor_knowledge_gap.reading import Reading, read
from auditor_knowledge_gap.search import EmbeddedIndex, LexicalIndex
from auditor_knowledge_gap.steps import Record, Target, coverage_step, entity_step, lexical_step, search_steps
from auditor_knowledge_gap.subject import document_frequencies, subject_of

__all__ = ["Examination", "KnowledgeGap", "KnowledgeGapConfig"]

PROVER = "knowledge-gap 1"


class KnowledgeGapConfig(BaseModel):
    """How far to search."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    passages: int = Field(default=10, ge=10, description="Passages that each search looks at (METHODS §3: ten).")
    embedded: bool = Field(default=True, description="Also search by vectors; if not, proofs are of grade lexical.")


@dataclass(frozen=True, slots=True)
class Examination:
    """What the steps found. ``doubts``: why absence is not proven; empty when it is.

    ``steps`` hold counts, no texts; doubts name documents.
    """

    grade: ProofGrade
    doubts: tuple[str, ...]
    steps: tuple[Mapping[str, Json], ...]


@dataclass(frozen=True, slots=True)
class _Index:
    """What is made once for a corpus."""

    digest: str
    reading: Reading
    frequencies: Mapping[str, int]
    lexical: LexicalIndex
    embedded: EmbeddedIndex


class KnowledgeGap(CanaryBuilder):
    """Proves fictitious questions by their ``entity:`` names, all others by their answers.

    An instance keeps what it read of the last corpus, for the next question.
    """

    config_model: ClassVar[type[BaseModel]] = KnowledgeGapConfig

    def __init__(self) -> None:
        self._index: _Index | None = None

    def prove(self, question: Question, corpus: Corpus, config: KnowledgeGapConfig, *, date: str) -> Proof | None:
        """The proof, or None when there is one doubt; see ``auditor.source.CanaryBuilder``."""
        found = self.examine(question, corpus, config)
        return None if found.doubts else Proof(found.grade, corpus.digest, date, PROVER, found.steps)

    def doubts(self, question: Question, corpus: Corpus, config: KnowledgeGapConfig) -> Sequence[str]:
        """Why there is no proof; see ``auditor.source.CanaryBuilder``."""
        return self.examine(question, corpus, config).doubts

    def examine(self, question: Question, corpus: Corpus, config: KnowledgeGapConfig) -> Examination:
        """Grade, doubts and steps. Raises nothing: a step that fails is a doubt, since it did not say "absent"."""
        record = Record()
        grade = ProofGrade.CLAIMED
        try:
            grade = self._run(question, corpus, config, record)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, absence was not shown
            record.doubts.append(f"a step failed: {type(error).__name__}: {error}")
        return Examination(grade, tuple(record.doubts), tuple(record.steps))

    def _run(self, question: Question, corpus: Corpus, config: KnowledgeGapConfig, record: Record) -> ProofGrade:
        """Run the steps; the grade is what they reach when none of them doubts."""
        if corpus.form is not CorpusForm.GIVEN:
            record.doubts.append(f"the corpus is {corpus.form}: its documents cannot be read")
            return ProofGrade.CLAIMED
        index = self._indexed(corpus)
        coverage_step(index.reading, record)
        if question.kind is QuestionKind.FICTITIOUS:
            entity_step(question, index.reading, record)
            return ProofGrade.LEXICAL
        passages = index.reading.passages
        target = Target(
            "\n".join(form.text for form in question.forms),
            answer_of(question),
            subject_of(question, passages, index.frequencies),
        )
        if not target.answer.forms:
            record.doubts.append("the question has no reference, so there is nothing to search for")
            return ProofGrade.CLAIMED
        lexical_step(target, passages, record)
        search_steps("retrieval", index.lexical.nearest, target, passages, config.passages, record)
        if not config.embedded:
            return ProofGrade.LEXICAL
        search_steps("embedded", index.embedded.nearest, target, passages, config.passages, record)
        return ProofGrade.EMBEDDED

    def _indexed(self, corpus: Corpus) -> _Index:
        digest = corpus.digest
        if self._index is None or self._index.digest != digest:
            reading = read(corpus)
            passages = reading.passages
            frequencies = document_frequencies(passages)
            self._index = _Index(digest, reading, frequencies, LexicalIndex(passages), EmbeddedIndex(passages))
        return self._index
