"""The bytes of a signed file: where the signature stands, and that everything else is under it.

Invariant: no PDF parser has seen the file when this passes; what a stranger changed never reaches one.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from auditor.errors import SignatureError

__all__ = ["Envelope", "open_envelope"]

_BYTE_RANGE: Final = re.compile(
    rb"/ByteRange\s{0,8}\[\s{0,8}(\d{1,12})\s{1,8}(\d{1,12})\s{1,8}(\d{1,12})\s{1,8}(\d{1,12})\s{0,8}\]"
)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A file split into what is signed and the signature. ``byte_range``: as written; ``contents``: hex digits."""

    byte_range: tuple[int, int, int, int]
    contents: bytes
    digest: bytes


def open_envelope(data: bytes) -> Envelope:
    """Raises ``SignatureError`` unless one signature covers everything from 0 to the end of the file but its own hex
    digits. That it is the only one is for whoever reads the structure: text of a report may look like a second.
    """
    if not data.startswith(b"%PDF-"):
        raise SignatureError("the file does not begin as a PDF does")
    ranges = [tuple(int(number) for number in place) for place in _BYTE_RANGE.findall(data)]
    if not ranges:
        raise SignatureError("there is no signature in the file")
    whole = [(s, b, a, r) for s, b, a, r in ranges if s == 0 and b < a and a + r == len(data)]
    if len(whole) != 1:
        raise SignatureError(f"{len(whole)} signatures cover the file from its first byte to its last, not one")
    _, before, after, _ = whole[0]
    gap = data[before:after]
    if gap[:1] != b"<" or gap[-1:] != b">" or len(gap) % 2:
        raise SignatureError("the signature leaves out something other than itself")
    signed = hashlib.sha256(data[:before])
    signed.update(data[after:])
    return Envelope(whole[0], gap[1:-1], signed.digest())
