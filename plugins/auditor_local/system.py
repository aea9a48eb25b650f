"""``local-rag``: a whole RAG pipeline in this process — recursive chunks, retrieval, a reader, a policy.

Invariant: the same store and question give the same passages anywhere; with the extractive reader, which quotes the
corpus and knows nothing else, also the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from auditor.canonical import Json, canonical
from auditor.corpus import Corpus
from auditor.errors import CallError, Fault, FaultReport
from auditor.model import TransportOutcome
from auditor.system import Chunk, Citation, EvidenceSupport, Reply, Request, Store, System, SystemTraits, Work
from auditor_local.embedding import embedder_of
from auditor_local.index import Index, needs_words
from auditor_local.knowledge import find_again, fingerprint, passages_of, vectors_of
from auditor_local.model_reader import chat_port, cited, complete, reply_of
from auditor_local.policy import Policy, answers
from auditor_local.reader import Extractive, Measure, Passage, term_weights
from auditor_local.retrieval import Hit, Retrieval
from auditor_local.template import template

__all__ = ["LocalConfig", "LocalRag", "ReaderKind"]

_MAX_K = 100
_PORT = "reader"
_ABSTENTION = "I could not find this in the documents."


class ReaderKind(StrEnum):
    """Ways of reading, as a spec names them."""

    EXTRACTIVE = "extractive"
    MODEL = "model"


class LocalConfig(BaseModel):
    """Settings of one pipeline."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    policy: Policy = Field(description="answer_always, abstain_below a threshold of evidence, or cite_or_decline.")
    threshold: Annotated[Decimal, Field(ge=0, le=1)] | None = Field(
        default=None, description="Least evidence (0 to 1) for an answer; with policies that weigh evidence only."
    )
    reader: ReaderKind = Field(
        default=ReaderKind.EXTRACTIVE,
        description="extractive: quotes the best sentence; model: the chat model under models: {reader: NAME}.",
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

    @property
    def weighs_evidence(self) -> bool:
        """Whether the policy compares evidence with a threshold; a model that cites is held to its citations."""
        return self.policy is Policy.ABSTAIN_BELOW or (
            self.policy is Policy.CITE_OR_DECLINE and self.reader is ReaderKind.EXTRACTIVE
        )

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if (self.threshold is not None) != self.weighs_evidence:
            raise ValueError(
                "threshold goes with abstain_below, and with cite_or_decline of the extractive reader, and only there"
            )
        if self.overlap_characters >= self.chunk_characters:
            raise ValueError("overlap_characters must be less than chunk_characters")
        return self


@dataclass(frozen=True, slots=True)
class _Base:
    passages: tuple[Passage, ...]
    index: Index
    reader: Extractive


class LocalRag(System):
    """See the module. Condition tags that it follows: ``k`` and ``retrieval``. Ports: ``reader`` and ``embedder``."""

    config_model = LocalConfig
    config: LocalConfig

    @property
    def traits(self) -> SystemTraits:
        """A grounded system that reports the passages it read. Only a model has a memory of its own."""
        model = self.config.reader is ReaderKind.MODEL
        return SystemTraits(
            grounded=True,
            evidence=EvidenceSupport.CHUNKS,
            reports_usage=model,
            takes_system_prompt=model,
            takes_temperature=model,
            takes_output_cap=model,
            memory=model,
        )

    @property
    def inputs(self) -> Mapping[str, str]:
        """The digest of the template that the model is told by."""
        return {"template": template(self._template).digest} if self.config.reader is ReaderKind.MODEL else {}

    @property
    def _template(self) -> str:
        return "cite" if self.config.policy is Policy.CITE_OR_DECLINE else "read"

    def open(self, corpus: Corpus, work: Work) -> Store:
        """Index the corpus and find three of its sentences again."""
        config = self.config
        if config.reader is ReaderKind.MODEL:
            chat_port(work.ports, _PORT)
        passages = passages_of(corpus, size=config.chunk_characters, overlap=config.overlap_characters)
        if not passages:
            raise _refusal("there is no text to answer from")
        index = Index.over([p.text for p in passages], config.retrieval, partial(vectors_of, passages, work))
        embed = embedder_of(work.ports)
        way = config.retrieval
        found = find_again(
            passages, lambda query, k: index.retrieve(way, query, k, embed), by_sentence=needs_words(way)
        )
        made = fingerprint(passages)
        observed: Mapping[str, Json] = {
            "documents": len(corpus.documents),
            "passages": len(passages),
            "probes_found": found,
            "index": made,
            "vectors": index.vectors_digest,
        }
        return Store(
            f"local-{made[-16:]}", observed, _Base(passages, index, Extractive(term_weights(passages), len(passages)))
        )

    def ask(self, store: Store, request: Request) -> Reply:
        """Retrieve, read, and answer or decline as the policy says."""
        base: _Base = store.handle
        way, k = self._settings(request.settings)
        if not base.index.serves(way):
            raise _refusal(f"the store was opened for retrieval {self.config.retrieval}, not {way}")
        read = self._generated if self.config.reader is ReaderKind.MODEL else self._quoted
        with request.wire():
            hits = base.index.retrieve(way, request.text, k, embedder_of(request.ports))
            reply = read(request, base, [base.passages[hit.passage] for hit in hits])
        settings = {"retrieval": way.value, "k": k, "policy": self.config.policy.value}
        return replace(reply, chunks=_chunks(base, hits), sent={**reply.sent, **settings})

    def _settings(self, tags: Mapping[str, str]) -> tuple[Retrieval, int]:
        try:
            retrieval = Retrieval(tags.get("retrieval", self.config.retrieval))
            k = int(tags.get("k", self.config.k))
        except ValueError as error:
            raise _refusal(f"condition tag: {error}") from error
        if not 1 <= k <= _MAX_K:
            raise _refusal(f"condition tag: k {k} is not in 1 to {_MAX_K}")
        return retrieval, k

    def _quoted(self, request: Request, base: _Base, passages: Sequence[Passage]) -> Reply:
        """The extractive reader's best unit, where the policy lets it out."""
        strict = self.config.policy is Policy.CITE_OR_DECLINE
        reading = base.reader.read(request.text, passages, Measure.SUPPORT if strict else Measure.COVERAGE)
        evidence = Decimal(0) if reading is None else reading.evidence
        answered = answers(self.config.policy, evidence, self.config.threshold)
        text = self.config.abstention if not answered else "" if reading is None else reading.text
        return Reply(
            outcome=TransportOutcome.TEXT if text else TransportOutcome.EMPTY,
            text=text,
            citations=(Citation(reading.document, reading.quote),) if answered and reading is not None else (),
            raw=canonical({"answer": text, "evidence": format(evidence, "f"), "answered": answered}),
        )

    def _generated(self, request: Request, base: _Base, passages: Sequence[Passage]) -> Reply:
        """What the model says; or the abstention, below the threshold of evidence or where it cites no passage."""
        if self.config.weighs_evidence:
            reading = base.reader.read(request.text, passages)
            evidence = Decimal(0) if reading is None else reading.evidence
            if not answers(self.config.policy, evidence, self.config.threshold):
                return Reply(TransportOutcome.TEXT, self.config.abstention, citations=())
        completion = complete(
            chat_port(request.ports, _PORT),
            self._template,
            prompt=request.prompt,
            question=request.text,
            passages=passages,
            limits=request.limits,
        )
        reply = reply_of(completion)
        if self.config.policy is not Policy.CITE_OR_DECLINE:
            return reply
        citations = cited(reply.text, passages)
        declines = reply.outcome is TransportOutcome.TEXT and not citations
        return replace(reply, text=self.config.abstention if declines else reply.text, citations=citations)


def _chunks(base: _Base, hits: Sequence[Hit]) -> tuple[Chunk, ...]:
    found = [(base.passages[hit.passage], hit.score) for hit in hits]
    return tuple(Chunk(passage.text, passage.document, score) for passage, score in found)


def _refusal(message: str) -> CallError:
    return CallError(FaultReport(Fault.PERMANENT, message))
