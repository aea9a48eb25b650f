"""Entries as they are handed in and rows as they are read back.

Invariant: an ``Entry`` that exists can be written: it was validated, put into canonical form and hashed in the thread
that made it, so the writer thread has only the chain to compute.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import cast

from auditor.canonical import Json, canonical, clean_text, digest
from auditor.ledger.form import TEXT_KIND
from auditor.ledger.redaction import redact

__all__ = ["Entropy", "Entry", "Row", "Seal", "commitment", "raw_entry", "text_entry", "well_named"]

Entropy = Callable[[int], bytes]

_KIND = re.compile(r"[a-z][a-z0-9_.:/-]{0,63}")
_KEY = re.compile(r"[!#-\[\]-~]{1,512}")
_SALT_BYTES = 16
_DEPTH = 64  # whatever can be written can be read back, however deep the reader stands in its own stack


@dataclass(frozen=True, slots=True)
class Entry:
    """A draft of one entry. ``(kind, key)`` is unique in a ledger; ``body`` holds no floats (decimals are text).

    Text that UTF-8 cannot carry is normalised here and the body flagged ``"normalised": true``. Raises ``ValueError``
    for a malformed kind or key and what ``canonical.check`` raises for a body outside the subset.
    ``encoded`` is the body's canonical form: what is done to the mapping afterwards does not reach the ledger.
    """

    kind: str
    key: str
    body: Mapping[str, Json]
    encoded: bytes = field(init=False, repr=False, compare=False)
    body_digest: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_names(self.kind, self.key)
        if not isinstance(self.body, Mapping):
            raise TypeError(
                f"{self.kind} {self.key}: the body of an entry is an object, not {type(self.body).__name__}"
            )
        try:
            encoded = canonical(self.body)
        except RecursionError:
            self._refuse_depth()
            raise
        except UnicodeEncodeError:
            self._refuse_depth()
            cleaned = {**cast(Mapping[str, Json], _cleaned(self.body)), "normalised": True}
            object.__setattr__(self, "body", cleaned)
            encoded = canonical(cleaned)
        if encoded.count(b"[") + encoded.count(b"{") > _DEPTH:
            self._refuse_depth()
        object.__setattr__(self, "encoded", encoded)
        object.__setattr__(self, "body_digest", digest(encoded))

    def _refuse_depth(self) -> None:
        if _deeper(self.body, _DEPTH):
            raise ValueError(f"{self.kind} {self.key}: the body is nested deeper than {_DEPTH}")


@dataclass(frozen=True, slots=True)
class Row:
    """One entry as it stands in a ledger. ``body`` is None where the text is withheld."""

    sequence: int
    kind: str
    key: str
    body: Mapping[str, Json] | None
    body_digest: str
    digest: str

    @property
    def text(self) -> str | None:
        """The text of a text entry; None when withheld or when the body holds none."""
        value = None if self.body is None else self.body.get("text")
        return value if isinstance(value, str) else None

    @property
    def raw(self) -> bytes | None:
        """The bytes of a raw entry; None when withheld or when the body holds none."""
        value = None if self.body is None else self.body.get("base64")
        if not isinstance(value, str):
            return None
        try:
            return base64.b64decode(value, validate=True)
        except binascii.Error:
            return None


@dataclass(frozen=True, slots=True)
class Seal:
    """What a seal states: how many entries stand before it, and the digest of the last of them."""

    count: int
    head: str
    note: str = ""
    time: str = ""


def commitment(entry: Entry) -> str:
    """``sha256:…`` of the stored body: the name by which other bodies refer to a text that may be withheld."""
    return entry.body_digest


def text_entry(key: str, text: str, *, secrets: Sequence[bytes] = (), entropy: Entropy = os.urandom) -> Entry:
    """A text as an entry of its own, salted so that its commitment cannot be guessed.

    ``normalised`` in the body marks text that UTF-8 could not carry, ``redacted`` text in which a known secret value
    was replaced.
    """
    if type(text) is not str:
        raise TypeError(f"text {key}: {type(text).__name__} is not str")
    text, normalised = clean_text(text)
    redacted = False
    if secrets:
        data, count = redact(text.encode("utf-8"), secrets)
        if count:
            text, redacted = data.decode("utf-8", "replace"), True
    salt = entropy(_SALT_BYTES).hex()
    body: dict[str, Json] = {"salt": salt, "text": text}
    flags = ""
    if normalised:
        body["normalised"], flags = True, '"normalised":true,'
    if redacted:
        body["redacted"], flags = True, flags + '"redacted":true,'
    return _made(key, body, f'{{{flags}"salt":"{salt}","text":{encode_basestring(text)}}}'.encode())


def raw_entry(key: str, data: bytes, *, secrets: Sequence[bytes] = (), entropy: Entropy = os.urandom) -> Entry:
    """Wire bytes as a text entry in base64; known secret values are replaced before encoding, and flagged."""
    if type(data) is not bytes:
        raise TypeError(f"raw {key}: {type(data).__name__} is not bytes")
    count = 0
    if secrets:
        data, count = redact(data, secrets)
    salt = entropy(_SALT_BYTES).hex()
    text = base64.b64encode(data).decode("ascii")
    body: dict[str, Json] = {"base64": text, "salt": salt}
    if not count:
        return _made(key, body, f'{{"base64":"{text}","salt":"{salt}"}}'.encode())
    body["redacted"] = True
    return _made(key, body, f'{{"base64":"{text}","redacted":true,"salt":"{salt}"}}'.encode())


def _made(key: str, body: Mapping[str, Json], encoded: bytes) -> Entry:
    """A text entry whose canonical form is known by construction: the hot path of every call."""
    _check_names(TEXT_KIND, key)
    entry = object.__new__(Entry)
    put = object.__setattr__
    put(entry, "kind", TEXT_KIND)
    put(entry, "key", key)
    put(entry, "body", body)
    put(entry, "encoded", encoded)
    put(entry, "body_digest", digest(encoded))
    return entry


def well_named(kind: str, key: str) -> bool:
    """Whether both are of the alphabet in which they read the same in JSON, in SQL and in a shell."""
    return _KIND.fullmatch(kind) is not None and _KEY.fullmatch(key) is not None


def _check_names(kind: str, key: str) -> None:
    if type(kind) is not str or _KIND.fullmatch(kind) is None:
        raise ValueError(f"{kind!r} is not a kind: lower-case ASCII, at most 64 characters")
    if type(key) is not str or _KEY.fullmatch(key) is None:
        raise ValueError(f"{key!r} is not a key: printable ASCII without space, quote or backslash, at most 512")


def _deeper(value: Json, levels: int) -> bool:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else None
    return parts is not None and (levels == 0 or any(_deeper(part, levels - 1) for part in parts))


def _cleaned(value: Json) -> Json:
    if isinstance(value, str):
        return clean_text(value)[0]
    if isinstance(value, Mapping):
        return {name: _cleaned(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(item) for item in value]
    return value
