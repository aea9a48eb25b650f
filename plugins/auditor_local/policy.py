"""Policies: when a pipeline answers and when it declines.

Invariant: a policy sees how much speaks for an answer, or what the answer cites; never whether the answer is right.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum

__all__ = ["Policy", "answers"]


class Policy(StrEnum):
    """Policies, as a spec names them."""

    ANSWER_ALWAYS = "answer_always"
    ABSTAIN_BELOW = "abstain_below"
    CITE_OR_DECLINE = "cite_or_decline"


def answers(policy: Policy, evidence: Decimal, threshold: Decimal | None) -> bool:
    """Whether the policy lets an answer with this evidence out. ``threshold``: for all but ``ANSWER_ALWAYS``."""
    if policy is Policy.ANSWER_ALWAYS:
        return True
    if threshold is None:
        raise ValueError(f"{policy} needs a threshold")
    return evidence >= threshold
