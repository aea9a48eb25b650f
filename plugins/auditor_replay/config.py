"""The mapping of a recording: which rows are one system, and what their columns hold.

Invariant: a column that is a recorded label is nothing else.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from auditor_replay.recording import Scalar

__all__ = ["RecordedOutcome", "ReplayConfig", "UsageColumns"]


class RecordedOutcome(StrEnum):
    """What a value of the outcome column means."""

    TEXT = "text"
    EMPTY = "empty"
    BLOCKED = "blocked"
    TRUNCATED = "truncated"
    FAILED = "failed"


class UsageColumns(BaseModel):
    """Columns that hold tokens as the vendor reported them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input_tokens: str | None = None
    output_tokens: str | None = None
    reasoning_tokens: str | None = None
    cached_tokens: str | None = None
    tool_tokens: str | None = None


class ReplayConfig(BaseModel):
    """Which rows of a recording are this system, and what their columns hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path = Field(description="The recording: JSON Lines, relative to the spec.")
    select: dict[str, Scalar] = Field(default={}, description="Rows that are this system: column and value.")
    question: str = Field(description="Column of the question's text.")
    answer: str = Field(description="Column of the answer's text.")
    grounded: bool = Field(description="Whether the product promises to answer from the documents.")
    family: str | None = Field(default=None, description="Lineage of its model, when known.")
    memory: bool = Field(default=True, description="Whether it could know answers that the documents do not hold.")
    house_phrases: tuple[str, ...] = Field(
        default=(), description="Phrases that would tell a judge whose answer it is."
    )
    knowledge_cutoff: str | None = Field(default=None, description="Date of the model's last knowledge, when known.")
    metadata: dict[str, str] = Field(default={}, description="Release month, model line, parameters.")
    latency_ms: str | None = Field(default=None, description="Column of the recorded latency in milliseconds.")
    time: str | None = Field(default=None, description="Column of the time of the answer.")
    model: str | None = Field(default=None, description="Column of the model that the vendor named.")
    request_id: str | None = Field(default=None, description="Column of the vendor's request id.")
    finish_reason: str | None = Field(default=None, description="Column of the finish reason.")
    cost_usd: str | None = Field(default=None, description="Column of what the vendor billed, in US dollars.")
    usage: UsageColumns = Field(default=UsageColumns(), description="Columns of tokens.")
    citations: str | None = Field(default=None, description="Column of a list of cited documents (names or numbers).")
    chunks: str | None = Field(
        default=None, description="Column of a list of passages (text, or {text, document, score})."
    )
    outcome: str | None = Field(default=None, description="Column that says how the call ended.")
    outcomes: dict[str, RecordedOutcome] = Field(
        default={}, description="What each of its values means (null: as 'null')."
    )
    labels: dict[str, str] = Field(default={}, description="Recorded labels: name and column.")

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if (self.outcome is None) != (not self.outcomes):
            raise ValueError("outcome and outcomes go together")
        shared = {*self.labels.values()} & {*self.answer_columns}
        if shared:
            raise ValueError(f"column {sorted(shared)[0]!r} is a label and so cannot be anything else")
        return self

    @property
    def answer_columns(self) -> tuple[str, ...]:
        """All mapped columns but those of labels."""
        single = (self.question, self.answer, self.latency_ms, self.time, self.model, self.request_id)
        more = (self.finish_reason, self.cost_usd, self.citations, self.chunks, self.outcome)
        usage = self.usage.model_dump().values()
        return tuple(dict.fromkeys(column for column in (*single, *more, *usage, *self.select) if column is not None))
