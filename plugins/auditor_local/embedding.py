"""Embedding: texts as integer vectors of about unit length, from the packaged word vectors or from any floats.

Invariant: vectors are made item by item with IEEE basic operations and rounded to integers once; every sum and product
after that is exact, so that no kernel, thread count or batch can turn a ranking.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from auditor.canonical import clean_text, digest
from auditor.errors import CallError, Fault, FaultReport
from auditor.system import Ports

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "COSINE_DIGITS",
    "EMBEDDER_PORT",
    "Embed",
    "Vectors",
    "cosines",
    "embed_words",
    "embedder_of",
    "quantised",
    "words_identity",
]

Vectors: TypeAlias = "NDArray[np.int32]"
Embed: TypeAlias = Callable[[Sequence[str]], "Vectors"]
"""Texts to integer vectors. Shape (texts, dimensions)."""

EMBEDDER_PORT = "embedder"
COSINE_DIGITS = 4
_UNIT = 2**14  # length of a vector; the product of two fits a cosine of eight digits into 64 bits
_TOKEN_SCALE = 4096  # a power of two: scaling a float32 is exact


def quantised(rows: Sequence[Sequence[float]]) -> Vectors:
    """Vectors scaled to length 2**14 and rounded; a row of zeros stays. Raises ``CallError`` for what is no vector."""
    import numpy as np

    if len({len(row) for row in rows}) > 1 or any(not row for row in rows):
        raise CallError(FaultReport(Fault.CONTRACT, "the embedder's vectors differ in length"))
    made = np.zeros((len(rows), len(rows[0]) if rows else 0), dtype=np.int32)
    for place, row in enumerate(rows):
        length = math.sqrt(math.fsum(number * number for number in row))
        if not math.isfinite(length):
            raise CallError(FaultReport(Fault.CONTRACT, "the embedder's vector holds no finite numbers"))
        if length:
            made[place] = [round(number / length * _UNIT) for number in row]
    return made


def cosines(vectors: Vectors, query: Vectors) -> list[int]:
    """Cosine of each vector with the one query, in units of 10**-4. Shapes (n, d) and (1, d)."""
    import numpy as np

    if vectors.shape[1] != query.shape[1]:
        raise CallError(FaultReport(Fault.CONTRACT, "the query's vector is of another length than the index's"))
    dots = (vectors.astype(np.int64) * query[0].astype(np.int64)).sum(axis=1)
    return [round(dot * 10**COSINE_DIGITS / _UNIT**2) for dot in dots.tolist()]


_LOCK = threading.Lock()


@lru_cache(maxsize=1)
def _words() -> tuple[Any, NDArray[np.int64]]:
    """Tokeniser and integer table of word vectors, from inside the package; nothing is fetched."""
    from pathlib import Path

    import numpy as np
    import wordllama  # type: ignore[import-untyped]  # ships no type information

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    tokenizer = model.tokenizer
    tokenizer.no_truncation()  # a passage is read whole
    table = np.rint(model.embedding.astype(np.float64) * _TOKEN_SCALE).astype(np.int64)
    return tokenizer, table


def embed_words(texts: Sequence[str]) -> Vectors:
    """Sums of the texts' word vectors (wordllama), as ``quantised`` gives them."""
    with _LOCK:
        tokenizer, table = _words()
    encoded = tokenizer.encode_batch([clean_text(text)[0] for text in texts], add_special_tokens=False)
    rows = []
    for one in encoded:
        ids = [token for token, real in zip(one.ids, one.attention_mask, strict=True) if real]  # a batch is padded
        rows.append([float(number) for number in table[ids].sum(axis=0).tolist()])
    return quantised(rows)


def embedder_of(ports: Ports) -> Embed:
    """The embedder of the port ``embedder`` where the spec names one, else the packaged word vectors."""
    port = ports.embedders.get(EMBEDDER_PORT)
    return embed_words if port is None else lambda texts: quantised(port.embed(texts))


def words_identity() -> str:
    """Digest of the packaged word vectors: vectors of other weights are other vectors."""
    with _LOCK:
        _, table = _words()
    return digest(table.tobytes())
