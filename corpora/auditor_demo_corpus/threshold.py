"""The rule that set the threshold of the demo's abstaining system, from questions that the demo does not ask.

Invariant: the rule sees evidence scores and whether a question has an answer in the documents, nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

__all__ = ["best_threshold"]

_GRID = tuple(Decimal(step) / 20 for step in range(21))


def best_threshold(answerable: Sequence[Decimal], unanswerable: Sequence[Decimal]) -> Decimal:
    """The lowest threshold, in steps of .05, at which attempts and abstentions are right most often, equally weighted.

    That is Youden's index: the share of answerable questions with evidence at or above the threshold, plus the share
    of unanswerable ones below it. Both sequences hold evidence from 0 to 1; raises ``ValueError`` if one is empty.
    """
    if not answerable or not unanswerable:
        raise ValueError("the rule needs questions of both sorts")

    def index(threshold: Decimal) -> Fraction:
        attempted = Fraction(sum(evidence >= threshold for evidence in answerable), len(answerable))
        abstained = Fraction(sum(evidence < threshold for evidence in unanswerable), len(unanswerable))
        return attempted + abstained

    return max(_GRID, key=lambda threshold: (index(threshold), -threshold))
