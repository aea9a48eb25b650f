"""The PENALTY analysis (METHODS §2): one section of generic blocks from labelled trials.

Invariant: equal views give equal sections, whatever order trials, labels or seats come in; no block reads a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from auditor.analysis import CONFLICT_MARK, Analysis, AnalysisView
from auditor.findings import Block, Note, NoteKind, Section
from auditor.penalty.agreement import agreement_table, judges_table, pairwise_table
from auditor.penalty.block import decimal_text
from auditor.penalty.excluded import excluded_table, lead_by_bounds, reasons_table, states_table, tipping_table
from auditor.penalty.headline import canary_table, claimed_table, headline_table, rates_table
from auditor.penalty.pair import paired_rates_table, score_pairs_table, violation_pairs_table
from auditor.penalty.sample import Sample, samples
from auditor.penalty.sweep import (
    mixed_crossings_table,
    mixed_table,
    order_share,
    penalties,
    penalty_crossings_table,
    ranks_table,
    repeats_table,
    sweep_figure,
    sweep_table,
)
from auditor.scoring import Stratum

__all__ = [
    "PenaltyAnalysis",
]


class PenaltyAnalysis(Analysis):
    """Penalty-aware scores and canary violations, side by side, with all that qualifies them."""

    name: ClassVar[str] = "penalty"
    version: ClassVar[int] = 1

    def analyse(self, view: AnalysisView) -> Section:
        """The section; never raises on missing data, which is None with a reason."""
        found = samples(view)
        blocks = (*_scores(view, found), *_comparisons(view, found), *_panel(view), *_limits(view, found))
        return Section(self.name, "Penalty-aware audit", self.version, tuple(blocks))


def _scores(view: AnalysisView, found: Sequence[Sample]) -> Iterator[Block]:
    k, bounds = view.penalty_k, lead_by_bounds(found)
    yield headline_table(found, k, bounds)
    if bounds:
        yield Note(NoteKind.WARNING, _BOUNDS_LEAD)
    yield from _marks(found)
    yield rates_table(found, k)
    if any(sample.of(Stratum.CANARY) for sample in found):
        yield canary_table(found)
    if any(sample.of(Stratum.CLAIMED) for sample in found):
        yield claimed_table(found)
        yield Note(NoteKind.WARNING, _CLAIMED)
    yield states_table(found)
    yield excluded_table(found, k)
    if any(not cell.scored for sample in found for cell in sample.cells):
        yield reasons_table(found)
        yield tipping_table(found, k)


def _marks(found: Sequence[Sample]) -> Iterator[Block]:
    """What the marks beside a system's name mean."""
    for sample in found:
        system = sample.system
        if system.role_conflicts:
            names = ", ".join(sorted(system.role_conflicts))
            text = f"{CONFLICT_MARK} {system.name} shares a model or family with: {names}."
            yield Note(NoteKind.DISCLOSURE, text)
        if system.traits.simulated:
            yield Note(NoteKind.DISCLOSURE, f"{system.name} is simulated: {system.traits.simulated}")


def _comparisons(view: AnalysisView, found: Sequence[Sample]) -> Iterator[Block]:
    k = view.penalty_k
    shown = penalties(k, view.penalty_sweep)
    yield sweep_table(found, shown)
    yield sweep_figure(found, shown)
    yield penalty_crossings_table(found)
    if view.canary_share is not None and any(sample.of(Stratum.CANARY) for sample in found):
        yield mixed_table(found, k, view.canary_share)
        yield mixed_crossings_table(found, k)
    yield ranks_table(found, shown, view.seed)
    yield score_pairs_table(found, k, view.seed)
    if any(sample.of(Stratum.CANARY) for sample in found):
        yield violation_pairs_table(found)
    yield paired_rates_table(found, view.seed)
    if view.repeats > 1:
        yield repeats_table(found, k, view.repeats)
        share = order_share(found, k)
        if share is not None:
            text = f"{share[0]} of {share[1]} repeats order the systems as the first does; {_ORDER_IS_NO_EVIDENCE}"
            yield Note(NoteKind.METHOD, text)


def _panel(view: AnalysisView) -> Iterator[Block]:
    if any(row.kind == "verdict" for row in view.labellers):
        yield agreement_table(view)
        yield pairwise_table(view)
        yield judges_table(view)


def _limits(view: AnalysisView, found: Sequence[Sample]) -> Iterator[Block]:
    """What the numbers do not show."""
    k = view.penalty_k
    yield Note(NoteKind.METHOD, f"Correct +1, wrong −{decimal_text(k)}, abstained 0. {_SCORE_NOTE}")
    yield Note(NoteKind.METHOD, _INFERENCE_NOTE)
    yield Note(NoteKind.METHOD, _FAMILY_NOTE)
    if any(sample.of(Stratum.CANARY) for sample in found):
        yield Note(NoteKind.METHOD, _CANARY_NOTE)
    yield Note(NoteKind.METHOD, _JUDGE_NOTE)


_BOUNDS_LEAD = (
    "More than 2 % of trials have no score for a system, or the systems lie more than 1 point apart in that: "
    "the headline shows bounds over what those trials might have been, not intervals of those that were scored."
)
_CLAIMED = (
    "Claimed canaries: nobody proved that the corpus does not hold the answer. They are in no score and no violation "
    "rate, and have no interval."
)
_ORDER_IS_NO_EVIDENCE = (
    "two identical systems keep one order in three repeats more often than not, so it is no evidence of one."
)
_SCORE_NOTE = (
    "A partial answer and a denial of what exists count as wrong; a grounded system's attempt on a canary counts as "
    "wrong even when the fact is right. Q is the mean over questions of the mean within each."
)
_INFERENCE_NOTE = (
    "Intervals are about a population of questions like these, sampled by source document; they do not cover another "
    "corpus, language, prompt or release."
)
_FAMILY_NOTE = (
    "Holm decides within a family and its intervals hold together (Bonferroni). Pairs with a baseline are a family of "
    "their own; differences of rates are exploratory. Paired figures rest on the questions that both were scored on."
)
_CANARY_NOTE = (
    "A canary's absence is as sure as its proof. Violation rates of different kinds of canary are not pooled; on "
    "fictitious ones a denial is true and costs nothing."
)
_JUDGE_NOTE = "Rates are those that the panel judged; they carry its errors and claim no more."
