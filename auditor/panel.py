"""The panel: votes of three or more judges as one verdict.

Invariant: the verdict is the seated panel's. An incomplete panel decides only when no value of the missing votes could
change the verdict, and the order of judges never matters (DESIGN §4, rule 3; METHODS §1, "verdict").
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from auditor.label import Reduced, Vote

__all__ = ["UNRESOLVED", "Verdict", "median_verdict", "reduce_votes"]

UNRESOLVED = "unresolved"


class Verdict(StrEnum):
    """The ordered scale of a vote, lowest first."""

    INCORRECT = "incorrect"
    PARTIAL = "partial"
    CORRECT = "correct"

    @property
    def rank(self) -> int:
        """Place on the scale, from 0."""
        return _SCALE.index(self)


_SCALE = tuple(Verdict)


def median_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """The middle one of an odd number of verdicts; a 1–1–1 split is partial."""
    if len(verdicts) % 2 == 0:
        raise ValueError(f"{len(verdicts)} verdicts have no middle one")
    return sorted(verdicts, key=lambda verdict: verdict.rank)[len(verdicts) // 2]


def reduce_votes(votes: Sequence[Vote]) -> Reduced:
    """The panel's verdict, or None when the missing votes could change it.

    ``votes`` holds one vote a seat, non-votes included: a panel is never made smaller. Raises ``ValueError`` for fewer
    than three seats, an even number of them, or a value that is no verdict.
    """
    if len(votes) < 3 or len(votes) % 2 == 0:
        raise ValueError(f"a panel has an odd number of seats, at least three; this one has {len(votes)}")
    cast = [Verdict(str(vote.value)) for vote in votes if vote.non_label is None]
    missing = len(votes) - len(cast)
    lowest = median_verdict([*cast, *[_SCALE[0]] * missing])
    highest = median_verdict([*cast, *[_SCALE[-1]] * missing])
    if lowest is highest:
        return Reduced(lowest.value)
    reasons = sorted(str(vote.non_label) for vote in votes if vote.non_label is not None)
    return Reduced(None, f"{UNRESOLVED}: {missing} of {len(votes)} votes missing ({', '.join(reasons)})")
