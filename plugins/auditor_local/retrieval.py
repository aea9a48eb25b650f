"""Retrieval: ways of ranking the passages of a corpus for a question, and how rankings are joined.

Invariant: scores are whole numbers in units of their last digit before anything is compared, and equal ones stand in
the order of the corpus; so equal passages and query give equal hits in equal order on every machine.
"""

from __future__ import annotations

import heapq
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from auditor_local.term import content_terms, terms

__all__ = ["SCORE_DIGITS", "Bm25", "Hit", "Retrieval", "best", "blended", "fused", "hits", "ordered"]

SCORE_DIGITS = 4  # of a BM25 score and of a cosine
_K1, _B = 1.5, 0.75
_FUSION_CONSTANT = 60
_FUSION_UNIT = 10**9
_BLEND_DIGITS = 6


class Retrieval(StrEnum):
    """Ways of retrieving, as a spec names them."""

    BM25 = "bm25"
    DENSE = "dense"
    HYBRID = "hybrid"
    RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage by its ordinal, with the score of the way that found it."""

    passage: int
    score: Decimal


class Bm25:
    """Okapi BM25 with k1 = 1.5, b = .75 (METHODS §5; idf as in Lucene, Kamphuis et al. 2020).

    Immutable once made, so that threads share it.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        import bm25s  # type: ignore[import-untyped]  # the package has no stubs

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to DEBUG when it is imported
        self._count = len(passages)
        tokens = [terms(passage) for passage in passages]
        self._index = None
        if any(tokens):
            self._index = bm25s.BM25(k1=_K1, b=_B, method="lucene", dtype="float64", backend="numpy")
            self._index.index(tokens, show_progress=False)

    def scores(self, query: str) -> list[int]:
        """One score a passage, in units of 10**-4. Function words of the query do not count."""
        asked = content_terms(query)
        if self._index is None or not asked:
            return [0] * self._count
        return [round(score * 10**SCORE_DIGITS) for score in self._index.get_scores(asked).tolist()]


def best(scores: Sequence[int], k: int) -> list[int]:
    """Ordinals of the ``k`` highest scores, best first; fewer only when there are fewer."""
    return heapq.nsmallest(k, range(len(scores)), key=lambda i: (-scores[i], i))


def fused(rankings: Sequence[Sequence[int]]) -> dict[int, int]:
    """Reciprocal rank fusion, constant 60 (METHODS §5): score by passage, in units of 10**-9."""
    scores: dict[int, int] = {}
    for ranking in rankings:
        for rank, passage in enumerate(ranking, 1):
            scores[passage] = scores.get(passage, 0) + _FUSION_UNIT // (_FUSION_CONSTANT + rank)
    return scores


def blended(candidates: Sequence[int], measures: Sequence[Sequence[int]]) -> dict[int, int]:
    """Sum of z-scores over the candidates, one for each measure: score by passage, in units of 10**-6."""
    standard = [_z_scores([measure[passage] for passage in candidates]) for measure in measures]
    return {passage: sum(column) for passage, column in zip(candidates, zip(*standard, strict=True), strict=True)}


def _z_scores(values: Sequence[int]) -> list[int]:
    """z-scores in units of 10**-6; all 0 where the values do not differ. IEEE basic operations only."""
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return [round((value - mean) / deviation * 10**_BLEND_DIGITS) if deviation else 0 for value in values]


def ordered(scores: Mapping[int, int]) -> list[int]:
    """Passages of a score by passage, best first, equal ones in the order of the corpus."""
    return sorted(scores, key=lambda passage: (-scores[passage], passage))


def hits(scores: Mapping[int, int], k: int, digits: int) -> list[Hit]:
    """The ``k`` best as hits. ``digits``: decimals of the unit that scores are in."""
    return [Hit(passage, Decimal(scores[passage]).scaleb(-digits)) for passage in ordered(scores)[:k]]
