"""A crude English stemmer: enough to make singular and plural, and the common verb endings, one word.

Invariant: it errs towards making words equal, which makes a proof of absence harder and never easier.
"""

from __future__ import annotations

__all__ = ["stem"]

_ENDINGS = ("ing", "ed", "es", "s", "e", "ly")
_SHORTEST = 3


def stem(word: str) -> str:
    """``word`` (folded) without its ending; words with a digit, and words of three letters or fewer, stay."""
    if len(word) <= _SHORTEST or any(character.isdigit() for character in word):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 2 * _SHORTEST - 1 else word[:-1]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and not word.endswith("ss"):
            return _undoubled(word[: -len(ending)])
    return word


def _undoubled(root: str) -> str:
    """``stopp`` is ``stop``."""
    return root[:-1] if len(root) > _SHORTEST and root[-1] == root[-2] and root[-1] not in "ls" else root
