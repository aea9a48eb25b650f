"""``replay``: recorded answers of a product, looked up by the text that is on the wire.

Invariant: a text has one recorded answer or none; nothing tells the system which question a text belongs to, and no
recorded grade leaves it but as a recorded label.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from auditor.canonical import clean_text, digest
from auditor.corpus import Corpus
from auditor.errors import CallError, ConfigurationError, Fault, FaultReport
from auditor.model import TransportOutcome, Usage
from auditor.path import local_path
from auditor.system import Chunk, Citation, EvidenceSupport, Recorded, Reply, Request, Store, System, SystemTraits, Work
from auditor_replay.config import RecordedOutcome, ReplayConfig
from auditor_replay.recording import Row, read_rows

__all__ = ["Replay"]


@dataclass(frozen=True, slots=True)
class _Answer:
    outcome: RecordedOutcome
    reply: Reply | None  # None: the recording says that the call failed


class Replay(System):
    """See the module."""

    config_model = ReplayConfig
    config: ReplayConfig

    @property
    def traits(self) -> SystemTraits:
        """What the mapping says of the recorded product."""
        config = self.config
        return SystemTraits(
            grounded=config.grounded,
            evidence=_support(config),
            family=config.family,
            reports_usage=any(config.usage.model_dump().values()),
            reports_cost=config.cost_usd is not None,
            memory=config.memory,
            house_phrases=config.house_phrases,
            knowledge_cutoff=config.knowledge_cutoff,
            metadata=config.metadata,
        )

    @property
    def inputs(self) -> Mapping[str, str]:
        """Digests of the selected rows' mapped columns: what answers depend on, and the recorded labels."""
        rows = self._rows()
        labels = sorted(self.config.labels.values())
        return {
            "recording": digest(b"\n".join(_raw(row, self.config.answer_columns) for row in rows)),
            **({"recorded_labels": digest(b"\n".join(_raw(row, labels) for row in rows))} if labels else {}),
        }

    def open(self, corpus: Corpus, work: Work) -> Store:
        """Read the recording. The corpus is not looked at: what the product had is what it was recorded with."""
        answers = _answers(self._rows(), self.config)
        return Store("recording", {"answers": len(answers)}, answers)

    def ask(self, store: Store, request: Request) -> Reply:
        """The answer recorded for this very text. Raises ``CallError`` when there is none, or the call had failed."""
        with request.wire():
            answers: Mapping[str, _Answer] = store.handle
            answer = answers.get(clean_text(request.text)[0])
        if answer is None:
            raise CallError(FaultReport(Fault.PERMANENT, "no recorded answer"))
        if answer.reply is None:
            raise CallError(FaultReport(Fault.PERMANENT, "the recorded call failed"))
        return answer.reply

    def _rows(self) -> list[Row]:
        columns = (*self.config.answer_columns, *self.config.labels.values())
        path = local_path(self.config.path, Path())
        return read_rows(path, columns, self.config.select, shown=path.name, error=ConfigurationError)


def _support(config: ReplayConfig) -> EvidenceSupport:
    if config.chunks is not None:
        return EvidenceSupport.CHUNKS
    return EvidenceSupport.NONE if config.citations is None else EvidenceSupport.DOCUMENTS


def _answers(rows: Sequence[Row], config: ReplayConfig) -> Mapping[str, _Answer]:
    """Answers by text. A second answer to one text is an error: which one to give would depend on what was asked."""
    made: dict[str, _Answer] = {}
    lines: dict[str, int] = {}
    for row in rows:
        question = row.text(config.question)
        if not question or not question.strip():
            raise row.wrong(f"column {config.question!r} holds no text")
        if question in made:
            raise row.wrong(f"the question is answered on line {lines[question]} too; select one answer for each text")
        lines[question] = row.number
        outcome = _outcome(row, config)
        made[question] = _Answer(outcome, None if outcome is RecordedOutcome.FAILED else _reply(row, config, outcome))
    return made


def _outcome(row: Row, config: ReplayConfig) -> RecordedOutcome:
    """How the recorded call ended. Without an outcome column: null failed, blank is empty, the rest is text."""
    text = row.text(config.answer)
    if config.outcome is not None:
        found = row.text(config.outcome)
        value = "null" if found is None else found
        if value not in config.outcomes:
            raise row.wrong(f"outcomes does not say what {config.outcome}: {value!r} means")
        outcome = config.outcomes[value]
        if outcome is RecordedOutcome.TEXT and not (text and text.strip()):
            return RecordedOutcome.EMPTY
        return outcome
    if text is None:
        return RecordedOutcome.FAILED
    return RecordedOutcome.TEXT if text.strip() else RecordedOutcome.EMPTY


def _reply(row: Row, config: ReplayConfig, outcome: RecordedOutcome) -> Reply:
    usage = {name: row.count(column) for name, column in config.usage.model_dump().items()}
    labels = {name: text for name, column in config.labels.items() if (text := row.text(column)) is not None}
    return Reply(
        outcome=TransportOutcome(outcome.value),
        text=(row.text(config.answer) or "") if outcome is RecordedOutcome.TEXT else "",
        chunks=_chunks(row, config.chunks),
        citations=_citations(row, config.citations),
        usage=Usage(**usage),
        cost_usd=row.number_of(config.cost_usd),
        model=row.text(config.model),
        request_id=row.text(config.request_id),
        raw=_raw(row, config.answer_columns),
        finish_reason=row.text(config.finish_reason),
        recorded=Recorded(row.number_of(config.latency_ms), row.text(config.time), labels),
    )


def _citations(row: Row, column: str | None) -> tuple[Citation, ...] | None:
    items = row.items(column)
    return None if items is None else tuple(Citation(_name(row, item, column)) for item in items)


def _chunks(row: Row, column: str | None) -> tuple[Chunk, ...] | None:
    items = row.items(column)
    return None if items is None else tuple(_chunk(row, item, column) for item in items)


def _chunk(row: Row, item: object, column: str | None) -> Chunk:
    if isinstance(item, str):
        return Chunk(clean_text(item)[0])
    if not isinstance(item, dict) or not {*item} <= {"text", "document", "score"}:
        raise row.wrong(f"column {column!r} holds a passage that is neither text nor {{text, document, score}}")
    inner = Row(row.number, item, row.shown, row.error)
    return Chunk(inner.text("text"), inner.text("document"), inner.number_of("score"))


def _name(row: Row, item: object, column: str | None) -> str:
    if isinstance(item, bool) or not isinstance(item, str | int) or item == "":
        raise row.wrong(f"column {column!r} holds a citation that is neither a name nor a number")
    return clean_text(str(item))[0]


def _raw(row: Row, columns: Sequence[str]) -> bytes:
    """The row as the mapping sees it, as JSON: columns that are not mapped are not in it."""
    return json.dumps(dict(_plain(row, columns)), sort_keys=True, default=str).encode("ascii")


def _plain(row: Row, columns: Sequence[str]) -> Iterator[tuple[str, object]]:
    for column in columns:
        if column in row.values:
            yield column, row.values[column]
