"""The nearest right name, for messages about a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]

_MAX_NAME_CHARACTERS = 200


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?``, or nothing when no known name is near."""
    close = difflib.get_close_matches(name[:_MAX_NAME_CHARACTERS], [str(one) for one in known], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
