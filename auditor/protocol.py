"""The protocol: the frozen campaign as it stands in the ledger, and how it is read back.

The published part is the *skeleton*: everything that numbers depend on, with each text (question, reference, prompt,
configuration, document name) replaced by the commitment of a text entry, so that texts can be withheld.
Invariant: ``design_digest`` (local, over the texts themselves) is the same for equal designs; the published digest is
that of the skeleton with its salted commitments and differs between runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from typing import Any

from auditor.analysis import Contract, LabellerRow, QuestionRow, SystemRow
from auditor.canonical import Json, canonical, digest
from auditor.model import family_key
from auditor.question import ProofGrade, QuestionKind
from auditor.requirement import Demand, demands
from auditor.schedule import Cell, Pair, ordered
from auditor.system import EvidenceSupport, SystemTraits

__all__ = ["PROTOCOL_FORM", "Design", "Skeleton", "commit_texts", "traits_json"]

PROTOCOL_FORM = 1


@dataclass(frozen=True, slots=True)
class Design:
    """A campaign before it is committed: the skeleton with text *keys* where commitments will stand, and the texts."""

    body: Mapping[str, Json]
    texts: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Equal for equal designs, on any machine; names the run folder. Local: it depends on guessable text."""
        return digest(canonical([self.body, {key: digest(text.encode()) for key, text in self.texts.items()}]))

    def system_inputs(self, number: int) -> Json:
        """Kind, configuration and input files of one system, but not its name."""
        systems: Any = self.body["systems"]
        system = systems[number]
        return {
            "kind": system["kind"],
            "release": system["release"],
            "config": self.texts[system["texts"]["config"]],
            "inputs": system["inputs"],
        }


def commit_texts(value: Json, commitment: Callable[[str], str]) -> Json:
    """``value`` with each text key under a ``texts`` object replaced by its commitment."""
    if isinstance(value, Mapping):
        return {
            name: {role: commitment(str(key)) for role, key in item.items()}
            if name == "texts" and isinstance(item, Mapping)
            else commit_texts(item, commitment)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [commit_texts(item, commitment) for item in value]
    return value


def traits_json(traits: SystemTraits) -> dict[str, Json]:
    """Traits as a body holds them."""
    plain = asdict(traits)
    return {name: list(item) if isinstance(item, tuple) else item for name, item in plain.items()} | {
        "evidence": traits.evidence.value
    }


def _traits(body: Mapping[str, Any]) -> SystemTraits:
    known = {field.name for field in fields(SystemTraits)}
    values: dict[str, Any] = {
        name: tuple(item) if isinstance(item, list) else item for name, item in body.items() if name in known
    }
    return SystemTraits(**(values | {"evidence": EvidenceSupport(body["evidence"])}))


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The protocol entry's body, read leniently: what a later version added is passed over."""

    body: Mapping[str, Any]

    @property
    def seed(self) -> int:
        """The seed of schedule, shuffles and resampling."""
        return int(self.body["seed"])

    @property
    def repeats(self) -> int:
        """Repeats of each question, m."""
        return int(self.body["repeats"])

    @property
    def penalty_k(self) -> Decimal:
        """The main k."""
        return Decimal(self.body["penalty"]["k"])

    @property
    def penalty_sweep(self) -> tuple[Decimal, ...]:
        """The swept k, the main one among them."""
        return tuple(Decimal(k) for k in self.body["penalty"]["sweep"])

    @property
    def canary_share(self) -> Decimal | None:
        """The declared share of canaries for Q_mixed; None when none is declared."""
        share = self.body["penalty"].get("canary_share")
        return None if share is None else Decimal(share)

    @property
    def requirements(self) -> tuple[Demand, ...]:
        """What systems have to keep, as it was fixed before the run."""
        return demands(self.body.get("requirements") or {})

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the corpus variants."""
        return tuple(variant["name"] for variant in self.body["variants"])

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """System × condition pairs."""
        conditions = self.body["conditions"]
        return tuple(Pair(s, c, conditions[c]["name"]) for s, c in self.body["pairs"])

    def systems(self) -> tuple[SystemRow, ...]:
        """One row a pair, with its role conflicts."""
        conditions, several = self.body["conditions"], len(self.body["conditions"]) > 1
        rows = []
        for ordinal, pair in enumerate(self.pairs):
            system, condition = self.body["systems"][pair.system], conditions[pair.condition]
            name = f"{system['name']} × {condition['name']}" if several else system["name"]
            traits = _traits(system["traits"])
            rows.append(
                SystemRow(
                    ordinal=ordinal,
                    name=name,
                    kind=system["kind"],
                    contract=Contract(condition["contract"]),
                    traits=traits,
                    condition=dict(condition["tags"]),
                    role_conflicts=self._conflicts(traits, system.get("model_families", ())),
                    system=system["name"],
                    condition_name=condition["name"],
                )
            )
        return tuple(rows)

    def _conflicts(self, traits: SystemTraits, models: Iterable[str]) -> tuple[str, ...]:
        """Seats that share a family with a system's generator or with a model that it calls (METHODS §2, Panel)."""
        own = {family_key(family) for family in (traits.family, *models) if family is not None}
        return tuple(f"{seat.kind}:{seat.name}" for seat in self.labellers() if family_key(seat.family) in own)

    def questions(self) -> tuple[QuestionRow, ...]:
        """One row a question, without wording."""
        return tuple(
            QuestionRow(
                ordinal=ordinal,
                kind=QuestionKind(question["kind"]),
                cluster=int(question["cluster"]),
                has_reference=bool(question["has_reference"]),
                tags=tuple(question["tags"]),
                proofs={variant: ProofGrade(proof["grade"]) for variant, proof in question["proofs"].items()},
                analyses=tuple(question["analyses"]),
            )
            for ordinal, question in enumerate(self.body["questions"])
        )

    def forms(self, question: int) -> tuple[str, ...]:
        """Names of the forms of a question."""
        return tuple(self.body["questions"][question]["forms"])

    def labellers(self) -> tuple[LabellerRow, ...]:
        """Every seat of every label kind."""
        return tuple(
            LabellerRow(seat["kind"], int(seat["ordinal"]), seat["name"], seat["family"]) for seat in self.body["seats"]
        )

    def seats(self, kind: str) -> tuple[LabellerRow, ...]:
        """The seats of one kind, in order."""
        return tuple(seat for seat in self.labellers() if seat.kind == kind)

    @property
    def label_kinds(self) -> tuple[str, ...]:
        """Kinds of label in the order they are given."""
        return tuple(self.body["label_kinds"])

    @property
    def analyses(self) -> Mapping[str, Mapping[str, Json]]:
        """Analyses with their settings, the core's own first."""
        return {analysis["name"]: analysis["settings"] for analysis in self.body["analyses"]}

    def cells(self) -> tuple[Cell, ...]:
        """The schedule, in the order in which cells are asked."""
        pairs, variants = self.pairs, self.variants
        cells = []
        for number, question in enumerate(self.body["questions"]):
            allowed = question["conditions"]
            for p, pair in enumerate(pairs):
                if allowed is None or pair.condition_name in allowed:
                    for v, variant in enumerate(variants):
                        if variant in question["variants"]:
                            cells += [
                                Cell(p, v, number, form, repeat)
                                for form in range(len(question["forms"]))
                                for repeat in range(self.repeats)
                            ]
        return ordered(cells, self.seed)
