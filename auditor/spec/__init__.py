"""The spec: audit.yaml at the door. What gets past it is typed, frozen and complete."""

from __future__ import annotations

from auditor.spec.document import Document
from auditor.spec.grammar import (
    AnalysisSpec,
    ConditionSpec,
    CorpusSpec,
    DisclosureSpec,
    EndpointLimitsSpec,
    JudgeSpec,
    LabelSpec,
    LimitsSpec,
    ModelSpec,
    PanelSpec,
    PenaltySpec,
    PromptSpec,
    QuestionsSpec,
    RequirementsSpec,
    Spec,
    StanceSpec,
    SystemSpec,
)
from auditor.spec.installed import check_configs, check_names, installed_names
from auditor.spec.loading import LoadedSpec, Place, load_spec, parse_config
from auditor.spec.reference import Known
from auditor.spec.schema import schema

__all__ = [
    "AnalysisSpec",
    "ConditionSpec",
    "CorpusSpec",
    "DisclosureSpec",
    "Document",
    "EndpointLimitsSpec",
    "JudgeSpec",
    "Known",
    "LabelSpec",
    "LimitsSpec",
    "LoadedSpec",
    "ModelSpec",
    "PanelSpec",
    "PenaltySpec",
    "Place",
    "PromptSpec",
    "QuestionsSpec",
    "RequirementsSpec",
    "Spec",
    "StanceSpec",
    "SystemSpec",
    "check_configs",
    "check_names",
    "installed_names",
    "load_spec",
    "parse_config",
    "schema",
]
