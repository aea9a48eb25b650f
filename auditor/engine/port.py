"""Ports: a system's chat models and embedders, each call of which is a nested call of the engine.

Invariant: a completion that is replayed after a kill equals the one that was recorded, field by field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar, cast

from auditor.canonical import Json, canonical, decimal_text, digest
from auditor.engine.call import Call
from auditor.engine.handle import lend_call
from auditor.engine.task import Encoded, Stored
from auditor.errors import LedgerError
from auditor.ledger import commitment, raw_entry, text_entry
from auditor.model import ChatModel, Completion, Embedder, Limits, Message, TransportOutcome, Usage
from auditor.system import Ports

__all__ = ["Nesting", "PortEmbedder", "PortModel", "build_ports", "decode_completion", "encode_completion"]

T = TypeVar("T")
_USAGE = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "tool_tokens")
Nesting = Callable[..., Any]  # the signature of ``Call.subtask``


@dataclass(frozen=True, slots=True)
class PortModel:
    """A chat model with the endpoint that it is called through. ``digest``: of its configuration, for the input."""

    model: ChatModel
    endpoint: str
    digest: str
    limits: Limits = Limits()
    secrets: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class PortEmbedder:
    """An embedder with the endpoint that it is called through. ``digest``: of its configuration, for the input."""

    embedder: Embedder
    endpoint: str
    digest: str


def build_ports(
    call: Call | Callable[[], Nesting], models: Mapping[str, PortModel], embedders: Mapping[str, PortEmbedder]
) -> Ports:
    """Ports for one attempt, or for whatever ``call()`` says is the way to nest at the moment.

    In keys a port is named by its place in the order of names, since keys hold no names.
    """
    nesting: Callable[[], Nesting] = (lambda: call.subtask) if isinstance(call, Call) else call
    return Ports(
        {name: _Model(nesting, f"m{i}", models[name]) for i, name in enumerate(sorted(models))},
        {name: _Embedder(nesting, f"e{i}", embedders[name]) for i, name in enumerate(sorted(embedders))},
    )


class _Model:
    """``auditor.system.ModelPort`` over the engine."""

    def __init__(self, nesting: Callable[[], Nesting], port: str, configured: PortModel) -> None:
        self._nesting, self._port, self._configured = nesting, port, configured

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Json] | None = None,
        limits: Limits | None = None,
    ) -> Completion:
        configured, used = self._configured, limits or self._configured.limits

        def run(call: Call) -> Completion:
            with lend_call(call) as handle:
                limits = replace(used, deadline_s=call.deadline_s)
                return configured.model.complete(messages, schema, limits, handle.wire)

        def encode(completion: Completion, key: str) -> Encoded:
            return encode_completion(completion, key, secrets=configured.secrets)

        value = self._nesting()(
            configured.endpoint,
            self._port,
            _digest(configured.digest, _messages(messages), schema, _limits(used)),
            run,
            encode,
            configured.model.classify,
            decode_completion,
            cost_usd=_cost_of,
        )
        return cast(Completion, value)


class _Embedder:
    """``auditor.system.EmbedderPort`` over the engine."""

    def __init__(self, nesting: Callable[[], Nesting], port: str, configured: PortEmbedder) -> None:
        self._nesting, self._port, self._configured = nesting, port, configured

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        configured = self._configured

        def run(call: Call) -> list[list[float]]:
            with call.wire():
                vectors = configured.embedder.embed(texts)
            return [[float(number) for number in vector] for vector in vectors]

        value = self._nesting()(
            configured.endpoint,
            self._port,
            _digest(configured.digest, list(texts)),
            run,
            _encode_vectors,
            configured.embedder.classify,
            _decode_vectors,
            cost_usd=_no_cost,
        )
        return cast(Sequence[Sequence[float]], value)


def encode_completion(completion: Completion, key: str, *, secrets: Sequence[bytes] = ()) -> Encoded:
    """A completion as entries: its text, its raw reply and what was sent are texts, all else stands in the outcome."""
    texts = [text_entry(f"{key}/answer", completion.text, secrets=secrets)]
    if completion.raw:
        texts.append(raw_entry(f"{key}/raw", completion.raw, secrets=secrets))
    if completion.sent:
        texts.append(text_entry(f"{key}/sent", _readable(completion.sent), secrets=secrets))
    body: dict[str, Json] = {
        "outcome": str(completion.outcome),
        "texts": {entry.key.rpartition("/")[2]: commitment(entry) for entry in texts},
        "usage": {name: getattr(completion.usage, name) for name in _USAGE},
        "cost_usd": None if completion.cost_usd is None else decimal_text(completion.cost_usd),
        "model": completion.model,
        "request_id": completion.request_id,
        "finish_reason": completion.finish_reason,
        "capped": completion.capped,
    }
    return Encoded(tuple(texts), body)


def decode_completion(stored: Stored) -> Completion:
    """The completion that ``encode_completion`` wrote. Raises ``LedgerError`` where its text is withheld."""
    body = stored.body
    answer, raw, sent = stored.entry("answer"), stored.entry("raw"), stored.entry("sent")
    if answer is None or answer.text is None:
        raise LedgerError(f"{stored.key}: the text of this reply is withheld, so it cannot be replayed")
    usage = cast(Mapping[str, Any], body["usage"])
    cost = body["cost_usd"]
    return Completion(
        TransportOutcome(str(body["outcome"])),
        answer.text,
        Usage(**{name: usage[name] for name in _USAGE}),
        None if cost is None else Decimal(str(cost)),
        cast("str | None", body["model"]),
        cast("str | None", body["request_id"]),
        json.loads(sent.text) if sent is not None and sent.text is not None else {},
        (raw.raw if raw is not None else None) or b"",
        cast("str | None", body["finish_reason"]),
        bool(body["capped"]),
    )


def _encode_vectors(vectors: Sequence[Sequence[float]], key: str) -> Encoded:
    """Vectors as one text, each number in the shortest form that reads back equal."""
    text = text_entry(f"{key}/vectors", json.dumps(vectors, separators=(",", ":"), allow_nan=False))
    return Encoded((text,), {"texts": {"vectors": commitment(text)}, "count": len(vectors)})


def _decode_vectors(stored: Stored) -> list[list[float]]:
    row = stored.entry("vectors")
    if row is None or row.text is None:
        raise LedgerError(f"{stored.key}: the vectors are withheld, so they cannot be replayed")
    return [[float(number) for number in vector] for vector in json.loads(row.text)]


def _cost_of(completion: Completion) -> Decimal | None:
    return completion.cost_usd


def _no_cost(vectors: Sequence[Sequence[float]]) -> Decimal | None:
    return None  # an embedder reports no price


def _messages(messages: Sequence[Message]) -> list[Json]:
    return [[str(message.role), message.content] for message in messages]


def _limits(limits: Limits) -> list[Json]:
    temperature = None if limits.temperature is None else decimal_text(limits.temperature)
    return [limits.output_tokens, temperature]


def _readable(sent: Mapping[str, Json]) -> str:
    try:
        return canonical(sent).decode("utf-8")
    except (TypeError, ValueError):
        return json.dumps(sent, ensure_ascii=True, default=repr)


def _digest(*parts: Any) -> str:
    """Digest of what a nested call depends on; schemas may hold numbers that the canonical form has no place for."""
    data = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=repr).encode()
    return digest(data)
