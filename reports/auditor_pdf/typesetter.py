"""Typesetting: text from data becomes paragraphs; nothing in it is markup, and nothing of it is lost in silence.

Invariant: whatever is shown by code point, drawn with a font that is not in the file, or cut is counted here, and the
report says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from xml.sax.saxutils import escape

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_LEFT, TA_RIGHT
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Flowable, Paragraph

from auditor.canonical import clean_text
from auditor_pdf.bidi import BidiParagraph, Reorder
from auditor_pdf.font import Fonts
from auditor_pdf.script import CJK_CODECS, Face, Piece, is_right_to_left, pieces
from auditor_pdf.style import CODED, LOOKS, MUTED, Look

__all__ = ["Heading", "Typesetter", "line_texts", "single_line"]

_LINE_ENDS = re.compile(r"\r\n|[\r\n\v\f\x85\u2028\u2029]")
_ROOM = 3  # characters shown for each character that may stand: code points take more room than what they stand for
_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as contents and outline have it. ``level`` counts from 0."""

    level: int
    text: str
    anchor: str


def line_texts(text: str) -> list[str]:
    """Lines of a text; every mark of a line's end counts."""
    return _LINE_ENDS.split(clean_text(text)[0])


def single_line(text: str) -> str:
    """``text`` on one line."""
    return _BLANKS.sub(" ", " ".join(line_texts(text)))


@dataclass
class Typesetter:
    """Makes paragraphs of one document and remembers what could not be shown as it is."""

    fonts: Fonts
    reorder: Reorder | None = None
    coded: Counter[str] = field(default_factory=Counter)
    not_embedded: int = 0
    cut: int = 0
    headings: list[Heading] = field(default_factory=list)
    numbers: Counter[str] = field(default_factory=Counter)

    def faces(self, look: Look) -> Sequence[Face]:
        """Fonts of a style in the order in which they are tried."""
        return self.fonts.mono if look.mono else self.fonts.bold if look.bold else self.fonts.regular

    def pieces(self, text: str, look: Look, *, right_to_left: bool = False) -> Iterator[Piece]:
        """Stretches of one line in one font each, counted."""
        faces = self.faces(look)
        for piece in pieces(clean_text(text)[0], faces, right_to_left=right_to_left):
            if piece.coded:
                self.coded.update(piece.source)
                piece = Piece(piece.text, faces[0].name, True, piece.source)
            elif piece.face in CJK_CODECS:
                self.not_embedded += len(piece.text)
            yield piece

    def clip(self, text: str, limit: int | None, look: Look) -> tuple[str, str]:
        """``text`` cut to ``limit`` characters, or fewer where code points take much more room; and what to say of the
        rest.
        """
        text = clean_text(text)[0]
        if limit is None:
            return text, ""
        shown = text[:limit] if text[:limit].isascii() else _bounded(text[:limit], self.faces(look), _ROOM * limit)
        if len(shown) == len(text):
            return text, ""
        self.cut += 1
        return shown, f" … [{len(text) - len(shown):,} characters more]".replace(",", "\u00a0")

    def markup(self, text: str, look: Look, *, limit: int | None = None) -> str:
        """``text`` as the paragraphs' own markup, every sign of it escaped. Line ends stay."""
        shown, rest = self.clip(text, limit, look)
        lines = ["".join(_tagged(piece) for piece in self.pieces(line, look)) for line in line_texts(shown)]
        after = f'<font color="{MUTED}">{escape(rest)}</font>' if rest else ""
        return "<br/>".join(lines) + after

    def paragraph(self, text: str, name: str = "body", *, limit: int | None = None, bullet: str = "") -> Flowable:
        """A paragraph of a text from anywhere."""
        look = LOOKS[name]
        if self.reorder is not None and is_right_to_left(text):
            shown, rest = self.clip(text, limit, look)
            lines = [self._codes_out(line, look) for line in [*line_texts(shown), *([rest] if rest else [])]]
            return BidiParagraph(lines, look, self._visual, self.reorder)
        made = Paragraph(self.markup(text, look, limit=limit), self._style(name), bulletText=bullet or None)
        return made

    def rich(self, markup: str, name: str = "body") -> Flowable:
        """A paragraph of markup that ``markup`` made."""
        return Paragraph(markup, self._style(name))

    def heading(self, text: str, level: int) -> Flowable:
        """A heading that contents and outline know."""
        line, rest = self.clip(single_line(text), 200, LOOKS[f"h{level + 1}"])
        heading = Heading(level, line + rest, f"h{len(self.headings)}")
        self.headings.append(heading)
        made = self.paragraph(heading.text, f"h{level + 1}")
        made.auditor_heading = heading  # type: ignore[attr-defined] # flowables carry what the document asks them for
        return made

    def number(self, kind: str) -> int:
        """The next number of a kind of thing: tables, figures."""
        self.numbers[kind] += 1
        return self.numbers[kind]

    def shown(self, text: str, look: Look) -> str:
        """``text`` as a reader will see it, for places that hold plain text."""
        return "".join(piece.text for piece in self.pieces(single_line(text), look))

    def _codes_out(self, line: str, look: Look) -> str:
        """``line`` with code points in the place of what is not drawn: a mark must not turn its neighbours."""
        return "".join(piece.text for piece in self.pieces(line, look, right_to_left=True))

    def _visual(self, line: str, look: Look) -> list[Piece]:
        return list(self.pieces(line, look, right_to_left=True))

    def _style(self, name: str) -> ParagraphStyle:
        return _paragraph_style(name, self.faces(LOOKS[name])[0].name)


def _bounded(text: str, faces: Sequence[Face], room: int) -> str:
    """As much of ``text`` as is shown in ``room`` characters."""
    taken = used = 0
    for piece in pieces(text, faces):
        used += len(piece.text)
        if used > room:
            return text[: taken if piece.coded else taken + len(piece.text) - (used - room)]
        taken += len(piece.source) if piece.coded else len(piece.text)
    return text


def _tagged(piece: Piece) -> str:
    colour = f' color="{CODED}"' if piece.coded else ""
    return f'<font name="{piece.face}"{colour}>{escape(piece.text)}</font>' if piece.text else ""


@cache
def _paragraph_style(name: str, face: str) -> ParagraphStyle:
    look = LOOKS[name]
    return ParagraphStyle(
        f"{name}-{face}",
        fontName=face,
        fontSize=look.size,
        leading=look.leading,
        spaceBefore=look.before,
        spaceAfter=look.after,
        textColor=HexColor(look.colour),
        leftIndent=look.indent,
        keepWithNext=look.keep,
        bulletFontName=face,
        bulletFontSize=look.size,
        bulletIndent=0,
        alignment=TA_RIGHT if look.right else TA_LEFT,
        splitLongWords=1,
        allowWidows=0,
        allowOrphans=0,
    )
