"""The guards of tests/conftest.py hold: what they promise to every other test."""

from __future__ import annotations

import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("address", [("192.0.2.1", 9), ("2001:db8::1", 9), ("example.org", 443)])
def test_outside_address_is_refused(address: tuple[str, int]) -> None:
    """A connection beyond loopback fails at once and names the address."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family) as outside, pytest.raises(AssertionError, match=address[0]):
        outside.connect(address)
    if not address[0][0].isdigit():
        with pytest.raises(AssertionError, match=address[0]):
            socket.getaddrinfo(*address)


def test_loopback_is_allowed() -> None:
    """A test may talk to a server of its own."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()[:2], timeout=5):
            pass


@given(st.text())
def test_no_key_is_visible(text: str) -> None:
    """No variable that looks like a key is in a test's environment, also under hypothesis."""
    assert not [name for name in os.environ if name.upper().endswith("API_KEY")]
