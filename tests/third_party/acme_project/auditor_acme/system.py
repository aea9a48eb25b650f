"""Acme search: answers with the line of the documents that shares most words with the question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from auditor.corpus import Corpus
from auditor.model import TransportOutcome
from auditor.system import Chunk, EvidenceSupport, Reply, Request, Store, System, SystemTraits, Work

_WORD = re.compile(r"\w+")


class AcmeConfig(BaseModel):
    """``at_least``: how many words a line must share; otherwise the system declines."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at_least: int = 1


@dataclass(frozen=True, slots=True)
class _Line:
    document: str
    text: str
    words: frozenset[str]


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


class AcmeSearch(System):
    """Keeps nothing of a call: the lines are read once, by ``open``."""

    config_model = AcmeConfig

    @property
    def traits(self) -> SystemTraits:
        """Grounded, with chunks, without a memory of its own."""
        return SystemTraits(grounded=True, evidence=EvidenceSupport.CHUNKS, memory=False, takes_system_prompt=False)

    def open(self, corpus: Corpus, work: Work) -> Store:
        """All lines of all documents."""
        lines = [
            _Line(document.name, line.strip(), _words(line))
            for document in corpus.documents
            for line in document.text().text.splitlines()
            if line.strip()
        ]
        return Store(work.store_name, {"documents": len(corpus.documents)}, lines)

    def ask(self, store: Store, request: Request) -> Reply:
        """The best line, or a plain refusal."""
        wanted = _words(request.text)
        with request.wire():
            best = max(store.handle, key=lambda line: len(line.words & wanted), default=None)
        if best is None or len(best.words & wanted) < self.config.at_least:
            return Reply(TransportOutcome.TEXT, "I do not know.", chunks=(), sent={"text": request.text})
        chunk = Chunk(best.text, best.document)
        return Reply(TransportOutcome.TEXT, best.text, chunks=(chunk,), sent={"text": request.text})
