"""Texts as sequences of folded words, for search at word boundaries.

Invariant: two texts that differ only in case, accents, punctuation, line ends or the ``v`` of a version are one here.
"""

from __future__ import annotations

from auditor.normalize import words

__all__ = ["spaced"]


def spaced(text: str) -> str:
    """The words of ``text`` with a space around each; ``v2.8`` is ``2.8``. Two spaces for a text without words."""
    return f" {' '.join(map(_bare, words(text)))} "


def _bare(word: str) -> str:
    return word[1:] if word[0] == "v" and word[1:2].isdigit() else word
