"""Freezing: from a spec and the installed plugins to a campaign in which nothing is left to chance.

Offline and deterministic: it reads documents, questions and prompts, builds the systems and labellers (which open
nothing), and checks what no single file can show: one id once, proofs over this corpus, a panel of three families.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from auditor import prompts
from auditor.analysis import Analysis, Contract
from auditor.canonical import Json, canonical, clean_text, digest
from auditor.corpus import Corpus, CorpusForm
from auditor.design import build_design, resolved
from auditor.errors import CorpusError, QuestionError, SpecError
from auditor.judge import ModelLabeller, VerdictKind
from auditor.label import LabelKind, Labeller
from auditor.model import ChatModel, Embedder, Limits, family_key
from auditor.penalty import PenaltyAnalysis
from auditor.prompts import Prompt
from auditor.protocol import Design
from auditor.question import CANARY_KINDS, Proof, ProofGrade, Question, QuestionKind, refuse_duplicates
from auditor.schedule import Cell, ordered
from auditor.stance import StanceKind

if TYPE_CHECKING:
    from auditor.plugins import Offered, Plugins
    from auditor.spec import LoadedSpec
    from auditor.spec.grammar import ConditionSpec, JudgeSpec, Spec
    from auditor.system import System

__all__ = ["Campaign", "Parent", "Seat", "answer_limits", "freeze", "read_corpus", "read_questions"]


@dataclass(frozen=True, slots=True)
class Parent:
    """The run that a child inherits from: its key, and what the child's protocol says of it."""

    run_key: bytes
    protocol_digest: str


@dataclass(frozen=True, slots=True)
class Seat:
    """One labeller of one kind. ``config`` is all that its labels depend on, beside the input."""

    kind: str
    ordinal: int
    name: str
    family: str
    labeller: Labeller
    endpoint: str
    config: Mapping[str, Json]


@dataclass(frozen=True)
class Campaign:
    """A frozen campaign with the live objects that carry it out. ``design`` is what gets hashed and committed."""

    spec: Spec
    design: Design
    run_key: bytes
    systems: tuple[System, ...]
    models: Mapping[str, ChatModel]
    corpora: tuple[Corpus, ...]
    questions: tuple[Question, ...]
    prompts: tuple[Prompt, ...]  # by condition
    contracts: tuple[Contract, ...]  # by condition
    settings: tuple[Mapping[str, str], ...]  # by condition
    pairs: tuple[tuple[int, int], ...]
    kinds: tuple[LabelKind, ...]  # in the order in which labels are given
    seats: tuple[Seat, ...]
    analyses: tuple[tuple[Analysis, Mapping[str, Json]], ...]
    used: tuple[Offered, ...]
    embedders: Mapping[str, Embedder] = field(default_factory=dict)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The schedule in the order of asking."""
        return ordered(_cells(self), self.spec.seed)

    @cached_property
    def corpus_digests(self) -> tuple[str, ...]:
        """Digest of each corpus variant, computed once."""
        return tuple(corpus.digest for corpus in self.corpora)

    @cached_property
    def system_inputs(self) -> tuple[Json, ...]:
        """What each system's answers depend on beside the question, as it was when the design was frozen."""
        return tuple(self.design.system_inputs(number) for number in range(len(self.systems)))

    def seats_of(self, kind: str) -> tuple[Seat, ...]:
        """The seats of one label kind, in order."""
        return tuple(seat for seat in self.seats if seat.kind == kind)


def _cells(campaign: Campaign) -> Iterable[Cell]:
    names = [condition.name for condition in campaign.spec.conditions]
    for q, question in enumerate(campaign.questions):
        for p, (_, condition) in enumerate(campaign.pairs):
            if question.conditions is None or names[condition] in question.conditions:
                for v, corpus in enumerate(campaign.corpora):
                    if corpus.variant in question.variants:
                        for form in range(len(question.forms)):
                            for repeat in range(campaign.spec.repeats):
                                yield Cell(p, v, q, form, repeat)


def freeze(loaded: LoadedSpec, plugins: Plugins, parent: Parent | None = None) -> Campaign:
    """The campaign of a spec. Raises ``ConfigurationError`` or ``PluginError``, which say what to change."""
    return _Freezer(loaded, plugins, parent).campaign()


def read_corpus(loaded: LoadedSpec, plugins: Plugins) -> Corpus:
    """The documents of a spec. Raises ``SpecError`` at the spec's line."""
    block = loaded.spec.corpus
    if block.source is None:
        return Corpus(CorpusForm.NONE, reason=block.none or "")
    source = plugins.corpus_source(block.source)()
    try:
        return source.load(loaded.parse_config(source.config_model, block.config, ("corpus",)), loaded.base)
    except CorpusError as error:
        raise loaded.error(("corpus",), str(error)) from error


def read_questions(loaded: LoadedSpec, plugins: Plugins, number: int) -> Sequence[Question]:
    """What one source of a spec's questions holds. Raises ``QuestionError`` with file and line."""
    block = loaded.spec.questions[number]
    source = plugins.question_source(block.source)()
    config = loaded.parse_config(source.config_model, block.config, ("questions", number))
    return source.load(config, loaded.base)


class _Freezer:
    """Reads each part of a spec once, keeping count of the plugins used."""

    def __init__(self, loaded: LoadedSpec, plugins: Plugins, parent: Parent | None) -> None:
        self.loaded, self.plugins, self.parent = loaded, plugins, parent
        self.spec = loaded.spec
        self.used: list[Offered] = []

    def campaign(self) -> Campaign:
        corpora = (read_corpus(self.loaded, self.plugins),)
        sources = [read_questions(self.loaded, self.plugins, number) for number in range(len(self.spec.questions))]
        self._used_sources()
        questions = _bound(self.loaded, sources, corpora)
        systems = tuple(self._system(number) for number in range(len(self.spec.systems)))
        embedding = {name for system in self.spec.systems for name in system.embedders.values()}
        models = {name: self._model(name) for name in self.spec.models if name not in embedding}
        embedders = {name: self._embedder(name) for name in self.spec.models if name in embedding}
        self._check_ports(models)
        kinds, seats = self._labels(models)
        _check_families(self.loaded, [seat for seat in seats if seat.kind == VerdictKind.name])
        prompts = tuple(self._prompt(condition) for condition in self.spec.conditions)
        campaign = Campaign(
            spec=self.spec,
            design=Design({}, {}),
            run_key=self.parent.run_key if self.parent else _run_key(self.spec.seed, questions),
            systems=systems,
            models=models,
            corpora=corpora,
            questions=questions,
            prompts=prompts,
            contracts=tuple(condition.contract or self.spec.contract for condition in self.spec.conditions),
            settings=tuple(dict(condition.tags) for condition in self.spec.conditions),
            pairs=self._pairs(),
            kinds=kinds,
            seats=seats,
            analyses=self._analyses(),
            used=tuple(self.used),
            embedders=embedders,
        )
        parent = None if self.parent is None else self.parent.protocol_digest
        return replace(campaign, design=build_design(campaign, self.loaded, parent))

    def _offered(self, hook: str, name: str) -> Offered:
        offered = self.plugins.find(hook, name)
        self.used.append(offered)
        return offered

    def _config(self, model: Any, raw: Mapping[str, Any], *where: str | int) -> Any:
        return None if model is None else self.loaded.parse_config(model, raw, where)

    def _used_sources(self) -> None:
        if self.spec.corpus.source is not None:
            self._offered("auditor_corpus_sources", self.spec.corpus.source)
        for block in self.spec.questions:
            self._offered("auditor_question_sources", block.source)

    def _system(self, number: int) -> System:
        block = self.spec.systems[number]
        self._offered("auditor_systems", block.kind)
        kind = self.plugins.system(block.kind)
        return kind(self._config(kind.config_model, block.config, "systems", number, "config"))

    def _model(self, name: str) -> ChatModel:
        block = self.spec.models[name]
        self._offered("auditor_chat_models", block.kind)
        kind: Any = self.plugins.chat_model(block.kind)
        model: ChatModel = kind(self._config(kind.config_model, block.config, "models", name, "config"))
        return model

    def _embedder(self, name: str) -> Embedder:
        block = self.spec.models[name]
        self._offered("auditor_embedders", block.kind)
        kind = self.plugins.embedder(block.kind)
        if kind.config_model is None and block.config:
            raise self.loaded.error(("models", name, "config"), f"embedder {block.kind!r} takes no configuration")
        return kind(self._config(kind.config_model, block.config, "models", name, "config"))

    def _check_ports(self, models: Mapping[str, ChatModel]) -> None:
        for number, system in enumerate(self.spec.systems):
            for port, name in system.models.items():
                if name not in models:
                    where = ("systems", number, "models", port)
                    raise self.loaded.error(where, f"{name!r} is an embedder, not a chat model", models)

    def _prompt(self, condition: ConditionSpec) -> Prompt:
        block = condition.prompt or self.spec.prompt
        if block.name is not None:
            return prompts.load(block.name)
        text = self.loaded.read_text(block.file or "", "prompt")
        return Prompt("file", 0, digest(clean_text(text)[0].encode()), text)

    def _labels(self, models: Mapping[str, ChatModel]) -> tuple[tuple[LabelKind, ...], tuple[Seat, ...]]:
        kinds: list[LabelKind] = [StanceKind(), VerdictKind()]
        seats = [self._stance_seat(models)]
        seats += [self._judge_seat(number, judge, models) for number, judge in enumerate(self.spec.panel.judges)]
        for block in self.spec.labels:
            self._offered("auditor_label_kinds", block.kind)
            kind = self.plugins.label_kind(block.kind)()
            labeller = kind.own_labeller()
            if labeller is None:
                raise SpecError(f"label kind {block.kind!r} brings no labeller of its own", file=str(self.loaded.path))
            kinds.append(kind)
            seats.append(_embedded(kind.name, 0, kind.name, labeller, f"label:{kind.name}", {"kind": kind.name}))
        return tuple(kinds), tuple(seats)

    def _stance_seat(self, models: Mapping[str, ChatModel]) -> Seat:
        block, kind = self.spec.stance, StanceKind.name
        if block.model is not None:
            return self._model_seat(kind, 0, block.model, block.model, models, "stance")
        self._offered("auditor_stance_classifiers", block.classifier or "")
        labeller = self._labeller(self.plugins.stance_classifier(block.classifier or ""), block.config, "stance")
        config = {"classifier": block.classifier, "config": resolved(labeller.config)}
        return _embedded(kind, 0, block.classifier or "", labeller, f"embedded:{block.classifier}", config)

    def _judge_seat(self, number: int, block: JudgeSpec, models: Mapping[str, ChatModel]) -> Seat:
        where = ("panel", "judges", number)
        if block.model is not None:
            return self._model_seat(VerdictKind.name, number, block.name, block.model, models, *where)
        self._offered("auditor_judges", block.judge or "")
        labeller = self._labeller(self.plugins.judge(block.judge or ""), block.config, *where)
        config = {"judge": block.judge, "config": resolved(labeller.config)}
        return _embedded(VerdictKind.name, number, block.name, labeller, f"embedded:{block.judge}", config)

    def _labeller(self, kind: type[Labeller], raw: Mapping[str, Any], *where: str | int) -> Labeller:
        return kind(self._config(kind.config_model, raw, *where, "config"))

    def _model_seat(
        self, kind: str, number: int, name: str, model: str, models: Mapping[str, ChatModel], *where: str | int
    ) -> Seat:
        if model not in models:
            raise self.loaded.error((*where, "model"), f"no model {model!r} under models", models)
        labeller = ModelLabeller(models[model], kind)
        config: Mapping[str, Json] = {
            "kind": self.spec.models[model].kind,
            "config": resolved(getattr(models[model], "config", None)),
            "inputs": dict(models[model].inputs),
            "prompts": [labeller.prompt.digest, labeller.repair.digest],
        }
        family = self.spec.models[model].family or labeller.traits.family
        return Seat(kind, number, name, family, labeller, f"model:{model}", config)

    def _pairs(self) -> tuple[tuple[int, int], ...]:
        names = [condition.name for condition in self.spec.conditions]
        pairs = []
        for s, system in enumerate(self.spec.systems):
            for name in system.conditions or names:
                if name not in names:
                    raise self.loaded.error(("systems", s, "conditions"), f"no condition {name!r}", names)
                pairs.append((s, names.index(name)))
        return tuple(pairs)

    def _analyses(self) -> tuple[tuple[Analysis, Mapping[str, Json]], ...]:
        found: list[tuple[Analysis, Mapping[str, Json]]] = [(PenaltyAnalysis(), {})]
        for number, block in enumerate(self.spec.analyses):
            self._offered("auditor_analyses", block.name)
            settings = self.loaded.frozen("analyses", number, "settings")
            found.append((self.plugins.analysis(block.name)(), settings if isinstance(settings, Mapping) else {}))
        return tuple(found)


def _embedded(
    kind: str, ordinal: int, name: str, labeller: Labeller, endpoint: str, config: Mapping[str, Json]
) -> Seat:
    return Seat(kind, ordinal, name, labeller.traits.family, labeller, endpoint, config)


def _bound(
    loaded: LoadedSpec, sources: Sequence[Sequence[Question]], corpora: Sequence[Corpus]
) -> tuple[Question, ...]:
    """Questions with unique ids, a reference for each benchmark question, a bound proof for each canary."""
    file = loaded.document.file
    lines = [loaded.line_of(f"questions[{number}]") for number in range(len(sources))]
    refuse_duplicates({f"{file}:{line}: source {n}": sources[n - 1] for n, line in enumerate(lines, start=1)})
    bound: list[Question] = []
    for line, questions in zip(lines, sources, strict=True):
        try:
            bound += [_checked(question, corpora, str(loaded.path)) for question in questions]
        except QuestionError as error:
            raise QuestionError(error.message, file=file, line=line) from error
    if not bound:
        raise QuestionError("there is no question; add a source", file=file)
    return tuple(bound)


def _checked(question: Question, corpora: Sequence[Corpus], spec: str) -> Question:
    if question.kind is QuestionKind.BENCHMARK and not question.references:
        raise QuestionError(f"question {question.id!r} has no reference, so no answer to it can be judged")
    if question.kind not in CANARY_KINDS:
        return question
    asked_in = [corpus for corpus in corpora if corpus.variant in question.variants]
    proofs = {c.variant: _bound_proof(question, question.proofs.get(c.variant), c, spec) for c in asked_in}
    return replace(question, proofs=proofs)


def _bound_proof(question: Question, proof: Proof | None, corpus: Corpus, spec: str) -> Proof:
    """The proof as far as it holds for ``corpus``. ``spec``: as the user named it, for the command to call."""
    prove = f"auditor prove {spec}"
    if proof is None:
        make = f"make it with: {prove}; or " if corpus.form is CorpusForm.GIVEN else ""
        raise QuestionError(
            f"canary {question.id!r} has no proof that its answer is in none of the documents; "
            f"{make}mark the canary as claimed, to have it reported apart as unproven"
        )
    if corpus.form is not CorpusForm.GIVEN:
        return replace(proof, grade=ProofGrade.CLAIMED)
    if proof.grade is not ProofGrade.CLAIMED and proof.corpus_digest != corpus.digest:
        raise QuestionError(
            f"the proof of canary {question.id!r} is over other documents than these; make it again with: {prove}"
        )
    return proof


def _check_families(loaded: LoadedSpec, seats: Sequence[Seat]) -> None:
    families: dict[str, str] = {}
    for seat in seats:
        family = family_key(seat.family)
        if family in families:
            raise loaded.error(
                ("panel", "judges", seat.ordinal),
                f"judges {families[family]!r} and {seat.name!r} are both of family {family!r}; "
                "each seat needs a family of its own",
                (),
            )
        families[family] = seat.name


def _run_key(seed: int, questions: Sequence[Question]) -> bytes:
    """The key of all keyed digests: from the seed and what is asked, so that equal campaigns have equal keys, and
    nobody who does not hold the questions can test a guess against them.
    """
    asked = [[q.id, [f.text for f in q.forms], list(q.references), list(q.aliases)] for q in questions]
    return hmac.new(f"rag-auditor {seed}".encode(), canonical(asked), hashlib.sha256).digest()


def answer_limits(spec: Spec) -> Limits:
    """What one answer may use: the same for every system."""
    return Limits(output_tokens=spec.limits.output_tokens, deadline_s=float(spec.limits.deadline_s))
