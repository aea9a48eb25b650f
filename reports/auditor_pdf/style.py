"""The look of a report: page, colours, paragraph styles.

Invariant: colours of data are those of Okabe and Ito, which people of every colour vision tell apart; none stands
without a marker or a word beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from auditor.findings import NoteKind

__all__ = ["BOX", "INK", "MARGIN", "MUTED", "NOTE_LOOKS", "PAGE", "PALETTE", "RULE", "TEXT_WIDTH", "Look", "NoteLook"]
__all__ += ["ACCENT", "CODED", "HEAD", "LOOKS", "PAPER"]

PAGE = (595.28, 841.89)  # A4, in points
MARGIN = 54.0
TEXT_WIDTH = PAGE[0] - 2 * MARGIN

INK, MUTED, ACCENT = "#1c2530", "#5a6673", "#163a5f"
RULE, HEAD, PAPER, BOX = "#c8d1da", "#e9eef4", "#ffffff", "#f4f7fa"
CODED = "#8a4b00"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


@dataclass(frozen=True, slots=True)
class Look:
    """One style of paragraph. Sizes in points."""

    size: float
    leading: float
    before: float = 0
    after: float = 0
    colour: str = INK
    bold: bool = False
    mono: bool = False
    indent: float = 0
    keep: bool = False  # with what follows
    right: bool = False


LOOKS = {
    "kicker": Look(10, 13, after=4, colour=MUTED, bold=True),
    "title": Look(27, 32, after=6, colour=ACCENT, bold=True),
    "subtitle": Look(11, 15, after=12, colour=MUTED),
    "h1": Look(17, 21, before=4, after=8, colour=ACCENT, bold=True, keep=True),
    "h2": Look(12, 15.5, before=12, after=4, colour=ACCENT, bold=True, keep=True),
    "h3": Look(9.5, 12.5, before=8, after=3, bold=True, keep=True),
    "body": Look(9.2, 13, after=5),
    "lead": Look(12, 16.5, after=6, bold=True),
    "small": Look(7.6, 10.2, after=2.5, colour=MUTED),
    "cell": Look(7.8, 10),
    "cell_bold": Look(7.8, 10, bold=True),
    "cell_small": Look(6.6, 8.6, colour=MUTED),
    "cell_right": Look(7.8, 10, right=True),
    "cell_head": Look(7.4, 9.4, bold=True, colour=ACCENT),
    "cell_head_right": Look(7.4, 9.4, bold=True, colour=ACCENT, right=True),
    "dense": Look(6.7, 8.6),
    "dense_bold": Look(6.7, 8.6, bold=True),
    "dense_small": Look(6.0, 7.8, colour=MUTED),
    "dense_right": Look(6.7, 8.6, right=True),
    "dense_head": Look(6.5, 8.2, bold=True, colour=ACCENT),
    "dense_head_right": Look(6.5, 8.2, bold=True, colour=ACCENT, right=True),
    "axis": Look(6.8, 8.6, colour=MUTED),
    "axis_bold": Look(7.4, 9, bold=True),
    "legend": Look(7.4, 10),
    "mono": Look(7.2, 9.8, mono=True),
    "quote": Look(8.6, 12, after=3),
    "label": Look(7.2, 9.5, before=3, colour=MUTED, bold=True, keep=True),
    "box_head": Look(9.6, 13, after=2, bold=True, colour=ACCENT),
    "toc1": Look(9.6, 15, bold=True),
    "toc2": Look(8.8, 12.8, indent=12),
    "toc1_page": Look(8.8, 15, right=True, colour=MUTED),
    "toc2_page": Look(8.8, 12.8, right=True, colour=MUTED),
    "footer": Look(7.2, 9, colour=MUTED),
}


@dataclass(frozen=True, slots=True)
class NoteLook:
    """A note's word, and the colours of its bar and its ground."""

    word: str
    bar: str
    ground: str


NOTE_LOOKS = {
    NoteKind.METHOD: NoteLook("Note", "#9aa7b4", BOX),
    NoteKind.WARNING: NoteLook("Warning", "#d55e00", "#fdf1e8"),
    NoteKind.DISCLOSURE: NoteLook("Disclosure", "#0072b2", "#eaf3fa"),
}
