"""The first page: what a reader who is no statistician needs, in sentences of a closed set and plain frequencies.

Pure. Invariant: every sentence is one of ``Sentence`` filled with names and numbers, so no run can be praised in words
that another run could not get.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from itertools import combinations

from auditor.analysis import AnalysisView, TrialState
from auditor.findings import Block, Cell, Column, Estimate, Note, NoteKind, Section, Table, Unit
from auditor.penalty.block import estimate
from auditor.penalty.excluded import lead_by_bounds
from auditor.penalty.headline import canary_kinds, q_bench, violation_rate
from auditor.penalty.pair import Pair, score_delta
from auditor.penalty.sample import Sample, rate_items, samples
from auditor.requirement import Demand, Ruling, rulings
from auditor.scoring import Stratum
from auditor.statistics import Decision, holm, rate

__all__ = ["Sentence", "first_page"]

_ALPHA = 0.05


class Sentence(StrEnum):
    """Every sentence that a first page can begin with."""

    NOTHING = "Nothing was scored, so nothing can be said."
    INCOMPLETE = "The run is incomplete: {count} of {total} cells were never asked."
    MET = "{names} met every requirement that applies."
    NONE_MET = "No system met every requirement."
    UNDECIDED = "Whether a system meets every requirement cannot be decided at this size."
    BEST = "{best} scored higher than every other system that promises to answer from the documents."
    LEADERS = "Of the systems that promise to answer from the documents, none is shown to score higher than {names}."
    NO_DIFFERENCE = "Between the systems that promise to answer from the documents, no difference shown at this size."
    ONE = "{name} is the only system that promises to answer from the documents; nothing compares with it."
    NOT_COMPARED = "The systems cannot be compared: too few questions were scored for both of any two."


def first_page(view: AnalysisView, wanted: Sequence[Demand]) -> Section:
    """Verdict, requirements, and frequencies a system."""
    found = samples(view)
    decided = rulings(view, wanted)
    blocks: list[Block] = [Note(NoteKind.RESULT, text) for text in _verdict(view, found, decided)]
    if decided:
        blocks.append(_requirements_table(found, decided))
    blocks.append(_frequency_table(view, found))
    blocks += [Note(NoteKind.RESULT, text) for sample in found for text in _frequencies(sample, lead_by_bounds(found))]
    return Section("first_page", "In short", 1, tuple(blocks))


def _verdict(view: AnalysisView, found: Sequence[Sample], decided: Sequence[Ruling]) -> Iterator[str]:
    if not any(cell.scored for sample in found for cell in sample.cells):
        yield Sentence.NOTHING.value
        return
    left = sum(1 for trial in view.trials if trial.state is TrialState.NOT_ASKED)
    if left:
        yield Sentence.INCOMPLETE.format(count=left, total=len(view.trials))
    if decided:
        yield _on_requirements(found, decided)
    yield _on_comparison(found, view.penalty_k)


def _on_requirements(found: Sequence[Sample], decided: Sequence[Ruling]) -> str:
    """Baselines promise nothing, so they are not what a buyer could choose."""
    by_system = {
        sample.system.ordinal: [r.decision for r in decided if r.system == sample.system.ordinal and r.decision]
        for sample in found
        if sample.system.traits.grounded
    }
    met = [ordinal for ordinal, listed in by_system.items() if listed and set(listed) == {Decision.MET}]
    if met:
        names = [sample.system.title for sample in found if sample.system.ordinal in met]
        return Sentence.MET.format(names=_listed(names))
    open_ones = [listed for listed in by_system.values() if Decision.NOT_MET not in listed]
    return (Sentence.UNDECIDED if open_ones else Sentence.NONE_MET).value


def _on_comparison(found: Sequence[Sample], k: Decimal) -> str:
    grounded = [sample for sample in found if sample.system.traits.grounded]
    if len(grounded) < 2:
        names = [sample.system.title for sample in grounded]
        return Sentence.ONE.format(name=names[0]) if names else Sentence.NOT_COMPARED.value
    pairs = [Pair(first, second) for first, second in combinations(grounded, 2)]
    compared = [score_delta(pair, k) for pair in pairs]
    if all(difference is None for difference in compared):
        return Sentence.NOT_COMPARED.value
    adjusted = holm([None if difference is None else difference.p_value() for difference in compared])
    beaten: dict[int, int] = {}
    for pair, difference, p_value in zip(pairs, compared, adjusted, strict=True):
        if difference is not None and p_value is not None and p_value <= _ALPHA:
            loser = pair.second if difference.value > 0 else pair.first
            beaten[loser.system.ordinal] = beaten.get(loser.system.ordinal, 0) + 1
    if not beaten:
        return Sentence.NO_DIFFERENCE.value
    leaders = [sample for sample in grounded if sample.system.ordinal not in beaten]
    if len(leaders) == 1 and _beats_all(leaders[0], pairs, adjusted):
        return Sentence.BEST.format(best=leaders[0].system.title)
    return Sentence.LEADERS.format(names=_listed([sample.system.title for sample in leaders]))


def _beats_all(leader: Sample, pairs: Sequence[Pair], adjusted: Sequence[float | None]) -> bool:
    """Whether every pair of the leader is decided; it lost none."""
    own = [p for pair, p in zip(pairs, adjusted, strict=True) if leader in (pair.first, pair.second)]
    return all(p is not None and p <= _ALPHA for p in own)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _requirements_table(found: Sequence[Sample], decided: Sequence[Ruling]) -> Table:
    titles = {sample.system.ordinal: sample.system.title for sample in found}
    return Table(
        name="requirements",
        title="Requirements, as they were fixed before the run",
        columns=(
            Column("system", "System"),
            Column("requirement", "Requirement"),
            Column("decision", "Decision"),
            Column("value", "Measured", Unit.RATE),
            Column("more", "More independent questions that would tell, if the rate stays", Unit.COUNT),
        ),
        rows=tuple(
            (titles[ruling.system], ruling.demand.sentence, _decision(ruling), ruling.value, _more(ruling))
            for ruling in decided
        ),
    )


def _decision(ruling: Ruling) -> str:
    if ruling.decision is None:
        return f"does not apply: {ruling.reason}"
    words = {Decision.MET: "met", Decision.NOT_MET: "not met", Decision.CANNOT_TELL: "cannot tell"}
    return words[ruling.decision] + (f": {ruling.reason}" if ruling.reason else "")


def _more(ruling: Ruling) -> Cell:
    if ruling.decision is not Decision.CANNOT_TELL:
        return "none needed"
    return "unknown" if ruling.more_clusters is None else ruling.more_clusters


def _frequency_table(view: AnalysisView, found: Sequence[Sample]) -> Table:
    """The few numbers that the sentences below it say in words."""
    kinds, bounds = canary_kinds(found, Stratum.CANARY), lead_by_bounds(found)
    return Table(
        name="in_short",
        title="In numbers",
        columns=(
            Column("system", "System"),
            Column("right", "Right answers to answerable questions", Unit.RATE),
            *(Column(f"cvr_{kind}", f"Answers to {kind.replace('_', ' ')} canaries", Unit.RATE) for kind in kinds),
            Column("q_bench", f"Score (right +1, wrong −{view.penalty_k.normalize():f}, declined 0)", Unit.POINTS),
        ),
        rows=tuple(
            (
                sample.system.title,
                _right(sample),
                *(violation_rate(sample, kind, strict=False, bounds=bounds) for kind in kinds),
                q_bench(sample, view.penalty_k, bounds=bounds),
            )
            for sample in found
        ),
    )


def _right(sample: Sample) -> Estimate:
    source: dict[str, int | str] = {"system": sample.system.ordinal, "stratum": str(Stratum.BENCHMARK)}
    found = rate(rate_items([cell for cell in sample.benchmark if cell.scored], lambda cell: cell.right is True))
    n = 0 if found is None else found.trials
    name = f"right/{sample.system.ordinal}"
    return estimate(name, found, Unit.RATE, n, method="Wilson at N_eff, clustered by source", source=source)


def _frequencies(sample: Sample, bounds: bool) -> Iterator[str]:
    name = sample.system.title
    yield f"{name}: of 100 questions that the documents answer, {_in_hundred(_right(sample), 'a right answer')}."
    if sample.system.traits.grounded:
        for kind in canary_kinds([sample], Stratum.CANARY):
            shown = _in_hundred(violation_rate(sample, kind, strict=False, bounds=bounds), "an answer")
            what = f"of 100 questions that the documents cannot answer ({kind.replace('_', ' ')})"
            yield f"{name}: {what}, {shown}."


def _in_hundred(value: Estimate, what: str) -> str:
    """``about 17 got an answer; 8 to 30 is plausible``."""
    if value.value is None:
        return f"how many got {what} is unknown ({value.reason})"
    about = f"about {_hundredths(value.value)} got {what}"
    if value.low is None or value.high is None:
        return f"{about}; too few questions to say what is plausible"
    return f"{about}; {_hundredths(value.low)} to {_hundredths(value.high)} is plausible"


def _hundredths(share: float) -> int:
    return round(share * 100)
