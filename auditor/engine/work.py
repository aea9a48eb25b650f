"""What a system's ``open`` and ``close`` work with: steps that are tasks of the engine and survive a kill.

Invariant: a step whose result is in the ledger under the same input is never made again, whatever its result is; 0, an
empty list and null are results like any other.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from auditor.canonical import Json, check, keyed_digest
from auditor.engine.call import Call
from auditor.engine.engine import Engine
from auditor.engine.nested import recall
from auditor.engine.port import Nesting, PortEmbedder, PortModel, build_ports
from auditor.engine.task import Encoded, Readable, Stored, Task
from auditor.errors import CallError, Fault, FaultReport, LedgerError
from auditor.ledger import commitment, text_entry
from auditor.system import Ports

__all__ = ["StoreWork"]

T = TypeVar("T")

_FIRST_WAIT_S, _WAIT_GROWTH, _MAX_WAIT_S = 1.0, 1.5, 15.0


@dataclass(frozen=True, slots=True)
class _Step:
    """One step or one try of a poll. ``done``: a poll that got no answer yet is not."""

    name: str
    result: Json
    done: bool
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class StoreWork:
    """``auditor.system.Work`` over the engine, for one system and corpus variant.

    ``key`` is ``open/<system ordinal>.<variant ordinal>``; ``input`` is the digest of all that the store depends on;
    ``run_key`` keys the digests by which steps are named, since a plugin's step key may be a document's name.
    """

    engine: Engine
    ledger: Readable
    key: str
    endpoint: str
    input: str
    run_key: bytes
    store_name: str
    cache: Path
    classify: Callable[[BaseException], FaultReport]
    models: Mapping[str, PortModel]
    embedders: Mapping[str, PortEmbedder]
    _ordinals: dict[str, Iterator[int]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def earlier(self) -> Mapping[str, Json]:
        """Results of the steps of this store that are in the ledger under the same input, by the plugin's key."""
        found: dict[str, Json] = {}
        for row in self.ledger.rows("outcome"):
            body = row.body or {}
            if not row.key.startswith(f"{self.key}/") or not body.get("is_step"):
                continue
            step = _decode(Stored(row.key, body, self.ledger))
            if step.done and body.get("input") == self._input(step.name):
                found[step.name] = step.result
        return found

    @property
    def ports(self) -> Ports:
        """Models and embedders; within a step their calls are nested in it, outside they are tasks of their own."""
        return self.ports_through(self.nesting)

    def nesting(self) -> Nesting:
        """How a port makes a call at the moment."""
        current = self.engine.current_call()
        return self._call_port if current is None else current.subtask

    def ports_through(self, nesting: Callable[[], Nesting]) -> Ports:
        """The ports, which hold ``nesting`` and nothing else of this work."""
        return build_ports(nesting, self.models, self.embedders)

    def call(self, key: str, fn: Callable[[], Json]) -> Json:
        """Run one step as a task (slot, rate, retries, ledger); an earlier result is returned as it stands.

        Raises ``CallError`` when the step fails for good.
        """
        return self._step(key, f"{self.key}/{self._name(key)}", lambda: (fn(), True)).result

    def poll(self, key: str, fn: Callable[[], Json], *, deadline_s: float) -> Json:
        """Run ``fn`` until it returns other than None, with growing waits on the engine's clock and no slot held.

        Each try is a task. Past the deadline raises ``CallError`` with the fault ``timeout``, which says how often it
        was tried.
        """

        def once() -> tuple[Json, bool]:
            answer = fn()
            return answer, answer is not None

        clock, base = self.engine.clock, f"{self.key}/{self._name(key)}"
        until_s, wait_s, tries = clock.monotonic() + deadline_s, _FIRST_WAIT_S, 0
        while True:
            tries += 1
            step = self._step(key, f"{base}.{tries}", once)
            if step.done:
                return step.result
            if step.replayed:
                continue
            left_s = until_s - clock.monotonic()
            if left_s <= 0:
                message = f"not ready after {deadline_s:g} s and {tries} tries"
                raise CallError(FaultReport(Fault.TIMEOUT, message), provider=self.endpoint)
            self.engine.sleep(min(wait_s, left_s))
            wait_s = min(wait_s * _WAIT_GROWTH, _MAX_WAIT_S)

    def _step(self, name: str, key: str, fn: Callable[[], tuple[Json, bool]]) -> _Step:
        history, stored = recall(self.ledger, key)
        if stored is not None and "fault" not in stored.body and stored.body.get("input") == self._input(name):
            return replace(_decode(stored), replayed=True)

        def run(call: Call) -> _Step:
            result, done = fn()
            return _Step(name, result, done)

        # Opening anew is asking anew: attempts of earlier processes do not count against the limit.
        history = replace(history, spent=1 if history.open_intent else 0)
        return self._made(Task(key, self.endpoint, self._input(name), run, _encode, self.classify, history=history))

    def _call_port(
        self,
        endpoint: str,
        port: str,
        input: str,
        run: Callable[[Call], T],
        encode: Callable[[T, str], Encoded],
        classify: Callable[[BaseException], FaultReport],
        decode: Callable[[Stored], T],
        *,
        cost_usd: Callable[[T], Decimal | None],
    ) -> T:
        """``Call.subtask`` for a port that is used outside of a step."""
        key = f"{self.key}/{port}/{next(self._ordinals.setdefault(port, itertools.count()))}"
        history, stored = recall(self.ledger, key)
        if stored is not None and "fault" not in stored.body and stored.body.get("input") == input:
            return decode(stored)
        history = replace(history, spent=1 if history.open_intent else 0)
        return self._made(Task(key, endpoint, input, run, encode, classify, history=history, cost_usd=cost_usd))

    def _made(self, task: Task[T]) -> T:
        """A result is handed back when it is on the disk: what rests on it must not outlive it."""
        value = self.engine.call(task)
        self.engine.flush()
        return value

    def _name(self, step: str) -> str:
        return keyed_digest(self.run_key, ["step", step])

    def _input(self, step: str) -> str:
        return keyed_digest(self.run_key, ["step", self.input, step])


def _encode(step: _Step, key: str) -> Encoded:
    check(step.result)
    # Escaped, so that a name which UTF-8 cannot carry is read back as it was.
    text = text_entry(f"{key}/step", json.dumps({"step": step.name, "result": step.result}, ensure_ascii=True))
    return Encoded((text,), {"texts": {"step": commitment(text)}, "done": step.done, "is_step": True})


def _decode(stored: Stored) -> _Step:
    row = stored.entry("step")
    if row is None or row.text is None:
        raise LedgerError(f"{stored.key}: the result of this step is withheld, so it cannot be gone on from")
    said = json.loads(row.text)
    return _Step(said["step"], said["result"], bool(stored.body["done"]))
