"""A ledger on the disk, engines that are shut down after the test, and tasks whose calls are plain functions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from auditor.engine import Call, Clock, Encoded, Endpoint, EndpointLimits, Engine, FakeClock, History, Task
from auditor.errors import CallError, Fault, FaultReport
from auditor.ledger import Ledger, commitment, text_entry


class StubError(Exception):
    """An error of the stub vendor that carries its report."""

    def __init__(self, fault: Fault, message: str = "stub", **headers: str) -> None:
        super().__init__(message)
        self.report = FaultReport(fault, message, **headers)


def encode(value: Any, key: str) -> Encoded:
    """One text, and the outcome ``text``."""
    text = text_entry(f"{key}/answer", str(value))
    return Encoded((text,), {"outcome": "text", "texts": {"answer": commitment(text)}})


def classify(error: BaseException) -> FaultReport:
    """The report that the stub's error carries."""
    if isinstance(error, (StubError, CallError)):
        return error.report
    return FaultReport(Fault.INTERNAL, f"{type(error).__name__}: {error}")


@dataclass
class Bench:
    """Makes engines and tasks over one ledger, and keeps count of what is on the wire."""

    ledger: Ledger
    engines: list[Engine] = field(default_factory=list)
    on_wire: int = 0
    peak: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def engine(self, clock: Clock | None = None, **limits: Any) -> Engine:
        """An engine with the endpoints ``a`` and ``b`` under equal limits, ``b`` under its own where ``slots_b`` or
        ``deadline_b_s`` say so; names of the constructor go to it.
        """
        own_b = {name.replace("_b", "", 1): limits.pop(name) for name in ("slots_b", "deadline_b_s") if name in limits}
        options = {
            name: limits.pop(name)
            for name in ("budget", "observe", "run_deadline_s", "probe", "redact", "ledger")
            if name in limits
        }
        ledger = options.pop("ledger", self.ledger)
        endpoints = {
            "a": Endpoint("a", EndpointLimits(**limits)),
            "b": Endpoint("b", EndpointLimits(**(limits | own_b))),
        }
        engine = Engine(ledger, endpoints, clock=clock, seed=7, **options)
        if isinstance(clock, FakeClock):
            clock.busy = lambda: engine.busy
        self.engines.append(engine)
        return engine

    def task(
        self, number: int, run: Callable[[Call], Any], endpoint: str = "a", history: History | None = None, **more: Any
    ) -> Task[Any]:
        """One ask."""
        more = {"encode": encode, "classify": classify, "input": f"{number:032x}", **more}
        return Task(key=key(number), endpoint=endpoint, run=run, history=history or History(), **more)

    def counted(self, inner: Callable[[Call], Any]) -> Callable[[Call], Any]:
        """``inner``, with the number of such calls at a time kept in ``peak``."""

        def run(call: Call) -> Any:
            with self.lock:
                self.on_wire += 1
                self.peak = max(self.peak, self.on_wire)
            try:
                return inner(call)
            finally:
                with self.lock:
                    self.on_wire -= 1

        return run

    def body(self, kind: str, key: str) -> dict[str, Any]:
        """The body of an entry that has to be there."""
        row = self.ledger.get(kind, key)
        assert row is not None and row.body is not None, f"no {kind} {key}"
        return dict(row.body)

    def keys(self, kind: str) -> list[str]:
        """Keys of all entries of one kind, in order."""
        return [row.key for row in self.ledger.rows(kind)]


def key(number: int) -> str:
    """The key of the ask of one question."""
    return f"ask/0.0.{number}.0.0"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """The workbench over a fresh ledger."""
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    made = Bench(ledger)
    yield made
    for engine in made.engines:
        engine.shutdown(0.0)
    ledger.close()


@pytest.fixture
def stub_error() -> type[StubError]:
    """The stub vendor's error."""
    return StubError
