"""Test doubles that keep the real contracts: an echo system, an echo judge, a chat model with scripted replies.

Invariant: nothing here is random or depends on time; what a double returns follows from what it is given.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

from auditor.canonical import Json
from auditor.corpus import Corpus
from auditor.errors import CallError, Fault, FaultReport
from auditor.label import Labeller, LabelRequest
from auditor.model import ChatModel, Completion, Limits, Message, ModelTraits, TransportOutcome, Usage, Wire
from auditor.system import Chunk, EvidenceSupport, Ports, Reply, Request, Store, System, SystemTraits, Work

__all__ = ["EchoJudge", "EchoSystem", "ScriptedChatModel", "ScriptedWork", "SpySystem", "no_wire"]


def no_wire() -> AbstractContextManager[None]:
    """A wire that measures nothing."""
    return nullcontext()


class ScriptedWork:
    """``auditor.system.Work`` without an engine: each step is run once, at once; ``ran`` lists their keys.

    ``polls``: how often ``poll`` asks before it gives up, in place of a deadline.
    """

    def __init__(
        self,
        folder: Path,
        *,
        earlier: Mapping[str, Json] | None = None,
        ports: Ports | None = None,
        store_name: str = "auditor-test-store",
        polls: int = 5,
    ) -> None:
        self.store_name, self.cache, self.ports = store_name, folder, ports or Ports()
        self.earlier: Mapping[str, Json] = dict(earlier or {})
        self.results: dict[str, Json] = dict(self.earlier)
        self.ran: list[str] = []
        self._polls = polls

    def call(self, key: str, fn: Callable[[], Json]) -> Json:
        """The earlier result, or that of ``fn``."""
        if key not in self.results:
            self.ran.append(key)
            self.results[key] = fn()
        return self.results[key]

    def poll(self, key: str, fn: Callable[[], Json], *, deadline_s: float) -> Json:
        """Ask ``fn`` a few times, without waiting in between."""
        if key in self.results:
            return self.results[key]
        for _ in range(self._polls):
            self.ran.append(key)
            answer = fn()
            if answer is not None:
                self.results[key] = answer
                return answer
        raise CallError(FaultReport(Fault.TIMEOUT, f"{key}: no end after {self._polls} polls"))


class EchoSystem(System):
    """Says the question back, with the question as its one chunk. Takes no configuration."""

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)

    @property
    def traits(self) -> SystemTraits:
        """Grounded, with chunks and usage."""
        return SystemTraits(grounded=True, evidence=EvidenceSupport.CHUNKS, reports_usage=True, memory=False)

    def open(self, corpus: Corpus, work: Work) -> Store:
        """A store that knows how many documents there were."""
        listed = work.call("list", lambda: [document.name for document in corpus.documents])
        return Store(work.store_name, {"documents": listed})

    def ask(self, store: Store, request: Request) -> Reply:
        """The question."""
        with request.wire():
            text = request.text
        words = max(1, len(text.split()))
        if not text.strip():
            return Reply(TransportOutcome.EMPTY, chunks=(), usage=Usage(input_tokens=words), sent={"text": text})
        usage = Usage(input_tokens=words, output_tokens=words)
        return Reply(TransportOutcome.TEXT, text, chunks=(Chunk(text, "echo"),), usage=usage, sent={"text": text})


class SpySystem(EchoSystem):
    """Keeps every request that it is given, to show what a system is told.

    ``seen`` is shared by all instances, since the core makes its own; clear it before use.
    """

    seen: ClassVar[list[Request]] = []
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def ask(self, store: Store, request: Request) -> Reply:
        """Remember, then echo."""
        with self._lock:
            self.seen.append(request)
        return super().ask(store, request)


class EchoJudge(Labeller):
    """Gives the label that ``value`` says, or that the candidate itself asks for (``LABEL=…``)."""

    def __init__(self, config: Any = None, *, field: str = "verdict", value: str = "correct") -> None:
        super().__init__(config)
        self._field, self._value = field, value

    @property
    def traits(self) -> ModelTraits:
        """An embedded judge of its own family."""
        return ModelTraits("embedded:echo")

    def label(self, request: LabelRequest, wire: Wire) -> Completion:
        """The label as a JSON object."""
        _, marked, asked = (request.input.candidate or "").partition("LABEL=")
        value = asked.split()[0] if marked and asked.split() else self._value
        with wire():
            return Completion(TransportOutcome.TEXT, json.dumps({self._field: value}))


class ScriptedChatModel(ChatModel):
    """Replies from a list, then repeats the last; an exception in the list is raised.

    ``asked`` holds the messages of each call, in the order in which the calls began.
    """

    def __init__(self, replies: Sequence[str | Completion | BaseException], *, family: str = "scripted") -> None:
        if not replies:
            raise ValueError("a script needs at least one reply")
        self._replies, self._family, self._lock = tuple(replies), family, threading.Lock()
        self.asked: list[tuple[Message, ...]] = []

    @property
    def traits(self) -> ModelTraits:
        """The family it was given."""
        return ModelTraits(self._family)

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Json] | None, limits: Limits, wire: Wire
    ) -> Completion:
        """The next reply of the script."""
        with self._lock:
            reply = self._replies[min(len(self.asked), len(self._replies) - 1)]
            self.asked.append(tuple(messages))
        with wire():
            if isinstance(reply, BaseException):
                raise reply
            if isinstance(reply, Completion):
                return reply
            outcome = TransportOutcome.TEXT if reply.strip() else TransportOutcome.EMPTY
            return Completion(outcome, reply, model=f"{self._family}-1")

    def classify(self, error: BaseException) -> FaultReport:
        """Scripted errors are the engine's own or unknown."""
        return error.report if isinstance(error, CallError) else super().classify(error)
