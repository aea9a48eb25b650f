"""Each contract notices what it is there to notice: a class that breaks one rule fails the test of that rule."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from auditor.analysis import Analysis, AnalysisView
from auditor.canonical import Json
from auditor.errors import Fault, FaultReport
from auditor.findings import Estimate, Section, Unit
from auditor.label import Field, LabelKind, Labeller, LabelRequest, LabelSubject, Reduced, Vote
from auditor.model import Completion, TransportOutcome, Usage, Wire
from auditor.system import Reply, Request, Store, System
from auditor.testing import (
    AnalysisContract,
    EchoJudge,
    EchoSystem,
    LabelKindContract,
    LabellerContract,
    ReportWriterContract,
    SystemContract,
    planted,
    told,
)
from auditor.writer import ReportData, ReportWriter

Change = Callable[[Reply], Reply]


def broken_reply(change: Change) -> type[EchoSystem]:
    """An echo system whose every reply is changed."""

    class Broken(EchoSystem):
        def ask(self, store: Store, request: Request) -> Reply:
            return change(super().ask(store, request))

    return Broken


class Shared(EchoSystem):
    """Keeps the last question on itself."""

    last = ""

    def ask(self, store: Store, request: Request) -> Reply:
        """Read back what another thread may have written."""
        self.last = request.text
        time.sleep(0.001)
        return super().ask(store, replace(request, text=self.last))


class Loud(EchoSystem):
    """Prints."""

    def ask(self, store: Store, request: Request) -> Reply:
        """Noise."""
        sys.stdout.write("asking\n")
        return super().ask(store, request)


class Sleepy(EchoSystem):
    """Waits by itself."""

    def ask(self, store: Store, request: Request) -> Reply:
        """A pause."""
        time.sleep(0.001)
        return super().ask(store, request)


class Mute(EchoSystem):
    """Names no fault."""

    def classify(self, error: BaseException) -> FaultReport:
        """A blank message."""
        return FaultReport(Fault.TRANSIENT, " ")


class Forgetful(EchoSystem):
    """Lists again on resume."""

    def open(self, corpus: Any, work: Any) -> Store:
        """Under another key each time."""
        work.call(f"list-{time.perf_counter_ns()}", lambda: 1)
        return super().open(corpus, work)


def system_contract(kind: Callable[[], System]) -> SystemContract:
    """The contract over one class."""

    class Contract(SystemContract):
        def make(self, folder: Path) -> System:
            return kind()

    return Contract()


@pytest.mark.parametrize(
    ("kind", "test"),
    [
        (broken_reply(lambda r: replace(r, text="")), "test_reply_is_whole"),
        (broken_reply(lambda r: replace(r, usage=Usage(input_tokens=0))), "test_reply_is_whole"),
        (broken_reply(lambda r: replace(r, cost_usd=Decimal(0))), "test_reply_is_whole"),
        (broken_reply(lambda r: replace(r, sent={"temperature": 0.5})), "test_reply_is_whole"),  # type: ignore[dict-item] # the fault under test
        (broken_reply(lambda r: replace(r, model=" ")), "test_reply_is_whole"),
        (broken_reply(lambda r: replace(r, outcome=TransportOutcome.EMPTY)), "test_reply_is_whole"),
        (
            broken_reply(lambda r: replace(r, outcome=TransportOutcome.TEXT, text=r.text or " ")),
            "test_hostile_text_is_a_reply_or_a_fault",
        ),
        (broken_reply(lambda r: replace(r, chunks=None)), "test_evidence_not_reported_differs_from_none_found"),
        (Shared, "test_asks_do_not_mix"),
        (Sleepy, "test_no_print_and_no_sleep"),
        (Loud, "test_no_print_and_no_sleep"),
        (Mute, "test_every_error_has_one_fault"),
        (Forgetful, "test_open_goes_on_where_it_stopped"),
    ],
)
def test_system_contract_notices(
    kind: Callable[[], System], test: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A system that breaks one rule fails the test of that rule."""
    check = getattr(system_contract(kind), test)
    arguments = (tmp_path, capfd) if test == "test_no_print_and_no_sleep" else (tmp_path,)
    with pytest.raises((AssertionError, TypeError)):
        check(*arguments)


class Guessing(LabelKind):
    """Reads the first capital letter as a grade, and lets the last vote decide."""

    name = "guess"
    fields = frozenset({Field.CANDIDATE})

    def applies(self, subject: LabelSubject) -> bool:
        """To every text."""
        return True

    def parse(self, text: str) -> Json:
        """With a default."""
        return next((letter for letter in text if letter in "AB"), "B")

    def reduce(self, votes: Sequence[Vote]) -> Reduced:
        """The last one wins; a lost one reads as B."""
        return Reduced(votes[-1].value or "B")


class GuessingContract(LabelKindContract):
    """The contract over the guessing kind."""

    def make(self) -> LabelKind:
        """As it is."""
        return Guessing()

    def examples(self) -> Mapping[str, Json]:
        """Both letters."""
        return {"A": "A", "B": "B"}


@pytest.mark.parametrize(
    "test",
    [
        "test_there_is_no_default",
        "test_two_labels_are_none",
        "test_order_of_votes_does_not_matter",
        "test_no_votes_are_no_label",
    ],
)
def test_label_kind_contract_notices(test: str) -> None:
    """A kind that guesses, that lets one label win, that depends on order, that fills in a lost vote: each fails."""
    with pytest.raises(AssertionError):
        getattr(GuessingContract(), test)()


class _Leaky(EchoJudge):
    """Its label depends on the opaque id."""

    def label(self, request: LabelRequest, wire: Wire) -> Completion:
        """A label that is not the input's."""
        return Completion(TransportOutcome.TEXT, json.dumps({"word": request.opaque_id[-1]}))


def test_labeller_contract_notices() -> None:
    """A label that depends on the id of the request fails."""

    class Contract(LabellerContract):
        def make(self) -> Labeller:
            return _Leaky()

        def kind(self) -> LabelKind:
            return Guessing()

    with pytest.raises(AssertionError, match="depends on the id"):
        Contract().test_label_depends_on_the_input_alone()


def analysis_contract(change: Callable[[AnalysisView], Estimate]) -> AnalysisContract:
    """The contract over an analysis of one estimate."""

    class Broken(Analysis):
        name = "broken"

        def analyse(self, view: AnalysisView) -> Section:
            return Section("broken", "Broken", 1, (change(view),))

    class Contract(AnalysisContract):
        def make(self) -> Analysis:
            return Broken()

    return Contract()


@pytest.mark.parametrize(
    ("estimate", "test"),
    [
        (lambda v: Estimate("e", 0.1 + 0.2, Unit.RATE, 1, reason="r"), "test_section_is_generic"),
        (lambda v: Estimate("e", None, Unit.RATE, 0), "test_section_is_generic"),
        (lambda v: Estimate("e", 0.5, Unit.RATE, 1), "test_section_is_generic"),
        (lambda v: Estimate("e", 0.5, Unit.RATE, 1, 0.1, 0.9), "test_section_is_generic"),
        (lambda v: Estimate("e", float("nan"), Unit.RATE, 1, reason="r"), "test_section_is_generic"),
        (lambda v: Estimate(v.trials[0].key, 1.0, Unit.RATE, 1, reason="r"), "test_order_of_trials_does_not_matter"),
        (
            lambda v: Estimate("e", 1 / len(v.trials) if v.trials else 0 / 0, Unit.RATE, 1, reason="r"),
            "test_nothing_was_answered",
        ),
    ],
)
def test_analysis_contract_notices(estimate: Callable[[AnalysisView], Estimate], test: str) -> None:
    """Unrounded, missing without reason, no interval without reason, NaN, order, division by nothing: each fails."""
    with pytest.raises((AssertionError, ZeroDivisionError)):
        getattr(analysis_contract(estimate), test)()


class _TellTale(ReportWriter):
    """Shows nothing but texts, also in public, and calls what is missing NaN."""

    def write(self, data: ReportData, folder: Path) -> Sequence[Path]:
        """One file."""
        path = folder / "telltale.txt"
        path.write_text(f"NaN {' '.join(data.texts.values())}", encoding="utf-8")
        return [path]


@pytest.mark.parametrize(
    "test",
    ["test_unheard_of_section_is_shown", "test_unknown_is_not_a_number", "test_public_report_keeps_texts_out"],
)
def test_writer_contract_notices(test: str, tmp_path: Path) -> None:
    """A writer that drops unknown sections, prints NaN or publishes texts fails."""

    class Contract(ReportWriterContract):
        def make(self) -> ReportWriter:
            return _TellTale()

    with pytest.raises(AssertionError):
        getattr(Contract(), test)(tmp_path)


def test_markers_are_found_wherever_they_hide() -> None:
    """The search for markers looks into fields, items, closures, defaults and bound methods."""
    case = planted()
    secret = case.markers["reference"]

    class Holder:
        def __init__(self) -> None:
            self.kept = secret

        def method(self) -> str:
            return "nothing"

    def closure() -> str:
        return secret

    def default(value: str = secret) -> str:
        return value

    for hiding in (secret, [secret], {"a": {secret: 1}}, (b"x" + secret.encode(),), Holder().method, closure, default):
        assert told(hiding, case.markers) == ("reference",), hiding
    assert told(case.question.text, case.markers) == ()
    assert set(told(case.question, case.markers)) == set(case.markers)
