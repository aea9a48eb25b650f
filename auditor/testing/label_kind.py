"""The contract of label kinds, as tests."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from auditor.canonical import Json, canonical
from auditor.label import Field, LabelKind, LabelSubject, NonLabel, Unparseable, Vote
from auditor.question import QuestionKind
from auditor.testing.check import HOSTILE_TEXTS, must

__all__ = ["LabelKindContract"]

_NEVER_A_LABEL = ("", "   ", "null", "[]", "{}", "0", '""', "A", "maybe", "```json\n```", '{"', *HOSTILE_TEXTS)


class LabelKindContract(ABC):
    """Override ``make`` and ``examples``."""

    seats = 3

    @abstractmethod
    def make(self) -> LabelKind:
        """The kind."""

    @abstractmethod
    def examples(self) -> Mapping[str, Json]:
        """Replies that parse, with their label: at least one of each label."""

    def broken(self) -> Sequence[str]:
        """More replies that must not parse."""
        return ()

    def test_name_and_fields(self) -> None:
        """The name can stand in a key; fields are named; only a kind with its own labeller sees recorded labels."""
        kind = self.make()
        must(bool(re.fullmatch(r"[a-z0-9][a-z0-9._-]*", kind.name)), f"name {kind.name!r}")
        must(bool(kind.fields) and all(isinstance(field, Field) for field in kind.fields), f"fields {kind.fields}")
        if Field.RECORDED in kind.fields:
            must(kind.own_labeller() is not None, "a kind that sees recorded labels brings its own labeller")

    def test_examples_parse(self) -> None:
        """Each example is its label, each time."""
        kind = self.make()
        for text, label in self.examples().items():
            must(kind.parse(text) == label == kind.parse(text), f"{text!r} is not {label!r}")
            canonical(label)

    def test_there_is_no_default(self) -> None:
        """What is not exactly one label does not parse."""
        kind = self.make()
        for text in (*_NEVER_A_LABEL, *self.broken()):
            try:
                label = kind.parse(text)
            except Unparseable:
                continue
            raise AssertionError(f"{text[:80]!r} was read as {label!r}")

    def test_two_labels_are_none(self) -> None:
        """Two examples that differ, one after the other, do not parse: neither the first nor the last wins."""
        kind, examples = self.make(), self.examples()
        for (one, a), (two, b) in itertools.permutations(examples.items(), 2):
            if a == b:
                continue
            try:
                label = kind.parse(f"{one}\n{two}")
            except Unparseable:
                continue
            raise AssertionError(f"{a!r} then {b!r} was read as {label!r}")

    def test_order_of_votes_does_not_matter(self) -> None:
        """Every order of every combination of votes reduces to the same value."""
        kind = self.make()
        labels: list[Json] = []
        for label in self.examples().values():
            if label not in labels:
                labels.append(label)
        choices: list[tuple[Json, NonLabel | None]] = [(label, None) for label in labels[:4]]
        choices += [(None, NonLabel.UNPARSEABLE), (None, NonLabel.UNAVAILABLE)]
        seats = 1 if kind.own_labeller() is not None else self.seats
        for combination in itertools.combinations_with_replacement(choices, seats):
            reduced = {
                repr(kind.reduce([Vote(seat, *choice) for seat, choice in enumerate(order)]).value)
                for order in itertools.permutations(combination)
            }
            must(len(reduced) == 1, f"{combination}: the order decides between {reduced}")

    def test_no_votes_are_no_label(self) -> None:
        """When every labeller is lost there is no value, and a reason."""
        kind = self.make()
        seats = 1 if kind.own_labeller() is not None else self.seats
        for non_label in NonLabel:
            reduced = kind.reduce([Vote(seat, None, non_label) for seat in range(seats)])
            must(reduced.value is None or reduced.value == "unsure", f"{non_label} by all became {reduced.value!r}")
            must(bool(reduced.reason), f"{non_label} by all has no reason")

    def test_applies_is_a_decision(self) -> None:
        """For every sort of trial, ``applies`` says yes or no, the same each time."""
        kind = self.make()
        for question, reference, grounded in itertools.product(QuestionKind, (True, False), (True, False)):
            subject = LabelSubject(question, reference, grounded, "documents_only")
            must(kind.applies(subject) is kind.applies(subject), f"applies wavers on {subject}")
