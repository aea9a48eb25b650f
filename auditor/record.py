"""The record of a run: the ledger's entries by what they are about, without their texts.

Invariant: of each task the last attempt decides; a late reply never does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from auditor.analysis import LabellerRow, LabelRow
from auditor.canonical import Json
from auditor.errors import Fault
from auditor.label import LabelKind, NonLabel, Reduced, Vote
from auditor.model import TransportOutcome
from auditor.plugins import contained

__all__ = [
    "BLANK",
    "Outcome",
    "Record",
    "Rows",
    "label_key",
    "label_rows",
    "read_record",
    "seat_votes",
    "split_attempt",
    "vote_of",
]


BLANK = "blank"  # flag of an answer of which nothing is left but thinking and marks: nobody can label it


class Rows(Protocol):
    """What a ledger and its reader have in common."""

    def rows(self, kind: str | None = None) -> Iterable[Any]:
        """Rows in sequence; of one kind when it is named."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The last outcome of one task."""

    task: str
    attempt: int
    body: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Key of the outcome's entry."""
        return f"{self.task}#{self.attempt}"

    @property
    def fault(self) -> Fault | None:
        """Why the call failed; None when it did not."""
        fault = self.body.get("fault")
        return None if fault is None else Fault(fault)

    @property
    def transport(self) -> TransportOutcome:
        """What became of the call."""
        if self.fault is Fault.QUOTA_EXHAUSTED:
            return TransportOutcome.QUOTA_EXHAUSTED
        return TransportOutcome.FAILED if self.fault is not None else TransportOutcome(self.body["outcome"])


@dataclass(frozen=True)
class Record:
    """Everything of a run that is not a text.

    ``candidates``: by attempt key, what preparing the answer for labellers found. ``labelled``: by label kind, attempt
    key → digest of the input that the trial's answer was labelled as. ``unasked``: task → why the last stage left it.
    """

    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    candidates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    labelled: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unasked: Mapping[str, str] = field(default_factory=dict)
    inherited: frozenset[str] = frozenset()
    resends: int = 0
    late: int = 0

    def label_outcome(self, kind: str, seat: int, digest: str, round_: int) -> Outcome | None:
        """What one labeller said of one input in one round."""
        return self.outcomes.get(label_key(kind, seat, digest, round_))


def label_key(kind: str, seat: int, digest: str, round_: int) -> str:
    """The task key of one labelling; round 0 comes before any repair."""
    return f"label/{kind}/{seat}/{digest}/{round_}"


def split_attempt(key: str) -> tuple[str, int]:
    """Task and attempt of an attempt's key."""
    task, _, attempt = key.rpartition("#")
    return task, int(attempt)


def read_record(ledger: Rows) -> Record:
    """One pass over the entries that are not texts."""
    outcomes: dict[str, Outcome] = {}
    for row in ledger.rows("outcome"):
        task, attempt = split_attempt(row.key)
        if task not in outcomes or outcomes[task].attempt < attempt:
            outcomes[task] = Outcome(task, attempt, row.body)
    labelled: dict[str, dict[str, str]] = {}
    for row in ledger.rows("labelled"):
        key, _, kind = row.key.rpartition("/")
        labelled.setdefault(kind, {})[key] = row.body["input"]
    return Record(
        outcomes=outcomes,
        candidates={row.key: row.body for row in ledger.rows("candidate")},
        labelled=labelled,
        unasked={row.key.rpartition("/")[0]: row.body["reason"] for row in ledger.rows("unasked")},
        inherited=frozenset(row.key for row in ledger.rows("inherited")),
        resends=sum(1 for _ in ledger.rows("resend")),
        late=sum(1 for _ in ledger.rows("late")),
    )


def vote_of(outcome: Outcome | None, seat: int) -> Vote:
    """The vote that an outcome holds. A call that failed or was never made is a typed non-vote, never a grade."""
    if outcome is None or outcome.fault is not None:
        return Vote(seat, non_label=NonLabel.UNAVAILABLE)
    non_label = outcome.body.get("non_label")
    if non_label is not None:
        return Vote(seat, non_label=NonLabel(non_label))
    value: Json = outcome.body["value"]
    return Vote(seat, value=value)


def seat_votes(record: Record, kind: str, seat: int, digest: str, last_round: int | None = None) -> tuple[Vote, Vote]:
    """The first vote of a seat, and its vote after repair: the first usable one of all rounds, else the last.

    :param last_round: look no further than this round.
    """
    first = vote_of(record.label_outcome(kind, seat, digest, 0), seat)
    last = first
    for round_ in itertools.count(1) if last_round is None else range(1, last_round + 1):
        outcome = record.label_outcome(kind, seat, digest, round_)
        if last.non_label is None or outcome is None:
            break
        last = vote_of(outcome, seat)
    return first, last


def _reduced(kind: LabelKind, votes: Sequence[Vote]) -> Reduced:
    """The votes as one; a kind that raises has decided nothing."""
    made, failure = contained(kind, lambda: kind.reduce(votes))
    if isinstance(made, Reduced):
        return made
    return Reduced(None, f"the label kind failed ({failure or f'it returned {type(made).__name__}'})")


def label_rows(record: Record, kind: LabelKind, seats: Iterable[LabellerRow]) -> Mapping[str, LabelRow]:
    """All votes of one kind, by input digest, in the order of digests."""
    listed = list(seats)
    rows = {}
    for digest in sorted(set(record.labelled.get(kind.name, {}).values())):
        votes = [seat_votes(record, kind.name, seat.ordinal, digest) for seat in listed]
        reduced = _reduced(kind, [last for _, last in votes])
        rows[digest] = LabelRow(
            kind=kind.name,
            key=digest,
            votes=tuple(last for _, last in votes),
            first_votes=tuple(first for first, _ in votes),
            value=reduced.value,
            reason=reduced.reason,
        )
    return rows
