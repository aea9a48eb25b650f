"""``local-llm``: a chat model over xllamacpp, in this process.

Invariant: one call at a time, each from an empty cache, so that a reply depends on its messages and the configuration
and on nothing that was asked before; the wait for one's turn is no part of a call's latency.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from auditor.canonical import Json, clean_text
from auditor.errors import CallError, ConfigurationError, Fault, FaultReport
from auditor.model import ChatModel, Completion, Limits, Message, ModelTraits, TransportOutcome, Usage, Wire
from auditor_llm.runtime import start
from auditor_llm.weights import weights_digest, weights_of_package

__all__ = ["LlmConfig", "LocalLlm"]

_RUNTIME = "xllamacpp"


class LlmConfig(BaseModel):
    """Which weights, and how they are run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    family: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.:-]*$")] = Field(
        description="Lineage of the weights, in small letters."
    )
    licence: Annotated[str, Field(min_length=1)] = Field(description="Licence of the weights; stands in the protocol.")
    file: Path | None = Field(default=None, description="The GGUF file, relative to the spec.")
    package: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")] | None = Field(
        default=None, description="Instead of a file: an installed package that holds one."
    )
    context_tokens: Annotated[int, Field(ge=256)] = Field(default=4096, description="Prompt and answer together.")
    threads: Annotated[int, Field(ge=1, le=256)] = Field(
        default=1, description="Threads of the computation; answers may differ with their number."
    )
    seed: Annotated[int, Field(ge=0, lt=2**32)] = Field(default=1, description="Seed, for temperatures above 0.")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.file is None) == (self.package is None):
            raise ValueError('expected either "file" or "package"')
        return self


class LocalLlm(ChatModel):
    """See the module. The weights are loaded at the first call."""

    config_model = LlmConfig

    def __init__(self, config: LlmConfig) -> None:
        self.config = config
        self._turn = threading.Lock()
        self._server: Any = None

    @property
    def traits(self) -> ModelTraits:
        """Its own endpoint without a host; licence of the weights and version of the runtime in the protocol."""
        return ModelTraits(self.config.family, metadata={"licence": self.config.licence, "runtime": _runtime()})

    @property
    def inputs(self) -> Mapping[str, str]:
        """Digest of the weights."""
        return {"weights": weights_digest(self._weights())}

    def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Json] | None, limits: Limits, wire: Wire
    ) -> Completion:
        """One completion. Raises ``CallError`` with the fault of what the runtime refuses."""
        body = self._body(messages, schema, limits)
        with self._turn:
            if self._server is None:
                self._server = start(
                    self._weights(), context_tokens=self.config.context_tokens, threads=self.config.threads
                )
            with wire():
                reply = _handled(self._server, body)
        return _completion(reply, {name: value for name, value in body.items() if name != "messages"})

    def classify(self, error: BaseException) -> FaultReport:
        """The call's own fault; a configuration that cannot work is not asked again."""
        if isinstance(error, CallError):
            return error.report
        if isinstance(error, ConfigurationError):
            return FaultReport(Fault.PERMANENT, str(error))
        return super().classify(error)

    def _weights(self) -> Path:
        return weights_of_package(self.config.package) if self.config.package else self.config.file or Path()

    def _body(self, messages: Sequence[Message], schema: Mapping[str, Json] | None, limits: Limits) -> dict[str, Any]:
        """The request in the runtime's own words. A reply that would outlast the deadline ends there."""
        body: dict[str, Any] = {
            "messages": [{"role": str(m.role), "content": clean_text(m.content)[0]} for m in messages],
            "seed": self.config.seed,
            "cache_prompt": False,
            "t_max_predict_ms": int(limits.deadline_s * 1000),
        }
        if limits.temperature is not None:
            body["temperature"] = float(limits.temperature)
        if limits.output_tokens is not None:
            body["max_tokens"] = limits.output_tokens
        if schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
        return body


def _runtime() -> str:
    try:
        return f"{_RUNTIME} {version(_RUNTIME)}"
    except PackageNotFoundError as error:
        raise ConfigurationError("local-llm needs xllamacpp: pip install 'rag-auditor[llm]'") from error


def _handled(server: Any, body: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        reply = server.handle_chat_completions(dict(body))
    except RuntimeError as error:  # a request that the runtime cannot read
        raise CallError(FaultReport(Fault.PERMANENT, f"the runtime refuses the request: {error}")) from error
    if not isinstance(reply, Mapping):
        raise CallError(FaultReport(Fault.CONTRACT, f"the runtime returned {type(reply).__name__}"))
    if "error" in reply:
        told = reply["error"]
        fault = Fault.TRANSIENT if int(told.get("code", 400)) >= 500 else Fault.PERMANENT
        raise CallError(FaultReport(fault, str(told.get("message", told))))
    return reply


def _completion(reply: Mapping[str, Any], sent: Mapping[str, Any]) -> Completion:
    try:
        choice, usage = reply["choices"][0], reply.get("usage") or {}
        text, reason = choice["message"].get("content") or "", choice["finish_reason"]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise CallError(FaultReport(Fault.CONTRACT, f"the runtime's reply has no answer: {error!r}")) from error
    capped = reason == "length"
    spent = TransportOutcome.TRUNCATED if capped else TransportOutcome.EMPTY
    return Completion(
        outcome=TransportOutcome.TEXT if text.strip() else spent,
        text=text,
        usage=Usage(input_tokens=usage.get("prompt_tokens"), output_tokens=usage.get("completion_tokens")),
        model=reply.get("model"),
        request_id=reply.get("id"),
        sent={**sent, "temperature": str(sent["temperature"])} if "temperature" in sent else dict(sent),
        raw=json.dumps(reply, sort_keys=True, ensure_ascii=True).encode("ascii"),
        finish_reason=reason,
        capped=capped and bool(text.strip()),
    )
