"""The document: pages with header and footer, contents, outline, and a date that is the run's own.

Invariant: equal flowables and facts give equal bytes; a page states its number, the number of pages and the protocol.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate

from auditor_pdf.style import ACCENT, LOOKS, MARGIN, PAGE, RULE
from auditor_pdf.typesetter import Heading, Typesetter

__all__ = ["Document", "Facts", "Layout"]

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the file says of itself. ``moment``: when the run ended; the file has no date of its own."""

    title: str
    author: str
    subject: str
    protocol: str
    moment: datetime | None


@dataclass(slots=True)
class Layout:
    """What one pass learns and the next one prints: pages of headings, number of pages."""

    pages: dict[str, int] = field(default_factory=dict)
    total: int = 0


class Document(BaseDocTemplate):
    """One pass over the flowables. ``before`` is what the last pass learned, ``after`` what this one does."""

    def __init__(self, setter: Typesetter, facts: Facts, before: Layout) -> None:
        self.output = BytesIO()
        super().__init__(
            self.output,
            pagesize=PAGE,
            leftMargin=MARGIN,
            rightMargin=MARGIN,
            topMargin=MARGIN,
            bottomMargin=MARGIN,
            invariant=1,
            pageCompression=1,
            lang="en",
            title=facts.title,
            author=facts.author,
            subject=facts.subject,
            creator="auditor",
            initialFontName=setter.fonts.regular[0].name,
        )
        self.setter, self.facts, self.before, self.after = setter, facts, before, Layout()
        frame = Frame(MARGIN, MARGIN, PAGE[0] - 2 * MARGIN, PAGE[1] - 2 * MARGIN, 0, 0, 0, 0)
        self.addPageTemplates(
            [
                PageTemplate("cover", [frame], onPage=self._cover, autoNextPageTemplate="body"),
                PageTemplate("body", [frame], onPage=self._page),
            ]
        )

    def made(self, story: Sequence[Flowable]) -> bytes:
        """The file."""
        self.build(list(story), canvasmaker=self._canvas)
        self.after.total = self.page
        return self.output.getvalue()

    def _canvas(self, *args: Any, **named: Any) -> Canvas:
        canvas = Canvas(*args, **named)
        _set_date(canvas, self.facts.moment or _EPOCH)
        canvas.setViewerPreference("DisplayDocTitle", "true")
        canvas.showOutline()
        return canvas

    def afterFlowable(self, flowable: Flowable) -> None:
        """Headings go into the outline, and their pages into the contents of the next pass."""
        heading: Heading | None = getattr(flowable, "auditor_heading", None)
        if heading is not None:
            self.after.pages[heading.anchor] = self.page
            bottom: float = vars(self.frame)["_y"]
            self.canv.bookmarkPage(heading.anchor, fit="XYZ", left=0, top=bottom + flowable.height + 6)
            shown = "".join(piece.text for piece in self.setter.pieces(heading.text, LOOKS["toc1"]))
            self.canv.addOutlineEntry(shown, heading.anchor, level=heading.level, closed=heading.level > 0)

    def _cover(self, canvas: Canvas, document: BaseDocTemplate) -> None:
        canvas.saveState()
        canvas.setFillColor(HexColor(ACCENT))
        canvas.rect(0, PAGE[1] - 14, PAGE[0], 14, stroke=0, fill=1)
        canvas.restoreState()
        self._footer(canvas)

    def _page(self, canvas: Canvas, document: BaseDocTemplate) -> None:
        canvas.saveState()
        canvas.setStrokeColor(HexColor(RULE))
        canvas.setLineWidth(0.5)
        canvas.line(MARGIN, PAGE[1] - MARGIN + 10, PAGE[0] - MARGIN, PAGE[1] - MARGIN + 10)
        canvas.restoreState()
        self._write(canvas, MARGIN, PAGE[1] - MARGIN + 15, _short(self.facts.title, 90))
        self._footer(canvas)

    def _footer(self, canvas: Canvas) -> None:
        protocol = self.facts.protocol
        short = protocol[:19] + "…" if len(protocol) > 20 else protocol
        self._write(canvas, MARGIN, MARGIN - 24, f"Protocol {short}" if short else "")
        total = self.before.total or "?"
        self._write(canvas, PAGE[0] - MARGIN, MARGIN - 24, f"Page {self.page} of {total}", right=True)

    def _write(self, canvas: Canvas, x: float, y: float, text: str, *, right: bool = False) -> None:
        look = LOOKS["footer"]
        drawn = list(self.setter.pieces(text, look))
        widths = [stringWidth(piece.text, piece.face, look.size) for piece in drawn]
        x -= sum(widths) if right else 0
        canvas.saveState()
        canvas.setFillColor(HexColor(look.colour))
        for piece, width in zip(drawn, widths, strict=True):
            canvas.setFont(piece.face, look.size)
            canvas.drawString(x, y, piece.text)
            x += width
        canvas.restoreState()


def _short(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def _set_date(canvas: Canvas, moment: datetime) -> None:
    """Give the file the run's date: the library has only the clock or a date of its own."""
    moment = moment.astimezone(UTC)
    document: Any = vars(canvas)["_doc"]
    document.signature = hashlib.md5(usedforsecurity=False)  # the file's id: of what is in it, not of the environment
    stamp: Any = document._timeStamp
    parts: Mapping[str, Any] = {
        "t": moment.timestamp(),
        "lt": moment.timetuple(),
        "YMDhms": tuple(moment.timetuple())[:6],
        "dhh": 0,
        "dmm": 0,
        "tzname": "UTC",
    }
    for name, value in parts.items():
        setattr(stamp, name, value)
