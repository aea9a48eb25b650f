"""Judge by embedding: is there a stretch of the candidate whose word vectors point where the reference's do?

Catches other wordings of a name; hardly tells one number from another, and knows no units: there it errs.
Invariant: vectors are rounded to integers once, sums and products are exact integers, and the one square root is
rounded before any threshold, so that no kernel, thread count or library version can turn a vote.
"""

from __future__ import annotations

import math
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from auditor.panel import Verdict
from auditor_embedded_judges.reference import in_digits, lead, outer_text, plain
from auditor_embedded_judges.reply import EmbeddedJudge, Judgement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EmbeddingAgreement"]

_CORRECT, _PARTIAL = 800, 600  # thousandths of a cosine
_SCALE = 4096  # a power of two: scaling a float32 is exact
_MAX_WORD = 64  # letters of one word that are read
_MAX_REFERENCE = 64  # words of a reference that are read


class EmbeddingAgreement(EmbeddedJudge):
    """See the module."""

    method: ClassVar[str] = "embedding-agreement"

    def judge(self, question: str, reference: str, candidate: str) -> Judgement:
        """Verdict against one reference: over the lead, and at most partial over the rest."""
        wanted = in_digits(outer_text(reference))[:_MAX_REFERENCE]
        first = lead(candidate)
        score = _best_agreement(wanted, in_digits(plain(first)))
        if score < _CORRECT and len(first) < len(candidate):
            score = max(score, min(_best_agreement(wanted, in_digits(plain(candidate))), _CORRECT - 1))
        reason = f"agreement {score} of 1000"
        if score >= _CORRECT:
            return Verdict.CORRECT, reason
        return (Verdict.PARTIAL if score >= _PARTIAL else Verdict.INCORRECT), reason


_LOCK = threading.Lock()


@lru_cache(maxsize=1)
def _model() -> tuple[Any, NDArray[np.int64]]:
    """Tokeniser and integer table of word vectors, from inside the package."""
    from pathlib import Path

    import numpy as np
    import wordllama  # type: ignore[import-untyped]  # ships no type information

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    table = np.rint(model.embedding.astype(np.float64) * _SCALE).astype(np.int64)
    return model.tokenizer, table


def _vectors(of: tuple[str, ...]) -> NDArray[np.int64]:
    """One integer vector a word: the sum of its tokens. Shape (words, dimensions)."""
    import numpy as np

    with _LOCK:
        tokenizer, table = _model()
    unique = sorted({word[:_MAX_WORD] for word in of})
    encoded = tokenizer.encode_batch(unique, add_special_tokens=False)
    ids = {
        word: [token for token, real in zip(one.ids, one.attention_mask, strict=True) if real]  # a batch is padded
        for word, one in zip(unique, encoded, strict=True)
    }
    sums = {word: table[ids[word]].sum(axis=0) for word in unique}
    return np.stack([sums[word[:_MAX_WORD]] for word in of])


def _best_agreement(wanted: tuple[str, ...], said: tuple[str, ...]) -> int:
    """The best cosine, in thousandths, of the reference with any stretch of about its length; 0 at least."""
    import numpy as np

    if not wanted or not said:
        return 0
    goal = _vectors(wanted).sum(axis=0)
    running = np.concatenate([np.zeros((1, goal.shape[0]), dtype=np.int64), _vectors(said).cumsum(axis=0)])
    best = 0
    for length in range(max(1, len(wanted) - 1), len(wanted) + 3):
        reach = min(length, len(said))
        stretches = running[reach:] - running[:-reach]
        dots = (stretches * goal).sum(axis=1)
        norms = (stretches * stretches).sum(axis=1)
        best = max(best, max(map(_thousandths, dots.tolist(), norms.tolist(), [int((goal * goal).sum())] * len(dots))))
    return best


def _thousandths(dot: int, norm: int, goal_norm: int) -> int:
    """Cosine in thousandths, rounded down, from exact integers."""
    if dot <= 0 or not norm or not goal_norm:
        return 0
    return math.isqrt(1_000_000 * dot * dot // (norm * goal_norm))
