"""Retrieval: which passages of the corpus a question is answered from.

A way of retrieving is one class here or in a module beside, entered in ``RETRIEVERS``.
Invariant: equal passages and query give equal hits in equal order on every machine; scores are rounded before they
are compared, and equal ones stand in the order of the corpus.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from auditor_local.term import content_terms, terms

__all__ = ["RETRIEVERS", "Bm25", "Hit", "Retrieval", "Retriever"]

_K1, _B = 1.5, 0.75
_SCORE_DIGITS = 4


class Retrieval(StrEnum):
    """Ways of retrieving, as a spec names them."""

    BM25 = "bm25"


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage by its ordinal, with its score."""

    passage: int
    score: Decimal


class Retriever(Protocol):
    """An index over passages. Immutable once made, so that threads share it."""

    def retrieve(self, query: str, k: int) -> list[Hit]:
        """The ``k`` best passages, best first; fewer only when there are fewer."""


class Bm25:
    """Okapi BM25 with k1 = 1.5, b = .75 (METHODS §5; idf as in Lucene, Kamphuis et al. 2020)."""

    def __init__(self, passages: Sequence[str]) -> None:
        import bm25s  # type: ignore[import-untyped]  # the package has no stubs

        self._count = len(passages)
        tokens = [terms(passage) for passage in passages]
        self._index = None
        if any(tokens):
            self._index = bm25s.BM25(k1=_K1, b=_B, method="lucene", dtype="float64", backend="numpy")
            self._index.index(tokens, show_progress=False)

    def retrieve(self, query: str, k: int) -> list[Hit]:
        """See ``Retriever``. Function words of the query do not count."""
        scores = self._scores(content_terms(query))
        best = heapq.nsmallest(k, range(self._count), key=lambda i: (-scores[i], i))
        return [Hit(i, Decimal(scores[i]).scaleb(-_SCORE_DIGITS)) for i in best]

    def _scores(self, query: list[str]) -> list[int]:
        """Scores in units of the last digit that counts."""
        if self._index is None or not query:
            return [0] * self._count
        return [round(score * 10**_SCORE_DIGITS) for score in self._index.get_scores(query).tolist()]


RETRIEVERS: Mapping[Retrieval, Callable[[Sequence[str]], Retriever]] = {Retrieval.BM25: Bm25}
