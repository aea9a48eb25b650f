"""Secret values out of wire bytes: a vendor may echo a key in an error, a header dump or a redirect.

Invariant: what is replaced is the secret's value in the forms in which it travels (plain, base64 at any alignment,
URL-encoded, JSON-escaped), and only values that the run itself was given; nothing is guessed by its looks.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import quote_from_bytes

__all__ = ["MARK", "redact"]

MARK = b"[secret]"
_SHORTEST_FRAGMENT = 8  # a shorter piece of base64 occurs by chance


def redact(data: bytes, secrets: Sequence[bytes]) -> tuple[bytes, int]:
    """``data`` with every known secret replaced by ``MARK``, and how many were. Longest forms go first."""
    patterns = _patterns(tuple(secrets))
    if not any(pattern in data for pattern in patterns):
        return data, 0
    return _expression(patterns).subn(MARK, data)


@lru_cache(maxsize=64)
def _patterns(secrets: tuple[bytes, ...]) -> tuple[bytes, ...]:
    forms = {form for secret in secrets if secret.strip() for form in _forms(secret.strip())}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


@lru_cache(maxsize=64)
def _expression(patterns: tuple[bytes, ...]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(re.escape(pattern) for pattern in patterns))


def _forms(secret: bytes) -> set[bytes]:
    quoted = quote_from_bytes(secret, safe="").encode("ascii")
    kept = quote_from_bytes(secret, safe="/").encode("ascii")
    forms = {secret, quoted, kept, quoted.replace(b"%20", b"+")}
    forms |= {re.sub(rb"%[0-9A-F]{2}", lambda escape: escape[0].lower(), form) for form in (quoted, kept)}
    text = secret.decode("utf-8", "replace")
    for ascii_only in (True, False):
        escaped = json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode("utf-8")
        forms |= {escaped, escaped.replace(b"/", b"\\/")}
    return forms | _base64_forms(secret)


def _base64_forms(secret: bytes) -> set[bytes]:
    """The characters of a base64 text that depend on the secret alone, for each place it may have in a group of three.

    ``Basic`` authentication encodes ``user:secret``, so the secret rarely begins a group.
    """
    forms = set()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + secret)
        first = (0, 2, 3)[before]
        spill = (before + len(secret)) % 3
        last = len(encoded) if spill == 0 else len(encoded) - (3 if spill == 1 else 2)
        fragment = encoded[first:last]
        if len(fragment) >= _SHORTEST_FRAGMENT:
            forms |= {fragment, fragment.replace(b"+", b"-").replace(b"/", b"_")}
    return forms
