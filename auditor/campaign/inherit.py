"""Inheritance: what a child run takes over from its parent instead of asking again.

Invariant: an entry is taken over only under an equal input digest, with its body unchanged byte for byte, and beside it
stands an ``inherited`` entry that names the parent's protocol, head and date (DESIGN §3, Runs).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auditor.campaign.folder import RunFolder
from auditor.errors import LedgerError, RunError
from auditor.freeze import Parent
from auditor.ledger import Entry, Ledger, Reader, verify
from auditor.record import split_attempt

__all__ = ["Inheritance", "open_parent", "parent_path"]


@dataclass(frozen=True, slots=True)
class _Taken:
    """A parent's last usable outcome of one task, with the entries that belong to it."""

    task: str
    attempt: int
    entries: tuple[Entry, ...]


class Inheritance:
    """The parent's outcomes by input digest. An empty one takes nothing over."""

    def __init__(
        self, parent: Parent | None = None, outcomes: Mapping[str, _Taken] | None = None, head: str = ""
    ) -> None:
        self.parent, self._outcomes, self._head = parent, dict(outcomes or {}), head

    def take(self, ledger: Ledger, key: str, depends: str) -> bool:
        """Copy the outcome of the task that depends on the same input into ``ledger`` under ``key``.

        False when the parent has none.
        """
        taken = self._outcomes.get(depends)
        if taken is None or self.parent is None:
            return False
        moved = [Entry(entry.kind, key + entry.key[len(taken.task) :], entry.body) for entry in taken.entries]
        note = {
            "protocol": self.parent.protocol_digest,
            "head": self._head,
            "task": taken.task,
            "date": _date(taken.entries),
        }
        ledger.append([*moved, Entry("inherited", f"{key}#{taken.attempt}", note)])
        return True


def _date(entries: Iterable[Entry]) -> str:
    started = [entry.body.get("started") for entry in entries if entry.kind == "outcome"]
    return str(started[-1]) if started and started[-1] is not None else ""


def open_parent(folder: RunFolder) -> Inheritance:
    """The inheritance of a run. Its ledger has to be whole and sealed.

    Raises ``RunError`` or ``LedgerError`` that says why not.
    """
    if not folder.ledger.is_file():
        raise RunError(f"{folder.path} is no run folder: there is no ledger.sqlite in it")
    verify(folder.ledger).raise_for_failure()
    with Reader(folder.ledger) as reader:
        protocol, key = reader.get("protocol", "0"), reader.get("text", "run/key")
        if protocol is None or key is None or key.text is None:
            raise LedgerError(f"{folder.ledger} holds no protocol, or its key is withheld: nothing can be inherited")
        parent = Parent(run_key=bytes.fromhex(key.text), protocol_digest=protocol.body_digest)
        return Inheritance(parent, _taken(reader), reader.head)


def _taken(reader: Reader) -> Mapping[str, _Taken]:
    """Last outcomes without a fault, by input digest, each with its intent and texts."""
    last: dict[str, tuple[int, Any]] = {}
    for row in reader.rows("outcome"):
        task, attempt = split_attempt(row.key)
        if task.startswith(("ask/", "label/")) and attempt >= last.get(task, (0, None))[0]:
            last[task] = (attempt, row)
    texts: dict[str, list[Entry]] = {}
    for row in reader.rows("text"):
        owner = row.key.rpartition("/")[0]
        if "#" in owner and row.body is not None:
            texts.setdefault(owner, []).append(Entry("text", row.key, row.body))
    intents = {row.key: Entry("intent", row.key, row.body or {}) for row in reader.rows("intent")}
    taken = {}
    for task, (attempt, row) in last.items():
        key = f"{task}#{attempt}"
        if row.body.get("fault") is None and "non_label" not in row.body and key in intents:
            entries = (intents[key], *texts.get(key, ()), Entry("outcome", key, row.body))
            taken[str(row.body["input"])] = _Taken(task, attempt, entries)
    return taken


def parent_path(path: Path) -> RunFolder:
    """The run folder that ``--from`` names: the folder, or the ledger in it."""
    return RunFolder(path.parent if path.is_file() else path)
