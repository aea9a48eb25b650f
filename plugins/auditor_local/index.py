"""The index of a local pipeline: passages ranked by words, by vectors, or by both.

Invariant: immutable once made, so that threads share it; it serves every way that its parts allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from auditor.canonical import digest
from auditor_local.embedding import COSINE_DIGITS, Embed, Vectors, cosines
from auditor_local.retrieval import SCORE_DIGITS, Bm25, Hit, Retrieval, best, blended, fused, hits, ordered

__all__ = ["FUSED_DEPTH", "RERANK_DEPTH", "Index", "needs_vectors", "needs_words"]

FUSED_DEPTH = 50  # of each list that is fused (METHODS §5); more where more are asked for
RERANK_DEPTH = 30
_FUSION_DIGITS, _BLEND_DIGITS = 9, 6


def needs_words(way: Retrieval) -> bool:
    """Whether a way ranks by words."""
    return way is not Retrieval.DENSE


def needs_vectors(way: Retrieval) -> bool:
    """Whether a way ranks by vectors."""
    return way is not Retrieval.BM25


@dataclass(frozen=True, slots=True)
class Index:
    """``words`` and ``vectors``: None where the way that the index was made for does without."""

    words: Bm25 | None
    vectors: Vectors | None

    @classmethod
    def over(cls, passages: Sequence[str], way: Retrieval, vectors: Callable[[], Vectors]) -> Index:
        """An index over passages. ``vectors`` is called only where the way needs them."""
        return cls(Bm25(passages) if needs_words(way) else None, vectors() if needs_vectors(way) else None)

    @property
    def vectors_digest(self) -> str | None:
        """What the vectors are; None where there are none."""
        return None if self.vectors is None else digest(self.vectors.tobytes())

    def serves(self, way: Retrieval) -> bool:
        """Whether the index has the parts that a way needs."""
        return (self.words is not None or not needs_words(way)) and (self.vectors is not None or not needs_vectors(way))

    def retrieve(self, way: Retrieval, query: str, k: int, embed: Embed) -> list[Hit]:
        """The ``k`` best passages, best first; fewer only when there are fewer. Raises ``ValueError`` unless it serves.

        ``embed`` makes the query's vector and is called only where the way needs it.
        """
        if not self.serves(way):
            raise ValueError(f"the index does not serve {way}")
        if way is Retrieval.BM25:
            return _of_list(self._words(query), k, SCORE_DIGITS)
        if way is Retrieval.DENSE:
            return _of_list(self._cosines(query, embed), k, COSINE_DIGITS)
        measures = (self._words(query), self._cosines(query, embed))
        scores = fused([best(measure, max(FUSED_DEPTH, k)) for measure in measures])
        if way is Retrieval.HYBRID:
            return hits(scores, k, _FUSION_DIGITS)
        return hits(blended(ordered(scores)[: max(RERANK_DEPTH, k)], measures), k, _BLEND_DIGITS)

    def _words(self, query: str) -> list[int]:
        return [] if self.words is None else self.words.scores(query)

    def _cosines(self, query: str, embed: Embed) -> list[int]:
        return [] if self.vectors is None else cosines(self.vectors, embed([query]))


def _of_list(scores: Sequence[int], k: int, digits: int) -> list[Hit]:
    return hits({passage: scores[passage] for passage in best(scores, k)}, k, digits)
