"""What a plugin holds of a call or of a store's work: a number, not the thing itself.

A call leads to its task, the task to the campaign, the campaign to every reference and proof; a store's work leads to
the ledger that holds their texts. Invariant: nothing that a plugin is given refers to either. It is no wall against
code that digs in this process (frames, the collector, the disk); it keeps secrets out of what is handed over.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.canonical import Json
from auditor.errors import Abandoned, Fault, FaultReport
from auditor.system import Ports

if TYPE_CHECKING:
    from auditor.engine.call import Call
    from auditor.engine.port import Nesting
    from auditor.engine.work import StoreWork

__all__ = ["CallHandle", "WorkHandle", "lend_call", "lend_work"]

_LENT: dict[int, Any] = {}  # each step on it is atomic
_NUMBERS = itertools.count()


def _lent(number: int) -> Any:
    try:
        return _LENT[number]
    except KeyError:
        raise Abandoned(FaultReport(Fault.INTERNAL, "what the plugin was lent is over; it kept it too long")) from None


def _work(number: int) -> StoreWork:
    found: StoreWork = _lent(number)
    return found


@contextmanager
def _lend(thing: object) -> Iterator[int]:
    number = next(_NUMBERS)
    _LENT[number] = thing
    try:
        yield number
    finally:
        del _LENT[number]


@dataclass(frozen=True, slots=True)
class CallHandle:
    """One attempt, as a plugin holds it."""

    number: int

    @contextmanager
    def wire(self) -> Iterator[None]:
        """See ``Call.wire``."""
        with _lent(self.number).wire():
            yield

    def nesting(self) -> Nesting:
        """How to make a nested call."""
        found: Nesting = _lent(self.number).subtask
        return found


@dataclass(frozen=True, slots=True)
class WorkHandle:
    """``auditor.system.Work``, as a plugin holds it."""

    number: int

    @property
    def store_name(self) -> str:
        """See ``Work``."""
        return _work(self.number).store_name

    @property
    def cache(self) -> Path:
        """See ``Work``."""
        return _work(self.number).cache

    @property
    def earlier(self) -> Mapping[str, Json]:
        """See ``Work``."""
        return _work(self.number).earlier

    @property
    def ports(self) -> Ports:
        """See ``Work``."""
        return _work(self.number).ports_through(self._nesting)

    def _nesting(self) -> Nesting:
        return _work(self.number).nesting()

    def call(self, key: str, fn: Callable[[], Json]) -> Json:
        """See ``Work``."""
        return _work(self.number).call(key, fn)

    def poll(self, key: str, fn: Callable[[], Json], *, deadline_s: float) -> Json:
        """See ``Work``."""
        return _work(self.number).poll(key, fn, deadline_s=deadline_s)


@contextmanager
def lend_call(call: Call) -> Iterator[CallHandle]:
    """Hand a plugin its attempt for the time of the block."""
    with _lend(call) as number:
        yield CallHandle(number)


@contextmanager
def lend_work(work: StoreWork) -> Iterator[WorkHandle]:
    """Hand a plugin the work on a store for the time of the block."""
    with _lend(work) as number:
        yield WorkHandle(number)
