"""``embeddings-endpoint``: an embedder over HTTP, for any server that speaks the OpenAI embeddings API.

Invariant: the key goes to the configured address and to no other, redirects included, and stands in no message.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from auditor.errors import CallError, Fault, FaultReport
from auditor.model import Embedder

__all__ = ["EmbeddingsEndpoint", "EndpointConfig"]

_CONNECT_S = 10
_MAX_TOLD = 300
_FAULTS: Mapping[int, Fault] = {
    401: Fault.AUTHENTICATION,
    403: Fault.AUTHENTICATION,
    402: Fault.QUOTA_EXHAUSTED,
    408: Fault.TRANSIENT,
    409: Fault.TRANSIENT,
    429: Fault.RATE_LIMITED,
}


class EndpointConfig(BaseModel):
    """Where the vectors come from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str = Field(description="Address of the API, up to and without /embeddings.")
    model: Annotated[str, Field(min_length=1)] = Field(description="The model, as the server names it.")
    key_variable: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="Environment variable that holds the key for this address; none is sent without it."
    )
    dimensions: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Length of the vectors, where the model can shorten them."
    )
    timeout_s: Annotated[float, Field(gt=0, le=600)] = Field(default=60, description="Longest wait for a reply.")

    @field_validator("base_url")
    @classmethod
    def _address(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ValueError("expected an address as in https://host/v1, without user and query")
        return value.rstrip("/")


class EmbeddingsEndpoint(Embedder):
    """See the module."""

    config_model = EndpointConfig
    config: EndpointConfig

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One request for all texts. Raises ``CallError`` with the fault of what went wrong."""
        import requests

        body: dict[str, Any] = {"model": self.config.model, "input": list(texts), "encoding_format": "float"}
        if self.config.dimensions is not None:
            body["dimensions"] = self.config.dimensions
        try:
            reply = requests.post(
                f"{self.config.base_url}/embeddings",
                json=body,
                auth=self._auth(),  # also where there is no key: otherwise a .netrc of this machine would be sent
                timeout=(_CONNECT_S, self.config.timeout_s),
                allow_redirects=False,
            )
        except requests.Timeout as error:
            raise _failed(Fault.TIMEOUT, "no reply in time") from error
        except requests.RequestException as error:
            raise _failed(Fault.TRANSIENT, f"no connection: {type(error).__name__}") from error
        if reply.status_code != 200:
            raise self._refused(reply)
        return _vectors(reply, len(texts))

    def _key(self) -> str:
        """The key of the named variable; empty where the endpoint takes none."""
        name = self.config.key_variable
        key = os.environ.get(name, "").strip() if name else ""
        if name and not key:
            raise _failed(Fault.AUTHENTICATION, f"the variable {name} holds no key")
        return key

    def _auth(self) -> Callable[[Any], Any]:
        key = self._key()

        def sign(request: Any) -> Any:
            if key:
                request.headers["Authorization"] = f"Bearer {key}"
            return request

        return sign

    def _refused(self, reply: Any) -> CallError:
        status = int(reply.status_code)
        fault = _FAULTS.get(status, Fault.TRANSIENT if status >= 500 else Fault.PERMANENT)
        headers = reply.headers
        report = FaultReport(
            fault,
            f"HTTP {status}: {self._told(reply.text)}",
            retry_after=headers.get("retry-after"),
            retry_after_ms=headers.get("retry-after-ms"),
            request_id=headers.get("x-request-id"),
        )
        return CallError(report)

    def _told(self, text: str) -> str:
        """What the server says, in one bounded line without the key, which it may have echoed."""
        key = self._key()
        told = text.replace(key, "[key]") if key else text
        return " ".join(told.split())[:_MAX_TOLD] or "no text"


def _vectors(reply: Any, wanted: int) -> list[list[float]]:
    """The vectors in the order of the texts; the API says by ``index`` which is whose."""
    try:
        rows = sorted(reply.json()["data"], key=lambda row: int(row["index"]))
        vectors = [[float(number) for number in row["embedding"]] for row in rows]
        places = [int(row["index"]) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _failed(Fault.CONTRACT, f"the reply is no list of vectors: {type(error).__name__}") from error
    if places != list(range(wanted)):
        raise _failed(Fault.CONTRACT, f"asked for {wanted} vectors, got {len(places)} or others")
    return vectors


def _failed(fault: Fault, message: str) -> CallError:
    return CallError(FaultReport(fault, message))
