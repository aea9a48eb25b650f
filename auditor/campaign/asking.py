"""Asking: one task a cell of the schedule, from the request that a system gets to the entries that its reply becomes.

Invariant: a request is made of a form's text, the condition's prompt and settings, and limits. Nothing else of a
question is in reach of a system (DESIGN §3, Systems; §4, rules 4 to 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial

from auditor.canonical import Json, canonical, clean_text, decimal_text, keyed_digest
from auditor.design import model_key
from auditor.engine import Call, Encoded, History, Task, lend_call
from auditor.engine.port import PortEmbedder, PortModel, build_ports
from auditor.errors import CallError, Fault, FaultReport
from auditor.freeze import Campaign, answer_limits
from auditor.ledger import Entry, raw_entry, text_entry
from auditor.model import Completion, TransportOutcome, Usage
from auditor.schedule import Cell
from auditor.system import Reply, Request, Store, System

__all__ = [
    "ask_input",
    "ask_task",
    "checked",
    "encode_reply",
    "port_embedders",
    "port_models",
    "priced",
    "reported",
    "system_endpoint",
]

_ID_CHARACTERS = 200  # more than any vendor's model or request id; a reply must not swell a body


def system_endpoint(campaign: Campaign, system: int) -> str:
    """The endpoint that a system's calls go through: what it declares to share, else its own."""
    return campaign.systems[system].traits.endpoint or f"system:{campaign.spec.systems[system].name}"


def ask_input(campaign: Campaign, cell: Cell) -> str:
    """Digest of all that one answer depends on: the answer is inherited by another run only under an equal one."""
    system, condition = campaign.pairs[cell.pair]
    depends: dict[str, Json] = {
        "system": campaign.system_inputs[system],
        "settings": dict(campaign.settings[condition]),
        "prompt": campaign.prompts[condition].text,
        "question": _text(campaign, cell),
        "corpus": [campaign.corpora[cell.variant].variant, campaign.corpus_digests[cell.variant]],
        "output_tokens": campaign.spec.limits.output_tokens,
        "repeat": cell.repeat,
    }
    return keyed_digest(campaign.run_key, depends)


def _text(campaign: Campaign, cell: Cell) -> str:
    return clean_text(campaign.questions[cell.question].forms[cell.form].text)[0]


def ask_task(campaign: Campaign, cell: Cell, store: Store, history: History) -> Task[Reply]:
    """The task of one trial."""
    system_number, _ = campaign.pairs[cell.pair]
    system = campaign.systems[system_number]
    return Task(
        key=cell.key,
        endpoint=system_endpoint(campaign, system_number),
        input=ask_input(campaign, cell),
        run=partial(_ask, campaign, cell, system, store),
        encode=encode_reply,
        classify=system.classify,
        history=history,
        cost_usd=priced,
        recorded_latency_ms=_recorded_latency,
    )


def _ask(campaign: Campaign, cell: Cell, system: System, store: Store, call: Call) -> Reply:
    number, condition = campaign.pairs[cell.pair]
    with lend_call(call) as handle:
        request = Request(
            text=_text(campaign, cell),
            prompt=campaign.prompts[condition].text,
            limits=answer_limits(campaign.spec),
            opaque_id=keyed_digest(campaign.run_key, ["opaque", cell.key]),
            attempt=call.attempt,
            settings=dict(campaign.settings[condition]),
            ports=build_ports(handle.nesting, port_models(campaign, number), port_embedders(campaign, number)),
            wire=handle.wire,
        )
        return checked(system.ask(store, request))


def port_models(campaign: Campaign, system: int) -> dict[str, PortModel]:
    """The chat models that a system's configuration names, by port."""
    models = campaign.spec.systems[system].models
    return {
        port: PortModel(
            model=campaign.models[name],
            endpoint=f"model:{name}",
            digest=_model_digest(campaign, name),
            limits=answer_limits(campaign.spec),
        )
        for port, name in models.items()
    }


def port_embedders(campaign: Campaign, system: int) -> dict[str, PortEmbedder]:
    """The embedders that a system's configuration names, by port."""
    return {
        port: PortEmbedder(campaign.embedders[name], f"model:{name}", _model_digest(campaign, name))
        for port, name in campaign.spec.systems[system].embedders.items()
    }


def _model_digest(campaign: Campaign, name: str) -> str:
    return keyed_digest(campaign.run_key, ["model", campaign.design.texts[model_key(name)]])


def checked(reply: object) -> Reply:
    """A reply that says what it may say: text with nothing in it is ``empty``, never an answer or an abstention."""
    if not isinstance(reply, Reply):
        raise CallError(FaultReport(Fault.CONTRACT, f"ask returned {type(reply).__name__}, not a Reply"))
    text: object = reply.text
    outcome: object = reply.outcome
    if not isinstance(text, str) or not isinstance(outcome, TransportOutcome):
        raise CallError(FaultReport(Fault.CONTRACT, "the reply's outcome or text is of another type than declared"))
    if reply.outcome is TransportOutcome.FAILED:
        raise CallError(FaultReport(Fault.CONTRACT, "ask says it failed without saying why; it has to raise"))
    if reply.outcome is TransportOutcome.QUOTA_EXHAUSTED:
        raise CallError(FaultReport(Fault.QUOTA_EXHAUSTED, "the vendor says that the quota is used up"))
    if reply.outcome is TransportOutcome.TEXT and not reply.text.strip():
        return replace(reply, outcome=TransportOutcome.EMPTY)
    return reply


def encode_reply(reply: Reply, key: str) -> Encoded:
    """A reply as entries: its texts, and the fields of its outcome. A field absent or null is *not reported*."""
    texts: dict[str, Entry] = {"answer": text_entry(f"{key}/answer", reply.text)}
    if reply.raw:
        texts["raw"] = raw_entry(f"{key}/raw", reply.raw)
    if reply.sent:
        texts["sent"] = _json_entry(f"{key}/sent", dict(reply.sent))
    if reply.chunks is not None or reply.citations is not None:
        texts["evidence"] = _json_entry(f"{key}/evidence", _evidence(reply))
    if reply.recorded is not None and reply.recorded.labels:
        texts["recorded"] = _json_entry(f"{key}/recorded", dict(reply.recorded.labels))
    body: dict[str, Json] = {
        "outcome": reply.outcome.value,
        "chunks": None if reply.chunks is None else len(reply.chunks),
        "citations": None if reply.citations is None else len(reply.citations),
        "texts": {role: entry.body_digest for role, entry in texts.items()},
    }
    return Encoded(entries=tuple(texts.values()), body=body | reported(reply))


def _json_entry(key: str, value: Json) -> Entry:
    return text_entry(key, canonical(_cleaned(value)).decode())


def _cleaned(value: Json) -> Json:
    if isinstance(value, str):
        return clean_text(value)[0]
    if isinstance(value, float):
        return decimal_text(value)
    if isinstance(value, Mapping):
        return {_ascii(name): _cleaned(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(item) for item in value]
    return value


def _ascii(name: object) -> str:
    """Keys of bodies are ASCII; a vendor's may not be."""
    return clean_text(str(name))[0].encode("ascii", "backslashreplace").decode()


def _evidence(reply: Reply) -> Json:
    chunks: Json = None
    if reply.chunks is not None:
        chunks = [
            {"text": c.text, "document": c.document, "score": None if c.score is None else decimal_text(c.score)}
            for c in reply.chunks
        ]
    citations: Json = None
    if reply.citations is not None:
        citations = [{"document": c.document, "quote": c.quote} for c in reply.citations]
    return {"chunks": chunks, "citations": citations}


def reported(reply: Reply | Completion) -> dict[str, Json]:
    """What the vendor reported, and only that."""
    fields: dict[str, Json] = {
        "model": _id(reply.model),
        "request_id": _id(reply.request_id),
        "finish_reason": _id(reply.finish_reason),
        "cost_usd": None if reply.cost_usd is None else decimal_text(reply.cost_usd),
        "usage": _usage(reply.usage),
        "capped": True if reply.capped else None,
    }
    kept: dict[str, Json] = {name: value for name, value in fields.items() if value is not None}
    if isinstance(reply, Reply) and reply.recorded is not None:
        # A recording's latency stands in for the engine's, also where it is unknown.
        latency = reply.recorded.latency_ms
        kept["latency_ms"] = None if latency is None else decimal_text(latency)
        kept["recorded_time"] = _id(reply.recorded.time)
    return kept


def _usage(usage: Usage) -> Json:
    reported = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cached_tokens": usage.cached_tokens,
        "tool_tokens": usage.tool_tokens,
    }
    return {name: count for name, count in reported.items() if count is not None} or None


def _id(value: str | None) -> str | None:
    return None if value is None else clean_text(str(value))[0][:_ID_CHARACTERS]


def priced(reply: Reply | Completion) -> Decimal | None:
    """What the vendor says the call cost; None where it does not say."""
    return reply.cost_usd


def _recorded_latency(reply: Reply) -> Decimal | None:
    return None if reply.recorded is None else reply.recorded.latency_ms
