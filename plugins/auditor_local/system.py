"""``local-rag``: a whole RAG pipeline in this process — recursive chunks, retrieval, an extractive reader, a policy.

Invariant: it quotes the corpus and knows nothing else; the same store and question give the same answer anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from auditor.canonical import Json, canonical
from auditor.corpus import Corpus
from auditor.errors import CallError, Fault, FaultReport
from auditor.model import TransportOutcome
from auditor.system import Chunk, Citation, EvidenceSupport, Reply, Request, Store, System, SystemTraits, Work
from auditor_local.knowledge import find_again, fingerprint, passages_of
from auditor_local.policy import Policy, answers
from auditor_local.reader import Extractive, Passage, Reader, Reading, term_weights
from auditor_local.retrieval import RETRIEVERS, Hit, Retrieval, Retriever

__all__ = ["LocalConfig", "LocalRag"]

_MAX_K = 100
_ABSTENTION = "I could not find this in the documents."


class LocalConfig(BaseModel):
    """Settings of one pipeline."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    policy: Policy = Field(description="answer_always, or abstain_below a threshold of evidence.")
    threshold: Annotated[Decimal, Field(ge=0, le=1)] | None = Field(
        default=None, description="Least evidence (0 to 1) for an answer; with abstain_below only."
    )
    retrieval: Retrieval = Field(default=Retrieval.BM25, description="How passages are found.")
    k: Annotated[int, Field(ge=1, le=_MAX_K)] = Field(default=5, description="Passages read for one question.")
    chunk_characters: Annotated[int, Field(ge=50)] = Field(
        default=1500, description="Longest passage, without its title."
    )
    overlap_characters: Annotated[int, Field(ge=0)] = Field(
        default=250, description="What a passage repeats of the last."
    )
    abstention: Annotated[str, Field(min_length=1)] = Field(
        default=_ABSTENTION, description="The sentence that declines."
    )

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if (self.threshold is None) == (self.policy is Policy.ABSTAIN_BELOW):
            raise ValueError("threshold goes with policy abstain_below, and only with it")
        if self.overlap_characters >= self.chunk_characters:
            raise ValueError("overlap_characters must be less than chunk_characters")
        return self


@dataclass(frozen=True, slots=True)
class _Base:
    passages: tuple[Passage, ...]
    retrievers: Mapping[Retrieval, Retriever]
    reader: Reader


class LocalRag(System):
    """See the module. Condition tags that it follows: ``k`` and ``retrieval``."""

    config_model = LocalConfig
    config: LocalConfig

    @property
    def traits(self) -> SystemTraits:
        """A grounded system without a memory of its own, that reports the passages it read."""
        return SystemTraits(grounded=True, evidence=EvidenceSupport.CHUNKS, takes_system_prompt=False, memory=False)

    def open(self, corpus: Corpus, work: Work) -> Store:
        """Index the corpus in memory and find three of its sentences again."""
        passages = passages_of(corpus, size=self.config.chunk_characters, overlap=self.config.overlap_characters)
        if not passages:
            raise _refusal("there is no text to answer from")
        retriever = RETRIEVERS[self.config.retrieval]([passage.text for passage in passages])
        found = find_again(passages, retriever)
        reader = Extractive(term_weights(passages), len(passages))
        index = fingerprint(passages)
        observed: Mapping[str, Json] = {
            "documents": len(corpus.documents),
            "passages": len(passages),
            "probes_found": found,
            "index": index,
        }
        return Store(f"local-{index[-16:]}", observed, _Base(passages, {self.config.retrieval: retriever}, reader))

    def ask(self, store: Store, request: Request) -> Reply:
        """Retrieve, read, and answer or decline as the policy says."""
        base: _Base = store.handle
        retrieval, k = self._settings(request.settings)
        if retrieval not in base.retrievers:
            raise _refusal(f"the store was opened for retrieval {self.config.retrieval}, not {retrieval}")
        with request.wire():
            hits = base.retrievers[retrieval].retrieve(request.text, k)
            reading = base.reader.read(request.text, [base.passages[hit.passage] for hit in hits])
        return self._reply(
            base, hits, reading, {"retrieval": retrieval.value, "k": k, "policy": self.config.policy.value}
        )

    def _settings(self, tags: Mapping[str, str]) -> tuple[Retrieval, int]:
        try:
            retrieval = Retrieval(tags.get("retrieval", self.config.retrieval))
            k = int(tags.get("k", self.config.k))
        except ValueError as error:
            raise _refusal(f"condition tag: {error}") from error
        if not 1 <= k <= _MAX_K:
            raise _refusal(f"condition tag: k {k} is not in 1 to {_MAX_K}")
        return retrieval, k

    def _reply(self, base: _Base, hits: list[Hit], reading: Reading | None, sent: Mapping[str, Json]) -> Reply:
        chunks = tuple(
            Chunk(base.passages[hit.passage].text, base.passages[hit.passage].document, hit.score) for hit in hits
        )
        evidence = Decimal(0) if reading is None else reading.evidence
        answered = answers(self.config.policy, evidence, self.config.threshold)
        text = self.config.abstention if not answered else "" if reading is None else reading.text
        cited = (Citation(reading.document, reading.quote),) if answered and reading is not None else ()
        return Reply(
            outcome=TransportOutcome.TEXT if text else TransportOutcome.EMPTY,
            text=text,
            chunks=chunks,
            citations=cited,
            sent=sent,
            raw=canonical({"answer": text, "evidence": format(evidence, "f"), "answered": answered}),
        )


def _refusal(message: str) -> CallError:
    return CallError(FaultReport(Fault.PERMANENT, message))
