"""Proving canaries: that the answers of a spec's canaries are in none of its documents, kept beside the questions.

Invariant: what is not proven keeps no proof, also not one that was made before its question changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from auditor.corpus import CorpusForm
from auditor.errors import CorpusError
from auditor.freeze import read_corpus, read_questions
from auditor.question import CANARY_KINDS, Proof, ProofGrade, Question

if TYPE_CHECKING:
    from auditor.corpus import Corpus
    from auditor.plugins import Plugins
    from auditor.source import CanaryBuilder
    from auditor.spec import LoadedSpec

__all__ = ["Attempt", "prove", "prove_spec"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of one canary. ``doubts``: why there is no proof."""

    question: Question
    proof: Proof | None
    doubts: tuple[str, ...] = ()


def prove(
    questions: Iterable[Question], corpus: Corpus, builder: CanaryBuilder, config: Any, *, date: str
) -> list[Attempt]:
    """Try the canaries among ``questions`` that are asked over ``corpus`` and not only claimed. ``date``: ISO 8601."""
    tried = []
    for question in questions:
        if question.kind in CANARY_KINDS and corpus.variant in question.variants and not _claimed(question, corpus):
            proof = builder.prove(question, corpus, config, date=date)
            doubts = () if proof else tuple(builder.doubts(question, corpus, config))
            tried.append(Attempt(question, proof, doubts))
    return tried


def _claimed(question: Question, corpus: Corpus) -> bool:
    proof = question.proofs.get(corpus.variant)
    return proof is not None and proof.grade is ProofGrade.CLAIMED


def prove_spec(loaded: LoadedSpec, plugins: Plugins, builder: str, *, date: str) -> Sequence[Attempt]:
    """Prove all canaries of a spec and write the proofs to where its questions are.

    Raises ``ConfigurationError`` or ``PluginError``; then nothing is written of the source that it names.
    """
    corpus = read_corpus(loaded, plugins)
    if corpus.form is not CorpusForm.GIVEN:
        raise CorpusError("no documents are at hand, so nothing can be proven", file=loaded.document.file)
    kind = plugins.canary_builder(builder)
    prover, config = kind(), kind.config_model()
    every: list[Attempt] = []
    for number, block in enumerate(loaded.spec.questions):
        tried = prove(read_questions(loaded, plugins, number), corpus, prover, config, date=date)
        if tried:
            source = plugins.question_source(block.source)()
            settings = loaded.parse_config(source.config_model, block.config, ("questions", number))
            proofs = {attempt.question.id: attempt.proof for attempt in tried}
            source.keep_proofs(settings, loaded.base, corpus.variant, proofs)
        every += tried
    return every
