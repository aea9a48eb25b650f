"""The ten passages nearest to a query, by BM25 and by embedded vectors.

Invariant: equal corpora and queries give equal passages in equal order; ties go to the passage that comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from auditor.normalize import content_words
from auditor_knowledge_gap.reading import Passage
from auditor_knowledge_gap.stem import stem

__all__ = ["EmbeddedIndex", "Found", "LexicalIndex"]

_K1, _B = 1.5, 0.75
_PLACES = 6  # scores are rounded before they are ordered: their last bits differ between machines
_SHORTEST_SENTENCE = 3


@dataclass(frozen=True, slots=True)
class Found:
    """Positions of passages, nearest first, and the best score (BM25's own scale, or cosine)."""

    positions: tuple[int, ...]
    best: float


class LexicalIndex:
    """BM25 (k1 1.5, b .75, METHODS §5) over the stems of passages."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages

    @cached_property
    def _index(self) -> Any:
        import bm25s  # type: ignore[import-untyped]  # ships no types

        index = bm25s.BM25(k1=_K1, b=_B)
        index.index([_stems(passage.text) for passage in self._passages], show_progress=False)
        return index

    def nearest(self, query: str, count: int) -> Found:
        """The ``count`` best passages that share a word with ``query``."""
        known = [word for word in _stems(query) if word in self._index.vocab_dict]
        if not known:
            return Found((), 0.0)
        scores = [round(float(score), _PLACES) for score in self._index.get_scores(known)]
        order = sorted((i for i, score in enumerate(scores) if score > 0), key=lambda i: (-scores[i], i))
        return Found(tuple(order[:count]), max(scores))


class EmbeddedIndex:
    """Cosine of wordllama vectors over single sentences and table rows, each with its document's context."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages

    @cached_property
    def _model(self) -> Any:
        import wordllama  # type: ignore[import-untyped]  # ships no types

        # The package looks for its tokenizer in a cache folder of the user's unless told where its own files are.
        here = Path(wordllama.__file__).parent
        return wordllama.WordLlama.load(cache_dir=here, disable_download=True)

    @cached_property
    def _vectors(self) -> tuple[tuple[int, ...], Any]:
        """The passage of each vector, and the vectors (one a row, length 1)."""
        pairs = [(i, f"{p.context}: {s}") for i, p in enumerate(self._passages) for s in p.sentences if _is_sentence(s)]
        return tuple(i for i, _ in pairs), self._embed([text for _, text in pairs])

    def _embed(self, texts: Sequence[str]) -> Any:
        import numpy as np

        vectors = self._model.embed(list(texts)).astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        return vectors / np.where(lengths > 0, lengths, 1.0)[:, None]

    def nearest(self, query: str, count: int) -> Found:
        """The ``count`` passages whose nearest sentences are nearest to ``query``."""
        import numpy as np

        owners, vectors = self._vectors
        if not owners:
            return Found((), 0.0)
        # einsum adds in one order on every machine; a product through BLAS does not.
        scores = [round(float(score), _PLACES) for score in np.einsum("ij,j->i", vectors, self._embed([query])[0])]
        order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
        return Found(tuple(dict.fromkeys(owners[i] for i in order))[:count], max(scores))


def _stems(text: str) -> list[str]:
    return [stem(word) for word in content_words(text)]


def _is_sentence(text: str) -> bool:
    return len(content_words(text)) >= _SHORTEST_SENTENCE
