"""The embeddings endpoint sends the key to its own address alone, reads vectors in order, and names each fault."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from auditor.errors import CallError, Fault, FaultReport
from auditor_local.endpoint import EmbeddingsEndpoint, EndpointConfig
from embeddings_server import serving

_KEY = "key-0123456789"


def _lengths(body: Mapping[str, Any]) -> dict[str, Any]:
    """One vector a text, in an order of the server's own."""
    data = [{"index": i, "embedding": [len(text), i]} for i, text in enumerate(body["input"])]
    return {"data": data[::-1]}


def embedder(url: str, **config: Any) -> EmbeddingsEndpoint:
    """An embedder of this address."""
    return EmbeddingsEndpoint(EndpointConfig(base_url=url, model="toy", **config))


def fault(of: EmbeddingsEndpoint, texts: list[str]) -> FaultReport:
    """The fault that a call raises."""
    with pytest.raises(CallError) as caught:
        of.embed(texts)
    assert of.classify(caught.value) == caught.value.report
    return caught.value.report


def test_vectors_come_in_the_order_of_the_texts() -> None:
    """The reply's index decides, not its order; the request is the API's."""
    with serving(reply=_lengths) as served:
        assert embedder(served.url, dimensions=2).embed(["a", "bbb"]) == [[1.0, 0.0], [3.0, 1.0]]
    path, key, body = served.asked[0]
    assert (path, key) == ("/v1/embeddings", None)
    assert body == {"model": "toy", "input": ["a", "bbb"], "encoding_format": "float", "dimensions": 2}


def test_the_named_key_is_sent_and_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a .netrc of the machine nor a variable that the spec does not name; none of it where none is named."""
    monkeypatch.setenv("TOY_KEY_FOR_TEST", _KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with serving(reply=_lengths) as served:
        embedder(served.url, key_variable="TOY_KEY_FOR_TEST").embed(["a"])
        embedder(served.url).embed(["a"])
    assert [key for _, key, _ in served.asked] == [f"Bearer {_KEY}", None]


def test_a_redirect_takes_the_key_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that points elsewhere is a refusal."""
    monkeypatch.setenv("TOY_KEY_FOR_TEST", _KEY)
    with serving(reply=_lengths) as other:
        with serving(status=307, headers={"Location": f"{other.url}/embeddings"}) as served:
            report = fault(embedder(served.url, key_variable="TOY_KEY_FOR_TEST"), ["a"])
    assert report.fault is Fault.PERMANENT
    assert not other.asked


def test_a_missing_key_is_said_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the variable."""
    monkeypatch.delenv("TOY_KEY_FOR_TEST", raising=False)
    with serving(reply=_lengths) as served:
        report = fault(embedder(served.url, key_variable="TOY_KEY_FOR_TEST"), ["a"])
    assert (report.fault, served.asked) == (Fault.AUTHENTICATION, [])
    assert "TOY_KEY_FOR_TEST" in report.message


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        (400, Fault.PERMANENT),
        (401, Fault.AUTHENTICATION),
        (403, Fault.AUTHENTICATION),
        (404, Fault.PERMANENT),
        (402, Fault.QUOTA_EXHAUSTED),
        (429, Fault.RATE_LIMITED),
        (500, Fault.TRANSIENT),
        (503, Fault.TRANSIENT),
    ],
)
def test_each_status_is_one_fault(monkeypatch: pytest.MonkeyPatch, status: int, wanted: Fault) -> None:
    """With the vendor's own words, the wait it asks for unread, and without a key that it echoes."""
    monkeypatch.setenv("TOY_KEY_FOR_TEST", _KEY)
    headers = {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "x-request-id": "r-1"}
    with serving(status=status, headers=headers, reply=lambda body: f"no: {_KEY} {'x' * 900}".encode()) as served:
        report = fault(embedder(served.url, key_variable="TOY_KEY_FOR_TEST"), ["a"])
    assert (report.fault, report.request_id) == (wanted, "r-1")
    assert report.retry_after == "Wed, 21 Oct 2026 07:28:00 GMT"
    assert _KEY not in report.message
    assert len(report.message) < 400


@pytest.mark.parametrize(
    "reply",
    [
        b"not json",
        [],
        {"data": None},
        {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": ["a"]}]},
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]},
    ],
)
def test_a_reply_that_is_no_list_of_vectors_breaks_the_contract(reply: Any) -> None:
    """Nothing is filled in: one vector a text, or a fault."""
    with serving(reply=lambda body: reply) as served:
        assert fault(embedder(served.url), ["a"]).fault is Fault.CONTRACT


def test_no_server_is_transient() -> None:
    """A refused connection is sent again."""
    with serving() as served:
        url = served.url
    assert fault(embedder(url), ["a"]).fault is Fault.TRANSIENT


@pytest.mark.parametrize(
    "url", ["ftp://host/v1", "host/v1", "https://user:secret@host/v1", "https://host/v1?key=1", ""]
)
def test_an_address_is_an_address(url: str) -> None:
    """No key in the address, no other scheme."""
    with pytest.raises(ValidationError):
        EndpointConfig(base_url=url, model="toy")
