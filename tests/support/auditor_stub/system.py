"""A system that does as its script says, in the process or through a loopback server that logs each request."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from auditor.corpus import Corpus
from auditor.errors import CallError, Fault, FaultReport
from auditor.model import TransportOutcome, Usage
from auditor.system import Chunk, EvidenceSupport, Reply, Request, Store, System, SystemTraits, Work
from auditor_stub.reach import dig

OUTCOMES = {
    "!empty": TransportOutcome.EMPTY,
    "!blocked": TransportOutcome.BLOCKED,
    "!truncated": TransportOutcome.TRUNCATED,
}
FAULTS = {
    "!transient": Fault.TRANSIENT,
    "!permanent": Fault.PERMANENT,
    "!auth": Fault.AUTHENTICATION,
    "!quota": Fault.QUOTA_EXHAUSTED,
    "!contract": Fault.CONTRACT,
}


class StubConfig(BaseModel):
    """``answers`` by question text, also in a file; ``url``: ask a server; ``leak``: answer with all it was told."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    answers: dict[str, str] = {}
    answers_file: Path | None = None
    default: str = "I do not know."
    url: str | None = None
    grounded: bool = True
    family: str | None = None
    house_phrase: str | None = None
    leak: bool = False
    delay_s: float = 0.0
    listing: str = "stub"
    broken_store: bool = False


class StubSystem(System):
    """``seen`` holds every request of this process."""

    config_model = StubConfig
    config: StubConfig
    seen: ClassVar[list[Request]] = []

    @property
    def traits(self) -> SystemTraits:
        return SystemTraits(
            grounded=self.config.grounded,
            evidence=EvidenceSupport.CHUNKS,
            family=self.config.family,
            house_phrases=(self.config.house_phrase,) if self.config.house_phrase else (),
        )

    def open(self, corpus: Corpus, work: Work) -> Store:
        dig(corpus, work, work.ports)
        if self.config.broken_store:
            raise CallError(FaultReport(Fault.PERMANENT, "the store says no"))
        listed = work.call("list", lambda: [document.name for document in corpus.documents])
        return Store(work.store_name, {"documents": listed, "listing": self.config.listing})

    def ask(self, store: Store, request: Request) -> Reply:
        StubSystem.seen.append(request)
        dig(store, request, request.wire())
        with request.wire():
            text = self._text(request)
        if text in FAULTS:
            raise CallError(FaultReport(FAULTS[text], f"the script says {text}"))
        if text == "!hang":
            threading.Event().wait()
        outcome = OUTCOMES.get(text, TransportOutcome.TEXT)
        return Reply(
            outcome,
            text if outcome is TransportOutcome.TEXT else "",
            chunks=(Chunk(f"a passage about {request.text}", "a.txt"),),
            usage=Usage(input_tokens=3, output_tokens=4),
            cost_usd=Decimal("0.001"),
            model="stub-1",
            sent={"text": request.text},
            raw=text.encode("utf-8", "surrogatepass"),
        )

    def _text(self, request: Request) -> str:
        if self.config.delay_s:
            time.sleep(self.config.delay_s)
        if self.config.leak:
            return repr(request) + repr(vars(type(request)))
        if self.config.answers_file is not None:
            filed: dict[str, str] = json.loads(self.config.answers_file.read_text(encoding="utf-8"))
            return filed.get(request.text, self.config.default)
        if self.config.url is None:
            return self.config.answers.get(request.text, self.config.default)
        body = json.dumps({"id": request.opaque_id, "attempt": request.attempt, "text": request.text}).encode()
        with urllib.request.urlopen(urllib.request.Request(self.config.url, data=body), timeout=30) as reply:  # noqa: S310 - loopback
            answer: str = json.load(reply)["answer"]
        return answer
