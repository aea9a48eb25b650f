"""Right-to-left text: lines are broken in the order of reading, then each is put into the order of drawing.

Needs the extra ``arabic``; without it such text is shown by its code points. Invariant: marks of direction in the text
are shown, never obeyed, so that no text can be drawn in another order than its letters have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import Flowable

from auditor_pdf.script import Piece
from auditor_pdf.style import Look

__all__ = ["BidiParagraph", "Reorder", "load_reorder"]

Reorder = Callable[[str], str]
Visual = Callable[[str, Look], list[Piece]]


def load_reorder() -> Reorder | None:
    """What turns a line of text into the glyphs to draw, from left to right; None without the extra ``arabic``."""
    if find_spec("bidi") is None or find_spec("arabic_reshaper") is None:
        return None
    reshaper, bidi = import_module("arabic_reshaper"), import_module("bidi")  # an extra: types may not be there

    def reorder(line: str) -> str:
        return str(bidi.get_display(reshaper.reshape(line)))

    return reorder


class BidiParagraph(Flowable):
    """Lines with right-to-left text, aligned to the right. Splits between lines."""

    def __init__(self, lines: Sequence[str], look: Look, visual: Visual, reorder: Reorder) -> None:
        super().__init__()
        self.lines, self.look, self.visual, self.reorder = list(lines), look, visual, reorder
        self.broken: list[str] = []
        self.spaceBefore, self.spaceAfter = look.before, look.after
        self.keepWithNext = look.keep

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        """Width and height in points that the lines take."""
        self.width = width
        self.broken = [part for line in self.lines for part in self._wrapped(line, width)]
        self.height = len(self.broken) * self.look.leading
        return width, self.height

    def minWidth(self) -> float:
        """The least width in points that a table column may give it."""
        return 4 * self.look.size

    def split(self, width: float, height: float) -> list[Any]:
        """What fits into ``height``, and the rest."""
        self.wrap(width, height)
        fit = int(height // self.look.leading)
        if fit < 1 or fit >= len(self.broken):
            return [] if fit < 1 else [self]
        return [self._like(self.broken[:fit]), self._like(self.broken[fit:])]

    def draw(self) -> None:
        """Each line, up to the right edge."""
        for number, line in enumerate(self.broken):
            drawn = self._drawn(line)
            x = max(0.0, self.width - self._width(drawn))
            y = self.height - (number + 1) * self.look.leading + (self.look.leading - self.look.size) / 2 + 1
            for piece in drawn:
                self.canv.setFont(piece.face, self.look.size)
                self.canv.setFillColor(self.look.colour)
                self.canv.drawString(x, y, piece.text)
                x += self._width([piece])

    def _like(self, lines: list[str]) -> BidiParagraph:
        return BidiParagraph(lines, self.look, self.visual, self.reorder)

    def _drawn(self, line: str) -> list[Piece]:
        return self.visual(self.reorder(line), self.look)

    def _width(self, drawn: Sequence[Piece]) -> float:
        return sum(stringWidth(piece.text, piece.face, self.look.size) for piece in drawn)

    def _wrapped(self, line: str, width: float) -> list[str]:
        """A line in parts that fit, broken at blanks, else within words."""
        parts, held = [], ""
        for word in line.split(" "):
            longer = f"{held} {word}" if held else word
            if self._width(self._drawn(longer)) <= width:
                held = longer
                continue
            if held:
                parts.append(held)
            *whole, held = self._chopped(word, width)
            parts += whole
        return [*parts, held]

    def _chopped(self, word: str, width: float) -> list[str]:
        chunks, held = [], ""
        for character in word:
            if held and self._width(self._drawn(held + character)) > width:
                chunks.append(held)
                held = ""
            held += character
        return [*chunks, held]
