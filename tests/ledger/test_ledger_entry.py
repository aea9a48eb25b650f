"""Entries: what may go into a ledger, in which form, and what is flagged at the door."""

from __future__ import annotations

import base64
import json
import types
from collections.abc import Mapping
from enum import IntEnum
from typing import Any
from urllib.parse import quote

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from auditor.canonical import canonical, digest
from auditor.ledger import Entry, commitment, raw_entry, text_entry
from auditor.ledger.form import chain_digest
from auditor.ledger.writer import next_digest

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_ANY_TEXT = st.text(st.characters())
_NAME = st.text(st.characters(max_codepoint=127), max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAME, inner, max_size=4),
    max_leaves=12,
)
_BODIES = st.dictionaries(_NAME, _VALUES, max_size=5)
_KINDS = st.from_regex(r"[a-z][a-z0-9_.:/-]{0,20}", fullmatch=True)
_KEYS = st.from_regex(r"[!#-\[\]-~]{1,60}", fullmatch=True)


class _Number(IntEnum):
    ONE = 1


@given(_BODIES)
def test_canonical_form_is_rfc_8785(body: dict[str, Any]) -> None:
    """A stored body is byte for byte what RFC 8785 makes of it, and its commitment the digest of that."""
    entry = Entry("outcome", "ask/1#1", body)
    assert entry.encoded == rfc8785.dumps(body)
    assert commitment(entry) == digest(rfc8785.dumps(body))


@given(_ANY_TEXT)
def test_text_is_stored_canonically_whatever_it_holds(text: str) -> None:
    """The short cut for texts gives the canonical form; a lone surrogate is replaced and flagged, nothing else is."""
    entry = text_entry("ask/1#1/answer", text)
    assert entry.encoded == canonical(entry.body)
    flagged = any("\ud800" <= character <= "\udfff" for character in text)
    assert ("normalised" in entry.body) == flagged
    assert flagged or entry.body["text"] == text


@given(st.binary(max_size=200))
def test_raw_bytes_are_stored_canonically_and_come_back(data: bytes) -> None:
    """Wire bytes survive, whatever they are."""
    entry = raw_entry("ask/1#1/raw", data)
    assert entry.encoded == canonical(entry.body)
    assert base64.b64decode(str(entry.body["base64"])) == data


@given(_KINDS, _KEYS, st.integers(2, 2**53 - 1), st.binary(min_size=32, max_size=32))
def test_the_writers_digest_is_the_verifiers(kind: str, key: str, sequence: int, seed: bytes) -> None:
    """The text that the writer hashes is the canonical list that the verifier rebuilds."""
    entry, head = Entry(kind, key, {}), digest(seed)
    assert next_digest(head, sequence, entry) == chain_digest(head, sequence, kind, key, entry.body_digest)


def test_fields_cannot_run_into_each_other() -> None:
    """("vote", "s1/q2") and ("vot", "es1/q2") have different digests, as have neighbours of every other field."""
    body = digest(b"{}")
    assert chain_digest("", 2, "vote", "s1/q2", body) != chain_digest("", 2, "vot", "es1/q2", body)
    assert chain_digest("", 21, "v", "k", body) != chain_digest("", 2, "1v", "k", body)


@pytest.mark.parametrize(
    "body",
    [
        {"x": 1.5},
        {"x": float("nan")},
        {"x": 2**53},
        {"x": -(2**53)},
        {"x": b"bytes"},
        {"x": {1, 2}},
        {"x": _Number.ONE},
        {"é": 1},
        {1: "x"},
        {"x": [{"y": 0.1}]},
        [1],
        "text",
        None,
    ],
    ids=repr,
)
def test_what_has_no_canonical_form_is_refused(body: Any) -> None:
    """Floats, big integers, other types and keys that are not ASCII text never become an entry."""
    with pytest.raises((TypeError, ValueError)):
        Entry("outcome", "k", body)


@pytest.mark.parametrize("key", ["", "a b", 'a"b', "a\\b", "é", "a\n", "a\0", "k" * 513, 7])
def test_keys_are_plain_ascii(key: Any) -> None:
    """A key reads the same in JSON, in SQL and in a shell."""
    with pytest.raises(ValueError, match="is not a key"):
        Entry("outcome", key, {})


@pytest.mark.parametrize("kind", ["", "Outcome", "1st", "a b", 'a"', "é", "k" * 65, None])
def test_kinds_are_plain_ascii(kind: Any) -> None:
    """A kind is a lower-case word."""
    with pytest.raises(ValueError, match="is not a kind"):
        Entry(kind, "k", {})


def test_every_mapping_is_a_body() -> None:
    """A read-only view is stored as the object that it shows."""
    view: Mapping[str, Any] = types.MappingProxyType({"b": 1, "a": types.MappingProxyType({"c": None})})
    assert Entry("outcome", "k", view).encoded == b'{"a":{"c":null},"b":1}'


def test_later_changes_do_not_reach_the_entry() -> None:
    """What is hashed is what is written, whatever happens to the mapping in between."""
    body = {"x": 1}
    entry = Entry("outcome", "k", body)
    body["x"] = 2
    assert entry.encoded == b'{"x":1}'
    assert commitment(entry) == digest(b'{"x":1}')


def test_unencodable_text_anywhere_is_normalised_and_flagged() -> None:
    """A vendor's request id with a lone surrogate neither stops a run nor passes unmarked."""
    entry = Entry("outcome", "k", {"request_id": "req_\udc80", "list": ["\ud83d", "ok", {"deep": "\udfff"}], "n": 3})
    replaced = "�"
    wanted = {"request_id": f"req_{replaced}", "list": [replaced, "ok", {"deep": replaced}], "n": 3, "normalised": True}
    assert json.loads(entry.encoded) == entry.body == wanted


@pytest.mark.parametrize("surrogate", [False, True])
@pytest.mark.parametrize("depth", [65, 500, 100_000])
def test_nesting_is_bounded(depth: int, surrogate: bool) -> None:
    """Whatever can be written can be read back: a body too deep for a reader's stack is refused."""
    body: Any = {"bad": "\ud800"} if surrogate else {}
    for _ in range(depth):
        body = {"x": body}
    with pytest.raises(ValueError, match="deep"):
        Entry("outcome", "k", body)


def test_wide_bodies_are_not_deep() -> None:
    """Many lists beside each other are no nesting."""
    assert Entry("outcome", "k", {"x": [[] for _ in range(500)]}).encoded.count(b"[") == 501


def test_hostile_text_of_200_kb_is_stored_as_it_is() -> None:
    """Markup, controls, right-to-left text, NULs: text is data."""
    text = ('<script>alert("x")</script>\0\x1b[31m\u202e\u2028 مرحبا 漢字 🔴 \\u0000 {"a":1}\r\n' * 4_000)[:200_000]
    entry = text_entry("k", text)
    assert json.loads(entry.encoded)["text"] == text


def test_equal_texts_have_different_commitments() -> None:
    """A salt from the system stands before every text, so a commitment cannot be guessed from a likely answer."""
    assert commitment(text_entry("k", "yes")) != commitment(text_entry("k", "yes"))
    assert commitment(raw_entry("k", b"yes")) != commitment(raw_entry("k", b"yes"))
    fixed = [text_entry("k", "yes", entropy=lambda size: b"\1" * size) for _ in range(2)]
    assert fixed[0] == fixed[1]
    assert fixed[0].body["salt"] == "01" * 16


class _Text(str):
    __slots__ = ()


@pytest.mark.parametrize("value", [b"bytes", None, 3, _Text("x")])
def test_text_is_text(value: Any) -> None:
    """Nothing is turned into text on the way."""
    with pytest.raises(TypeError):
        text_entry("k", value)


_SECRET = b'sk-live/9+Zq "\xc3\xa9\xc3\xbf\xe2\x82\xac"=='


@pytest.mark.parametrize(
    "form",
    [
        _SECRET,
        quote(_SECRET, safe="").encode(),
        quote(_SECRET, safe="").replace("%20", "+").encode(),
        quote(_SECRET, safe="/").lower().replace("zq", "Zq").encode(),
        json.dumps(_SECRET.decode())[1:-1].encode(),
        json.dumps(_SECRET.decode(), ensure_ascii=False)[1:-1].encode(),
        json.dumps(_SECRET.decode())[1:-1].replace("/", "\\/").encode(),
        base64.b64encode(_SECRET),
        base64.urlsafe_b64encode(_SECRET),
        base64.b64encode(b"u:" + _SECRET),
        base64.b64encode(b"user:" + _SECRET + b"\n"),
        base64.b64encode(b"use:" + _SECRET + b"?!"),
    ],
)
def test_known_secrets_are_replaced_before_encoding_and_flagged(form: bytes) -> None:
    """A vendor that echoes a key, in whatever form it travels, does not put it into the ledger."""
    data = b'{"error":"bad key ' + form + b'","x":1}'
    entry = raw_entry("k", data, secrets=[b"other-secret-value", _SECRET])
    stored = base64.b64decode(str(entry.body["base64"]))
    assert entry.body["redacted"] is True
    assert entry.encoded == canonical(entry.body)
    assert b"[secret]" in stored
    assert form not in stored
    assert stored.startswith(b'{"error":"bad key ')
    assert stored.endswith(b'","x":1}')


def test_secrets_in_texts_are_replaced_too() -> None:
    """An answer that repeats a key is stored without it, and says so."""
    entry = text_entry("k", "your key is sk-0123456789 \ud800", secrets=[b"sk-0123456789"])
    assert entry.body["text"] == "your key is [secret] �"
    assert entry.body["redacted"] is entry.body["normalised"] is True
    assert entry.encoded == canonical(entry.body)


def test_what_is_no_secret_stays() -> None:
    """Empty values in a configuration redact nothing, and clean bytes are not flagged."""
    entry = raw_entry("k", b"  nothing here  ", secrets=[b"", b"  ", b"sk-0123456789"])
    assert "redacted" not in entry.body
    assert base64.b64decode(str(entry.body["base64"])) == b"  nothing here  "


@given(st.binary(min_size=12, max_size=40), st.binary(max_size=5), st.binary(max_size=5))
def test_base64_at_any_alignment_does_not_give_the_secret_back(secret: bytes, before: bytes, after: bytes) -> None:
    """Whatever stands around it in the encoded text, a secret is found."""
    entry = raw_entry("k", b"Basic " + base64.b64encode(before + secret + after), secrets=[secret])
    stored = base64.b64decode(str(entry.body["base64"]))
    assert not secret.strip() or b"[secret]" in stored
