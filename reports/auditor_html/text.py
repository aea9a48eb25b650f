"""Text from data, made fit to be looked at: nothing in it is invisible, and nothing in it turns the line round.

Escaping is the template's. Invariant: what ``shown`` returns can be encoded as UTF-8 and has no control, direction,
zero-width, private-use or surrogate character; each is shown by a sign or its code instead. Line breaks and tabs stay.
"""

from __future__ import annotations

import re

from auditor.canonical import clean_text

__all__ = ["clip", "shown"]

_CONTROL_PICTURES = 0x2400
_DELETE, _DELETE_PICTURE = 0x7F, 0x2421
# Zero-width joiners (U+200C, U+200D) stay: Persian words and emoji need them, and they move nothing.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ue000-\uf8ff\ufdd0-\ufdef\ufff0-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)


def shown(text: str) -> str:
    """``text`` as a reader is to see it."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_sign, clean_text(text)[0].replace("\r\n", "\n"))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    return chr(_DELETE_PICTURE) if code == _DELETE else f"⟨U+{code:04X}⟩"


def clip(text: str, characters: int) -> tuple[str, int]:
    """The first ``characters`` of ``text``, and how many more there are."""
    return text[:characters], max(0, len(text) - characters)
