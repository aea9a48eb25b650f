"""A crude English stemmer: enough to make singular and plural, and the common verb endings, one word.

Invariant: it errs towards making words equal, which makes a proof of absence harder and never easier.
"""

from __future__ import annotations

__all__ = ["stem"]

_ENDINGS = ("ing", "ed", "ly", "e")
_SHORTEST = 3


def stem(word: str) -> str:
    """``word`` (folded) without its endings; words with a digit, and words of three letters or fewer, stay."""
    if len(word) <= _SHORTEST or any(character.isdigit() for character in word):
        return word
    root = _singular(word)
    for ending in _ENDINGS:
        if root.endswith(ending) and len(root) - len(ending) >= _SHORTEST:
            return _undoubled(root.removesuffix(ending))
    return root


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > _SHORTEST + 1:
        return f"{word[:-3]}y"
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _undoubled(root: str) -> str:
    """``stopp`` is ``stop``; ``pass`` and ``fill`` stay."""
    return root[:-1] if len(root) > _SHORTEST and root[-1] == root[-2] and root[-1] not in "ls" else root
