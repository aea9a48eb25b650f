"""Chunks: a document cut into overlapping passages, the way every embedded pipeline and proof reads it.

Invariant: the spans of a document's chunks, in order, leave out nothing but blank text, and no body is longer than
``size`` characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Chunk", "chunks"]

_SEPARATORS = ("\n\n", "\n", " ")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage. ``body`` is the document's text from ``start`` to ``end`` (characters), ``title`` its page's."""

    title: str
    body: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The passage as it is indexed and shown: its title, then its body."""
        return f"{self.title}\n\n{self.body.strip()}" if self.title else self.body.strip()


def chunks(text: str, title: str, *, size: int = 1500, overlap: int = 250) -> list[Chunk]:
    """Recursive chunks (METHODS §5): split at blank lines, then line breaks, then spaces, and joined up to ``size``.

    ``size`` and ``overlap`` are characters of the body; the title that ``Chunk.text`` puts before it comes on top.
    A chunk repeats the end of the one before it, at most ``overlap`` characters, from the start of a line or word.
    Blank chunks are left out. Raises ``ValueError`` unless ``0 <= overlap < size``.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"overlap {overlap} must be at least 0 and less than size {size}")
    made = [Chunk(title, text[start:end], start, end) for start, end in _spans(text, size, overlap)]
    return [chunk for chunk in made if chunk.body.strip()]


def _spans(text: str, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Spans of chunks: pieces of at most ``size - overlap`` characters, joined, each after its predecessor's end."""
    start = end = 0
    for piece_start, piece_end in _pieces(text, 0, len(text), size - overlap, 0):
        if piece_end - start > size:
            yield start, end
            start = _overlap_start(text, start, piece_start, overlap)
        end = piece_end
    if end > start:
        yield start, end


def _pieces(text: str, start: int, end: int, limit: int, level: int) -> Iterator[tuple[int, int]]:
    """Adjoining spans of at most ``limit`` characters, cut at the coarsest separator that makes them fit."""
    if end - start <= limit:
        if end > start:
            yield start, end
        return
    if level == len(_SEPARATORS):
        for cut in range(start, end, limit):
            yield cut, min(cut + limit, end)
        return
    separator = _SEPARATORS[level]
    while start < end:
        found = text.find(separator, start, end)
        stop = end if found < 0 else found + len(separator)
        yield from _pieces(text, start, stop, limit, level + 1)
        start = stop


def _overlap_start(text: str, start: int, end: int, overlap: int) -> int:
    """Where the chunk after ``[start, end)`` begins: the first line, else word, that starts in its last characters."""
    earliest = max(start + 1, end - overlap)
    last = earliest + len(text[earliest:end].rstrip())
    for separator in ("\n", " "):
        found = text.find(separator, earliest - 1, last)
        if found >= 0:
            return found + 1
    return min(earliest, end)
