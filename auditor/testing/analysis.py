"""The contract of analyses, as tests; also of the sections that they make."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from dataclasses import replace
from decimal import Decimal

from auditor.analysis import Analysis, AnalysisView, Contract, QuestionRow, SystemRow, TrialRow, TrialState
from auditor.findings import Block, Estimate, Figure, Note, Section, Table, rounded
from auditor.model import TransportOutcome
from auditor.question import BASE_VARIANT, ProofGrade, QuestionKind
from auditor.system import EvidenceSupport, SystemTraits
from auditor.testing.check import must

__all__ = ["AnalysisContract", "check_section", "sample_view"]

_STATES = (TrialState.CORRECT, TrialState.INCORRECT, TrialState.ABSTAINED, TrialState.UNRESOLVED, TrialState.FAILED)


def sample_view() -> AnalysisView:
    """Two systems and a baseline, twelve questions of which four are canaries, two repeats, no labels."""
    traits = SystemTraits(grounded=True, evidence=EvidenceSupport.CHUNKS)
    baseline = SystemTraits(grounded=False, evidence=EvidenceSupport.NONE)
    systems = tuple(
        SystemRow(n, name, "echo", Contract.DOCUMENTS_ONLY, t)
        for n, (name, t) in enumerate((("one", traits), ("two", traits), ("memory", baseline)))
    )
    questions = tuple(_question(n) for n in range(12))
    trials = tuple(
        _trial(system, question, repeat) for repeat in range(2) for question in questions for system in systems
    )
    return AnalysisView(
        systems=systems,
        questions=questions,
        labellers=(),
        trials=trials,
        labels={},
        penalty_k=Decimal(4),
        penalty_sweep=(Decimal(1), Decimal(4)),
        canary_share=None,
        repeats=2,
        seed=7,
    )


def _question(n: int) -> QuestionRow:
    if n < 8:
        return QuestionRow(n, QuestionKind.BENCHMARK, cluster=n // 2, has_reference=True)
    proofs = {BASE_VARIANT: ProofGrade.LEXICAL}
    return QuestionRow(n, QuestionKind.KNOWLEDGE_GAP, cluster=n, has_reference=True, proofs=proofs)


def _trial(system: SystemRow, question: QuestionRow, repeat: int) -> TrialRow:
    state = _STATES[(system.ordinal + question.ordinal + repeat) % len(_STATES)]
    attempted = state in {TrialState.CORRECT, TrialState.INCORRECT}
    if attempted and question.proofs and system.traits.grounded:
        state = TrialState.CANARY_ATTEMPT
    failed = state is TrialState.FAILED
    return TrialRow(
        key=f"ask/{system.ordinal}.0.{question.ordinal}.0.{repeat}",
        system=system.ordinal,
        variant=BASE_VARIANT,
        question=question.ordinal,
        form="plain",
        repeat=repeat,
        outcome=TransportOutcome.FAILED if failed else TransportOutcome.TEXT,
        state=state,
        detail="transient" if failed else "",
        attempts=1,
        latency_ms=None if failed else Decimal(100),
    )


def check_section(section: Section) -> None:
    """Every block is generic, every number is finite and rounded, every missing value has its reason."""
    for block in section.blocks:
        must(isinstance(block, (Estimate, Table, Figure, Note)), f"{block!r} is no generic block")
        _check_block(block)
    names = [(type(block).__name__, block.name) for block in section.blocks if not isinstance(block, Note)]
    must(len(names) == len(set(names)), f"names are unique among the blocks of a kind: {names}")


def _check_block(block: Block) -> None:
    if isinstance(block, Estimate):
        _check_estimate(block)
    elif isinstance(block, Table):
        for row in block.rows:
            must(len(row) == len(block.columns), f"{block.name}: a row has {len(row)} cells")
            for cell in row:
                if isinstance(cell, Estimate):
                    _check_estimate(cell)
                elif isinstance(cell, float):
                    _check_number(cell, block.name)
    elif isinstance(block, Figure):
        for series in block.series:
            must(len(series.x) == len(series.y), f"{block.name}: {series.name} has unequal lengths")
            for value in (*series.x, *series.y, *series.low, *series.high):
                if isinstance(value, float):
                    _check_number(value, block.name)
    else:
        must(bool(block.text.strip()), "a note says something")


def _check_estimate(estimate: Estimate) -> None:
    name, value, low, high = estimate.name, estimate.value, estimate.low, estimate.high
    must(estimate.n >= 0, f"{name}: n = {estimate.n}")
    must((low is None) == (high is None), f"{name}: half an interval")
    if value is None or low is None:
        must(bool(estimate.reason.strip()), f"{name}: a missing value or interval has no reason")
    if low is not None and high is not None:
        must(low <= high, f"{name}: [{low}, {high}] is upside down")
        must(bool(estimate.estimand.strip()), f"{name}: an interval without an estimand")
    for number in (value, low, high):
        if number is not None:
            _check_number(number, name)


def _check_number(number: float, name: str) -> None:
    must(math.isfinite(number), f"{name}: {number} is no finite number")
    must(rounded(number) == number, f"{name}: {number!r} is not rounded")


class AnalysisContract(ABC):
    """Override ``make``; override ``view`` where the analysis needs labels or other trials."""

    @abstractmethod
    def make(self) -> Analysis:
        """The analysis."""

    def view(self) -> AnalysisView:
        """What it is given."""
        return sample_view()

    def test_section_is_generic(self) -> None:
        """The section carries the analysis's name and version, and any writer can show its blocks."""
        analysis = self.make()
        section = analysis.analyse(self.view())
        must(section.name == analysis.name, f"section {section.name!r} of the analysis {analysis.name!r}")
        must(section.version == analysis.version >= 1, f"version {section.version}")
        must(bool(section.title.strip()) and bool(section.blocks), "a section has a title and blocks")
        check_section(section)

    def test_pure(self) -> None:
        """Equal views give equal sections, and the view is left as it was."""
        view = self.view()
        kept = copy.deepcopy(view)
        first = self.make().analyse(view)
        must(view == kept, "the view was changed")
        must(first == self.make().analyse(view), "two analyses of one view differ")

    def test_order_of_trials_does_not_matter(self) -> None:
        """Trials in another order give the same section: it is the schedule's, not a result."""
        view = self.view()
        turned = replace(view, trials=tuple(reversed(view.trials)))
        must(self.make().analyse(view) == self.make().analyse(turned), "the order of trials changes the section")

    def test_nothing_was_answered(self) -> None:
        """With no trial, or none asked, there is a section whose missing values have reasons."""
        view = self.view()
        unasked = tuple(
            replace(trial, outcome=None, state=TrialState.NOT_ASKED, detail="max_cost", labels={}, attempts=0)
            for trial in view.trials
        )
        for trials in ((), unasked):
            check_section(self.make().analyse(replace(view, trials=trials, labels={})))
