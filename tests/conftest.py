"""Guards around every test: no network but loopback, no keys from the environment, the same random examples each time.

Invariant: a test that would reach the outside fails at once with the address it asked for, instead of depending on it.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent
_SECRET_NAME = re.compile(r"(API_?KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)$", re.IGNORECASE)

# Shared runners are slow in bursts; a deadline per example would fail tests for the machine's load.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


class OutsideNetwork(AssertionError):
    """A test asked for an address that is not on this machine."""


def _is_local(address: Any) -> bool:
    if not isinstance(address, tuple):  # a Unix socket's path
        return True
    host = str(address[0]).partition("%")[0]
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def unchanged_process() -> Iterator[None]:
    """Fail a test that leaves the environment or the working folder changed: the next test would run elsewhere."""
    before, folder = dict(os.environ), Path.cwd()
    yield
    after = dict(os.environ)
    for changed in (before, after):
        changed.pop("PYTEST_CURRENT_TEST", None)
    assert after == before, "the test left the environment changed"
    assert Path.cwd() == folder, "the test left the working folder changed"


@pytest.fixture(autouse=True)
def no_outside_network(
    unchanged_process: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refuse to connect, or to look a name up, beyond the loopback interface; ``live`` tests are let through."""
    if request.node.get_closest_marker("live"):
        return
    connect, connect_ex, lookup = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def check(address: Any) -> None:
        if not _is_local(address):
            raise OutsideNetwork(f"a test asked for {address!r}; only loopback addresses may be used")

    def guarded_connect(self: socket.socket, address: Any) -> None:
        check(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        check(address)
        return connect_ex(self, address)

    def guarded_lookup(host: Any, *rest: Any, **options: Any) -> Any:
        check((host.decode("idna") if isinstance(host, bytes) else host or "",))
        return lookup(host, *rest, **options)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_lookup)


@pytest.fixture(autouse=True)
def clean_environment(unchanged_process: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key of the developer's shell, proxy or colour setting reaches a test or its child processes."""
    if request.node.get_closest_marker("live"):
        return
    for name in list(os.environ):
        if _SECRET_NAME.search(name) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "PYTHONWARNINGS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree that the tests stand in."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of shared data: ``$AUDITOR_SHARED``, by default beside the repository; skips where there is none."""
    folder = Path(os.environ.get("AUDITOR_SHARED") or REPOSITORY.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}: set AUDITOR_SHARED")
    return folder
