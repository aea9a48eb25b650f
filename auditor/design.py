"""The design of a campaign: its skeleton, and every text that the skeleton names by key.

Invariant: a text stands in ``texts`` and nowhere in the body, so that it can be withheld; what the body has is public.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import TYPE_CHECKING

from auditor.canonical import Json, canonical, clean_text, decimal_text, digest
from auditor.corpus import Corpus
from auditor.model import ChatModel, Embedder
from auditor.protocol import PROTOCOL_FORM, Design, traits_json
from auditor.question import Proof, Question

if TYPE_CHECKING:
    from auditor.freeze import Campaign, Seat
    from auditor.spec import LoadedSpec

__all__ = ["build_design", "model_key", "resolved"]


def build_design(campaign: Campaign, loaded: LoadedSpec, parent: str | None) -> Design:
    """The design of a campaign. ``parent``: protocol digest of the run that it inherits from."""
    return _Builder(campaign, loaded).design(parent)


class _Builder:
    """Collects texts while the body is written."""

    def __init__(self, campaign: Campaign, loaded: LoadedSpec) -> None:
        self.campaign, self.loaded, self.spec = campaign, loaded, campaign.spec
        self.texts: dict[str, str] = {}

    def design(self, parent: str | None) -> Design:
        campaign, spec = self.campaign, self.spec
        clusters = {name: number for number, name in enumerate(dict.fromkeys(q.cluster for q in campaign.questions))}
        body: dict[str, Json] = {
            "form": PROTOCOL_FORM,
            "name": spec.name,
            "seed": spec.seed,
            "repeats": spec.repeats,
            "penalty": self._penalty(),
            "limits": _block(self.loaded.frozen("limits")),
            "panel": {"repairs": spec.panel.repairs},
            "conditions": [self._condition(number) for number in range(len(spec.conditions))],
            "systems": [self._system(number) for number in range(len(spec.systems))],
            "models": [self._model(name) for name in sorted(spec.models)],
            "pairs": [list(pair) for pair in campaign.pairs],
            "variants": [self._corpus(number, corpus) for number, corpus in enumerate(campaign.corpora)],
            "questions": [
                self._question(number, question, clusters[question.cluster])
                for number, question in enumerate(campaign.questions)
            ],
            "label_kinds": [kind.name for kind in campaign.kinds],
            "seats": [self._seat(seat) for seat in campaign.seats],
            "analyses": [{"name": analysis.name, "settings": settings} for analysis, settings in campaign.analyses],
            "private": spec.corpus.private,
            "requirements": resolved(spec.requirements),
            "disclosure": _block(self.loaded.frozen("disclosure")),
            "parent": parent,
        }
        return Design(body, self.texts)

    def _text(self, key: str, value: str) -> str:
        self.texts[key] = clean_text(value)[0]
        return key

    def _json(self, key: str, value: Json) -> str:
        return self._text(key, canonical(value).decode())

    def _penalty(self) -> Json:
        penalty = self.spec.penalty
        return {
            "k": str(penalty.k),
            "sweep": [str(k) for k in sorted({*penalty.sweep, penalty.k})],
            "canary_share": None if penalty.canary_share is None else str(penalty.canary_share),
        }

    def _condition(self, number: int) -> Json:
        condition, prompt = self.spec.conditions[number], self.campaign.prompts[number]
        return {
            "name": condition.name,
            "tags": dict(condition.tags),
            "contract": self.campaign.contracts[number].value,
            "prompt": {"name": prompt.name, "texts": {"text": self._text(f"condition/{number}/prompt", prompt.text)}},
        }

    def _system(self, number: int) -> Json:
        block, system = self.spec.systems[number], self.campaign.systems[number]
        return {
            "name": block.name,
            "kind": block.kind,
            "release": block.release,
            "traits": traits_json(system.traits),
            "model_families": self._model_families(block.models.values()),
            "inputs": dict(system.inputs),
            "texts": {"config": self._json(f"system/{number}/config", self._system_config(number))},
        }

    def _model_families(self, names: Iterable[str]) -> Json:
        """Families of the models that a pipeline calls: a judge of one of them shares a model with the system."""
        return sorted({self.spec.models[name].family or self.campaign.models[name].traits.family for name in names})

    def _model(self, name: str) -> Json:
        model = self._live(name)
        traits = model.traits if isinstance(model, ChatModel) else None
        return {
            "kind": self.spec.models[name].kind,
            "inputs": dict(model.inputs),
            "metadata": dict(traits.metadata) if traits else {},
            "texts": {"config": self._json(model_key(name), self._model_config(name))},
        }

    def _system_config(self, number: int) -> Json:
        """All that a system's answers depend on: not its name or rates, which change no answer."""
        block = self.spec.systems[number]
        return {
            "config": resolved(self.campaign.systems[number].config),
            "models": {port: self._model_config(name) for port, name in block.models.items()},
            "embedders": {port: self._model_config(name) for port, name in block.embedders.items()},
        }

    def _live(self, name: str) -> ChatModel | Embedder:
        """The chat model or embedder under a name of ``models``."""
        models = self.campaign.models
        return models[name] if name in models else self.campaign.embedders[name]

    def _model_config(self, name: str) -> Json:
        block, model = self.spec.models[name], self._live(name)
        config = resolved(getattr(model, "config", None))
        return {"kind": block.kind, "family": block.family, "config": config, "inputs": dict(model.inputs)}

    def _corpus(self, number: int, corpus: Corpus) -> Json:
        manifest: Json = [[d.name, d.digest, d.size_bytes] for d in corpus.documents]
        return {
            "name": corpus.variant,
            "form": corpus.form.value,
            "reason": corpus.reason,
            "documents": len(corpus.documents),
            "texts": {"manifest": self._json(f"corpus/{number}/manifest", manifest)},
        }

    def _question(self, number: int, question: Question, cluster: int) -> Json:
        forms = {
            f"form{place}": self._text(f"question/{number}/{place}", form.text)
            for place, form in enumerate(question.forms)
        }
        return {
            "kind": question.kind.value,
            "cluster": cluster,
            "has_reference": bool(question.references),
            "tags": list(question.tags),
            "variants": list(question.variants),
            "conditions": None if question.conditions is None else list(question.conditions),
            "forms": [form.name for form in question.forms],
            "analyses": list(question.analyses),
            "proofs": {
                variant: {"grade": proof.grade.value, "date": proof.date, "prover": proof.prover}
                for variant, proof in question.proofs.items()
            },
            "texts": {**forms, "private": self._json(f"question/{number}/private", _private(question))},
        }

    def _seat(self, seat: Seat) -> Json:
        return {
            "kind": seat.kind,
            "ordinal": seat.ordinal,
            "name": seat.name,
            "family": seat.family,
            "texts": {"config": self._json(f"seat/{seat.kind}/{seat.ordinal}/config", dict(seat.config))},
        }


def resolved(config: object) -> Json:
    """A plugin's configuration as it took effect: variables by value, defaults filled in, secrets masked.

    Paths are left out, since they differ between machines; what is in the files is among a system's ``inputs``.
    """
    dump = getattr(config, "model_dump", None)
    return None if dump is None else _plain(dump(mode="python"))


def _plain(value: object) -> Json:
    if value is None or isinstance(value, (bool, int, str)):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, (float, Decimal)):
        return decimal_text(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items() if not isinstance(item, PurePath)}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value if not isinstance(item, PurePath)]
    return str(value)


def model_key(name: str) -> str:
    """Key of the text that holds a model's configuration: keys hold no names, which may be anything."""
    return f"model/{digest(name.encode())[7:23]}/config"


def _block(value: Json) -> Json:
    """What the spec says of a block; an absent block is an empty one."""
    return {} if value is None else value


def _private(question: Question) -> Mapping[str, Json]:
    """All that only the auditor may know of a question."""
    return {
        "id": question.id,
        "references": list(question.references),
        "aliases": list(question.aliases),
        "cluster": question.cluster,
        "gold_documents": list(question.gold_documents),
        "proofs": {variant: _proof(proof) for variant, proof in question.proofs.items()},
    }


def _proof(proof: Proof) -> Json:
    return {
        "grade": proof.grade.value,
        "corpus_digest": proof.corpus_digest,
        "date": proof.date,
        "prover": proof.prover,
        "steps": [dict(step) for step in proof.steps],
    }
