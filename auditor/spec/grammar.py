"""The grammar of audit.yaml: one pydantic model a block, each field with the sentence that docs and editors show.

Invariant: an unknown key is an error. What a plugin's own config may hold is the plugin's to say (``parse_config``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from auditor.analysis import Contract
from auditor.spec.document import NUMBER

__all__ = [
    "AnalysisSpec",
    "ConditionSpec",
    "CorpusSpec",
    "DisclosureSpec",
    "EndpointLimitsSpec",
    "JudgeSpec",
    "LabelSpec",
    "LimitsSpec",
    "ModelSpec",
    "PanelSpec",
    "PenaltySpec",
    "PromptSpec",
    "QuestionsSpec",
    "RequirementsSpec",
    "Spec",
    "StanceSpec",
    "SystemSpec",
]

DEFAULT_CONDITION = "default"


def _plain_number(value: Any) -> Any:
    """true is 1 to Python, and ``012`` and ``1_000`` are numbers; none of them is one to an author.

    Text is let through where it reads as a number does in YAML: a variable's value is text.
    """
    if isinstance(value, bool) or (isinstance(value, str) and not re.match(NUMBER, value[:50])):
        raise PydanticCustomError("number_expected", "expected a number")
    return value


def _displayable(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise PydanticCustomError("name", "expected a name without control characters or blanks around it")
    return text


def _tag_text(value: Any) -> Any:
    """Tags are text to a system; ``k: 5`` and ``scenario: true`` are written as YAML writes them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return format(value, "f") if isinstance(value, Decimal) else str(value) if isinstance(value, int) else value


Name = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_displayable)]
# Bounds stand inside the validator, so that the JSON Schema shows them.
_Plain = BeforeValidator(_plain_number)
Natural = Annotated[int, Field(ge=0, lt=2**53), _Plain]
Positive = Annotated[int, Field(ge=1, lt=2**53), _Plain]
Slots = Annotated[int, Field(ge=1, le=1024), _Plain]
Repeats = Annotated[int, Field(ge=1, le=1000), _Plain]
Repairs = Annotated[int, Field(ge=0, le=10), _Plain]
Attempts = Annotated[int, Field(ge=1, le=20), _Plain]
Penalty = Annotated[Decimal, Field(ge=0, le=1000), _Plain]
Share = Annotated[Decimal, Field(ge=0, le=1), _Plain]
PartShare = Annotated[Decimal, Field(gt=0, lt=1), _Plain]
Amount = Annotated[Decimal, Field(ge=0), _Plain]
Seconds = Annotated[Decimal, Field(gt=0), _Plain]
CallSeconds = Annotated[Decimal, Field(gt=0, le=86_400), _Plain]
Tag = Annotated[str, BeforeValidator(_tag_text, json_schema_input_type=str | int | float | bool), Field(max_length=200)]
Config = Mapping[str, Any]


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, allow_inf_nan=False)


class _Source(BaseModel):
    """A block whose further keys belong to the plugin that it names."""

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)

    @property
    def config(self) -> Mapping[str, Any]:
        """The keys that are the source's own."""
        return dict(self.model_extra or {})


class CorpusSpec(_Source):
    """The documents that every system is given, or why there are none."""

    source: Name | None = Field(
        default=None, description="Name of the corpus source. Its own settings stand beside it."
    )
    none: str | None = Field(
        default=None, min_length=1, description="Instead of a source: why no documents are at hand (recorded answers)."
    )
    private: bool = Field(default=False, description="Keep texts and document names out of reports unless asked for.")

    @model_validator(mode="after")
    def _source_or_reason(self) -> CorpusSpec:
        if (self.source is None) == (self.none is None):
            raise PydanticCustomError("one_of", 'expected either "source" or "none" (with the reason)')
        if self.none is not None and self.model_extra:
            extra = sorted(self.model_extra)[0]
            raise PydanticCustomError("one_of", 'key "{key}" belongs to a source, and "none" has none', {"key": extra})
        return self


class QuestionsSpec(_Source):
    """One source of questions."""

    source: Name = Field(description="Name of the question source. Its own settings stand beside it.")


class PromptSpec(_Block):
    """The instructions that every system gets, word for word the same."""

    name: Name | None = Field(default=None, description="A prompt that ships with the auditor.")
    file: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="Path of a text file, against the spec's folder."
    )

    @model_validator(mode="after")
    def _name_or_file(self) -> PromptSpec:
        if (self.name is None) == (self.file is None):
            raise PydanticCustomError("one_of", "expected the name of a shipped prompt, or a file (file: PATH)")
        return self


def _prompt(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


Prompt = Annotated[PromptSpec, BeforeValidator(_prompt, json_schema_input_type=str | PromptSpec)]


class ConditionSpec(_Block):
    """One setting of what a study varies. Each system is asked under each condition that it lists."""

    name: Name = Field(description="Name of the condition, unique.")
    tags: Mapping[Name, Tag] = Field(default={}, description="Settings that systems are told: retrieval, k, thinking …")
    contract: Contract | None = Field(default=None, description="Contract under this condition, where it differs.")
    prompt: Prompt | None = Field(default=None, description="Prompt under this condition, where it differs.")


class EndpointLimitsSpec(_Block):
    """What the endpoint allows. Deadline and retries are the same for all, so they stand under the spec's limits."""

    slots: Slots | None = Field(default=None, description="Calls at a time; the spec's limits.slots by default.")
    requests_per_minute: Positive | None = Field(default=None, description="Requests a minute, at most.")
    tokens_per_minute: Positive | None = Field(default=None, description="Tokens a minute, at most.")


class SystemSpec(_Block):
    """One system under audit, in one configuration."""

    name: Name = Field(description="Name of the system in every table, unique.")
    kind: Name = Field(description="Kind of system, as a plugin offers it: see auditor plugins.")
    release: Name | None = Field(
        default=None,
        description="Commit or version of a product that changes behind an unchanged spec; part of the design.",
    )
    config: Config = Field(default_factory=dict, description="Settings of this kind of system.")
    conditions: Annotated[tuple[Name, ...], Field(min_length=1)] | None = Field(
        default=None, description="Conditions it is asked under; all of the spec's by default."
    )
    limits: EndpointLimitsSpec = Field(default=EndpointLimitsSpec(), description="Limits of its endpoint.")
    models: Mapping[Name, Name] = Field(
        default={}, description="Chat models it uses: its port's name to a name under models."
    )
    embedders: Mapping[Name, Name] = Field(
        default={}, description="Embedders it uses: its port's name to a name under models."
    )


class ModelSpec(_Block):
    """A chat model or embedder that judges, classifiers and pipelines refer to by name."""

    kind: Name = Field(description="Kind of model, as a plugin offers it: see auditor plugins.")
    family: Name | None = Field(
        default=None, description="Lineage of the model (not its host), where its kind cannot tell. Judges need three."
    )
    config: Config = Field(default_factory=dict, description="Settings of this kind of model.")
    limits: EndpointLimitsSpec = Field(default=EndpointLimitsSpec(), description="Limits of its endpoint.")


class StanceSpec(_Block):
    """Who says whether a text answers, abstains or denies."""

    classifier: Name | None = Field(default=None, description="An embedded classifier, as a plugin offers it.")
    model: Name | None = Field(default=None, description="Instead of a classifier: a name under models.")
    config: Config = Field(default_factory=dict, description="Settings of the classifier.")

    @model_validator(mode="after")
    def _classifier_or_model(self) -> StanceSpec:
        if (self.classifier is None) == (self.model is None):
            raise PydanticCustomError("one_of", 'expected either "classifier" or "model"')
        return self


class JudgeSpec(_Block):
    """One seat of the panel."""

    name: Name = Field(description="Name of the seat, unique.")
    judge: Name | None = Field(default=None, description="An embedded judge, as a plugin offers it.")
    model: Name | None = Field(default=None, description="Instead of an embedded judge: a name under models.")
    config: Config = Field(default_factory=dict, description="Settings of the embedded judge.")

    @model_validator(mode="after")
    def _judge_or_model(self) -> JudgeSpec:
        if (self.judge is None) == (self.model is None):
            raise PydanticCustomError("one_of", 'expected either "judge" or "model"')
        return self


class PanelSpec(_Block):
    """The blind panel. A verdict is the median vote of all its seats."""

    judges: Annotated[tuple[JudgeSpec, ...], Field(min_length=3, max_length=15)] = Field(
        description="An odd number of judges, at least three, each of another model family."
    )
    repairs: Repairs = Field(
        default=3, description="How often a judge whose vote is missing or unreadable is asked again."
    )

    @model_validator(mode="after")
    def _odd(self) -> PanelSpec:
        if len(self.judges) % 2 == 0:
            raise PydanticCustomError(
                "odd_panel", "expected an odd number of judges, found {count}", {"count": len(self.judges)}
            )
        return self


class LabelSpec(_Block):
    """A label kind beside stance and verdict."""

    kind: Name = Field(description="Label kind, as a plugin offers it.")
    config: Config = Field(default_factory=dict, description="Settings of the label kind.")


def _label(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


class AnalysisSpec(_Block):
    """An analysis beside the penalty analysis."""

    name: Name = Field(description="Analysis, as a plugin offers it.")
    settings: Config = Field(default_factory=dict, description="Settings of the analysis.")


def _analysis(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


Label = Annotated[LabelSpec, BeforeValidator(_label, json_schema_input_type=str | LabelSpec)]
Analysis = Annotated[AnalysisSpec, BeforeValidator(_analysis, json_schema_input_type=str | AnalysisSpec)]


class PenaltySpec(_Block):
    """The penalty-aware score (METHODS §2): right +1, wrong −k, abstained 0."""

    k: Penalty = Field(
        default=Decimal(4), description="Penalty of a wrong answer; 4 means answering pays from p = 0.8 on."
    )
    sweep: Annotated[tuple[Penalty, ...], Field(min_length=1, max_length=50)] = Field(
        default=(Decimal(1), Decimal(2), Decimal(4), Decimal(9)),
        description="Further k under which systems are compared.",
    )
    canary_share: Share | None = Field(
        default=None, description="Share of questions that the documents cannot answer where the product will be used."
    )


class LimitsSpec(_Block):
    """The same for every system: equal treatment is a rule of validity."""

    slots: Slots = Field(default=8, description="Calls to one endpoint at a time.")
    deadline_s: CallSeconds = Field(default=Decimal(120), description="Seconds after which a call is given up.")
    attempts: Attempts = Field(
        default=5, description="Attempts of a call that fails for technical reasons, the first one included."
    )
    output_tokens: Positive | None = Field(
        default=1024, description="Output cap of an answer in tokens; null leaves the vendor's own."
    )
    run_deadline_s: Seconds | None = Field(default=None, description="Seconds after which a run asks nothing more.")
    max_cost_usd: Amount | None = Field(default=None, description="US dollars after which a run asks nothing more.")


class DisclosureSpec(_Block):
    """Whose audit this is. Needed for signing."""

    run_by: str | None = Field(default=None, description="Who runs the audit.")
    on_behalf_of: str | None = Field(default=None, description="For whom.")
    paid_by: str | None = Field(default=None, description="Who pays for it.")
    conflicts: str | None = Field(default=None, description="Conflicts of interest.")
    access: str | None = Field(default=None, description="How access to the systems was got.")


class RequirementsSpec(_Block):
    """What a system has to keep, fixed before the run. Decided at 95 % confidence: met, not met, or cannot tell."""

    invented_answers_at_most: PartShare | None = Field(
        default=None, description="Largest share of unanswerable questions that may get an answer, a kind of canary."
    )
    right_answers_at_least: PartShare | None = Field(
        default=None, description="Smallest share of answerable questions that must get a right answer."
    )
    latency_p95_ms_at_most: Seconds | None = Field(
        default=None, description="Milliseconds within which 95 of 100 answers must come."
    )
    cost_per_answer_usd_at_most: Amount | None = Field(
        default=None, description="US dollars that an answer may cost on average."
    )


class Spec(_Block):
    """An audit: which systems are asked which questions over which documents, and who judges the answers."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9-]{0,40}$",
        description="Name of the audit and of its run folders: small letters, digits and hyphens, at most 41.",
    )
    seed: Natural = Field(description="Seed of the question order and of all resampling.")
    repeats: Repeats = Field(description="How often each question is asked.")
    corpus: CorpusSpec = Field(description="The documents.")
    questions: Annotated[tuple[QuestionsSpec, ...], Field(min_length=1)] = Field(description="Sources of questions.")
    contract: Contract = Field(description="What systems are told they may answer from.")
    prompt: Prompt = Field(description="Name of a shipped prompt, or {file: PATH}.")
    conditions: Annotated[tuple[ConditionSpec, ...], Field(min_length=1)] = Field(
        default=(ConditionSpec(name=DEFAULT_CONDITION),),
        description="Settings that the study varies; one without tags by default.",
    )
    systems: Annotated[tuple[SystemSpec, ...], Field(min_length=1)] = Field(description="The systems under audit.")
    models: Mapping[Name, ModelSpec] = Field(default={}, description="Models that the other blocks refer to, by name.")
    stance: StanceSpec = Field(description="The stance classifier.")
    panel: PanelSpec = Field(description="The panel of judges.")
    labels: tuple[Label, ...] = Field(default=(), description="Label kinds beside stance and verdict.")
    analyses: tuple[Analysis, ...] = Field(default=(), description="Analyses beside the penalty analysis.")
    penalty: PenaltySpec = Field(default=PenaltySpec(), description="The penalty-aware score.")
    limits: LimitsSpec = Field(default=LimitsSpec(), description="Limits that hold for every call.")
    requirements: RequirementsSpec = Field(
        default=RequirementsSpec(), description="What a system has to keep; the first page says whether it does."
    )
    disclosure: DisclosureSpec | None = Field(default=None, description="Whose audit this is.")
