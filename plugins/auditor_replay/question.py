"""``recording``: the distinct questions of a recording, one for each id.

Invariant: rows of one id agree in every mapped column; what is not mapped is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from auditor.errors import QuestionError
from auditor.path import local_path, shown_path
from auditor.question import BASE_VARIANT, CANARY_KINDS, Form, Proof, ProofGrade, Question, QuestionKind
from auditor.source import QuestionSource
from auditor_replay.recording import Row, Scalar, read_rows

__all__ = ["RecordingConfig", "RecordingSource"]


class RecordingConfig(BaseModel):
    """What the columns of a recording say of its questions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path = Field(description="The recording: JSON Lines, relative to the spec.")
    select: dict[str, Scalar] = Field(default={}, description="Rows to read: column and value; all when empty.")
    id: str = Field(description="Column of the question's id.")
    question: str = Field(description="Column of its text.")
    reference: str = Field(description="Column of the right answer.")
    cluster: str | None = Field(default=None, description="Column of its source; without it, each question is its own.")
    tags: tuple[str, ...] = Field(default=(), description="Columns whose values become tags, as column:value.")
    canary: str | None = Field(
        default=None, description="Column that claims (true or false) that no document answers it."
    )
    canary_kind: QuestionKind = Field(default=QuestionKind.KNOWLEDGE_GAP, description="Kind of the claimed canaries.")

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.canary_kind not in CANARY_KINDS:
            raise ValueError(f"canary_kind is one of {', '.join(sorted(CANARY_KINDS))}")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """All mapped columns."""
        named = (self.id, self.question, self.reference, self.cluster, *self.tags, self.canary)
        return tuple(dict.fromkeys(column for column in named if column is not None))


class RecordingSource(QuestionSource):
    """See the module."""

    config_model = RecordingConfig

    def load(self, config: RecordingConfig, base: Path) -> Sequence[Question]:
        """Questions in the order in which they first appear."""
        path = local_path(config.path, base)
        rows = read_rows(path, config.columns, config.select, shown=shown_path(path, base), error=QuestionError)
        first: dict[str, Row] = {}
        for row in rows:
            known = first.setdefault(_required(row, config.id), row)
            _agree(known, row, config)
        return [_question(name, row, config) for name, row in first.items()]


def _agree(known: Row, row: Row, config: RecordingConfig) -> None:
    for column in config.columns:
        if row.values.get(column) != known.values.get(column):
            raise row.wrong(f"column {column!r} differs from line {known.number}, which has the same id")


def _question(name: str, row: Row, config: RecordingConfig) -> Question:
    claimed = config.canary is not None and row.flag(config.canary)
    return Question(
        id=name,
        kind=config.canary_kind if claimed else QuestionKind.BENCHMARK,
        forms=(Form("plain", _required(row, config.question)),),
        references=(_required(row, config.reference),),
        cluster=name if config.cluster is None else _required(row, config.cluster),
        tags=tuple(f"{column}:{text}" for column in config.tags if (text := row.text(column)) is not None),
        proofs=_claim(config) if claimed else {},
    )


def _claim(config: RecordingConfig) -> Mapping[str, Proof]:
    """A flag of the data is a claim: nobody here can read the documents that it speaks of."""
    return {BASE_VARIANT: Proof(ProofGrade.CLAIMED, None, "not stated", f"column {config.canary!r} of the recording")}


def _required(row: Row, column: str) -> str:
    text = row.text(column)
    if text is None or not text.strip():
        raise row.wrong(f"column {column!r} holds no text")
    return text
