"""Text from data, made harmless for a terminal.

Answers, document names, vendors' messages and plugins' reasons are hostile input: an escape sequence can rewrite what
stands above it, a direction override can turn a number round. Invariant: what ``visible`` returns is one line without
control, direction, private-use or surrogate characters, each shown by its escape instead.
"""

from __future__ import annotations

import logging
import unicodedata

__all__ = ["VisibleFormatter", "clipped", "visible", "visible_lines"]

_JOINERS = "\u200c\u200d"  # Persian words and emoji need them, and they move nothing
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_MAX_LINE_CHARACTERS = 4000


def visible(text: str) -> str:
    """``text`` as one harmless line."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def visible_lines(text: str) -> str:
    """``text`` with its line breaks kept and every line harmless."""
    return "\n".join(visible(line) for line in text.splitlines())


def clipped(text: str, characters: int = _MAX_LINE_CHARACTERS) -> str:
    """``text`` cut to ``characters``, with the cut shown."""
    return text if len(text) <= characters else f"{text[:characters]}… ({len(text) - characters} characters more)"


def _shown(character: str) -> str:
    if character in "\t\n\r":
        return " "
    if character in _JOINERS or unicodedata.category(character) not in _HIDDEN:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class VisibleFormatter(logging.Formatter):
    """Log records for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return visible_lines(super().format(record))
