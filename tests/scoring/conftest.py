"""Views of small audits, written as states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from auditor.analysis import (
    AnalysisView,
    Contract,
    LabellerRow,
    LabelRow,
    QuestionRow,
    SystemRow,
    TrialRow,
    TrialState,
)
from auditor.label import NonLabel, Vote
from auditor.model import TransportOutcome
from auditor.question import ProofGrade, QuestionKind
from auditor.system import EvidenceSupport, SystemTraits

JUDGES = ("alpha", "beta", "gamma")
_OUTCOMES = {
    TrialState.EMPTY: TransportOutcome.EMPTY,
    TrialState.BLOCKED: TransportOutcome.BLOCKED,
    TrialState.TRUNCATED: TransportOutcome.TRUNCATED,
    TrialState.FAILED: TransportOutcome.FAILED,
    TrialState.QUOTA_EXHAUSTED: TransportOutcome.QUOTA_EXHAUSTED,
}


@dataclass(frozen=True)
class Asked:
    """One question with, for each system, the states of its repeats."""

    states: Mapping[str, Sequence[str]]
    kind: QuestionKind = QuestionKind.BENCHMARK
    proof: ProofGrade | None = None
    cluster: int | None = None
    has_reference: bool = True
    votes: Mapping[tuple[str, int], Sequence[str | None]] = field(default_factory=dict)  # (system, repeat) → votes


class ViewBuilder:
    """Builds a view; what a test does not name is the plainest thing."""

    def __call__(
        self,
        questions: Sequence[Asked],
        *,
        baselines: Sequence[str] = (),
        conflicts: Mapping[str, tuple[str, ...]] | None = None,
        simulated: Mapping[str, str] | None = None,
        k: str = "4",
        sweep: Sequence[str] = ("1", "2", "4", "9"),
        canary_share: str | None = None,
        contract: Contract = Contract.DOCUMENTS_ONLY,
        judges: Sequence[str] = JUDGES,
    ) -> AnalysisView:
        names = list(dict.fromkeys(name for asked in questions for name in asked.states))
        systems = tuple(
            SystemRow(
                ordinal,
                name,
                "stub",
                contract,
                SystemTraits(
                    grounded=name not in baselines,
                    evidence=EvidenceSupport.NONE,
                    simulated=(simulated or {}).get(name, ""),
                ),
                role_conflicts=(conflicts or {}).get(name, ()),
            )
            for ordinal, name in enumerate(names)
        )
        labels: dict[str, LabelRow] = {}
        trials = [
            self._trial(labels, asked, number, names.index(name), name, repeat, state)
            for number, asked in enumerate(questions)
            for name, states in asked.states.items()
            for repeat, state in enumerate(states)
        ]
        return AnalysisView(
            systems=systems,
            questions=tuple(self._question(asked, number) for number, asked in enumerate(questions)),
            labellers=tuple(LabellerRow("verdict", i, name, f"family-{name}") for i, name in enumerate(judges)),
            trials=tuple(trials),
            labels={"verdict": labels},
            penalty_k=Decimal(k),
            penalty_sweep=tuple(map(Decimal, sweep)),
            canary_share=None if canary_share is None else Decimal(canary_share),
            repeats=max((len(s) for asked in questions for s in asked.states.values()), default=1),
            seed=7,
        )

    def _question(self, asked: Asked, number: int) -> QuestionRow:
        return QuestionRow(
            number,
            asked.kind,
            number if asked.cluster is None else asked.cluster,
            asked.has_reference,
            proofs={} if asked.proof is None else {"base": asked.proof},
        )

    def _trial(
        self,
        labels: dict[str, LabelRow],
        asked: Asked,
        number: int,
        system: int,
        name: str,
        repeat: int,
        state: str,
    ) -> TrialRow:
        found = TrialState(state)
        votes = asked.votes.get((name, repeat))
        if votes is None and found in (TrialState.CORRECT, TrialState.PARTIAL, TrialState.INCORRECT):
            votes = (str(found),) * 3
        refers = {}
        if votes is not None:
            key = f"{number:016x}{system:08x}{repeat:08x}"
            cast = tuple(
                Vote(seat, vote) if vote is not None else Vote(seat, None, NonLabel.UNAVAILABLE)
                for seat, vote in enumerate(votes)
            )
            ordered = sorted(vote for vote in votes if vote is not None)
            value = ordered[0] if len(set(votes)) == 1 else None if None in votes else "partial"
            labels[key] = LabelRow("verdict", key, cast, cast, value)
            refers = {"verdict": key}
        not_asked = found is TrialState.NOT_ASKED
        return TrialRow(
            f"ask/{system}.0.{number}.0.{repeat}",
            system,
            "base",
            number,
            "plain",
            repeat,
            None if not_asked else _OUTCOMES.get(found, TransportOutcome.TEXT),
            found,
            detail="stopped" if not_asked else "timeout" if found is TrialState.FAILED else "",
            labels=refers,
        )


@pytest.fixture(scope="session")
def view_of() -> Callable[..., AnalysisView]:
    """The builder."""
    return ViewBuilder()


@pytest.fixture(scope="session")
def asked() -> type[Asked]:
    """One question."""
    return Asked


@pytest.fixture(scope="session")
def counted() -> Callable[..., list[Asked]]:
    """Single-run benchmark questions with given totals: ``counted(a=(942, 55, 3), b=(926, 44, 30))``."""

    def build(**totals: tuple[int, int, int]) -> list[Asked]:
        runs = {
            name: ["correct"] * right + ["incorrect"] * wrong + ["abstained"] * declined
            for name, (right, wrong, declined) in totals.items()
        }
        length = {len(run) for run in runs.values()}
        assert len(length) == 1
        names = list(runs)
        return [
            Asked({name: [state] for name, state in zip(names, states, strict=True)})
            for states in zip(*runs.values(), strict=True)
        ]

    return build
