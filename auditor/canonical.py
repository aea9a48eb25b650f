"""Canonical JSON and tagged digests: the one way in which this project turns values into bytes and bytes into names.

Invariant: ``canonical(v)`` equals RFC 8785 on the values that ``check`` lets through (text, integers below 2**53 in
size, booleans, null, lists, objects with ASCII keys; no floats).
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

__all__ = [
    "ALGORITHM",
    "Json",
    "canonical",
    "check",
    "clean_text",
    "decimal_text",
    "digest",
    "keyed_digest",
]

ALGORITHM = "sha256"

Json: TypeAlias = "None | bool | int | str | Sequence[Json] | Mapping[str, Json]"

_MAX_INTEGER = 2**53
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=dict)


def check(value: object) -> None:
    """Raise ``TypeError`` or ``ValueError`` if ``value`` is not of the subset; floats are refused, not rounded."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return
    if kind is int:
        if not -_MAX_INTEGER < value < _MAX_INTEGER:  # type: ignore[operator] # its type was just seen
            raise ValueError(f"integer {value} is outside ±2**53")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if type(key) is not str or not key.isascii():
                raise TypeError(f"key {key!r} is not ASCII text")
            check(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            check(item)
    else:
        raise TypeError(f"{kind.__name__} {value!r} has no canonical form; decimals are written as text")


def canonical(value: Json) -> bytes:
    """UTF-8 bytes of ``value`` in canonical form. Lone surrogates raise ``UnicodeEncodeError``: see ``clean_text``."""
    check(value)
    return _ENCODER.encode(value).encode("utf-8")


def digest(data: bytes) -> str:
    """``sha256:<hex>`` of ``data``."""
    return f"{ALGORITHM}:{hashlib.sha256(data).hexdigest()}"


def keyed_digest(key: bytes, value: Json) -> str:
    """32 hex characters of HMAC-SHA-256: a name for guessable text that cannot be tested without ``key``."""
    return hmac.new(key, canonical(value), hashlib.sha256).hexdigest()[:32]


def clean_text(text: str) -> tuple[str, bool]:
    """Text that UTF-8 can carry, and whether it had to be changed: lone surrogates become U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), True
    return text, False


def decimal_text(value: float | Decimal | int) -> str:
    """Decimal notation of a finite number as the ledger stores it: shortest form that reads back equal."""
    number = value if isinstance(value, Decimal) else Decimal(repr(value))
    if not number.is_finite():
        raise ValueError(f"{value!r} is not a finite number")
    return format(number, "f")
