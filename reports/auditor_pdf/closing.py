"""The end of a report: what this file shows otherwise than it was written, and the glossary."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from reportlab.platypus import Flowable

from auditor.findings import Note, NoteKind
from auditor.wording import GLOSSARY
from auditor_pdf.section import note_flowable
from auditor_pdf.table import CellText, facts, grid
from auditor_pdf.typesetter import Typesetter

__all__ = ["glossary_flowables", "substitution_flowables"]

_MAX_CHARACTERS = 150


def glossary_flowables(setter: Typesetter) -> Iterator[Flowable]:
    """Terms in the words of a reader who is no statistician."""
    yield setter.heading("Glossary", 0)
    yield from facts(setter, [(term.name, term.meaning) for term in GLOSSARY])


def substitution_flowables(setter: Typesetter) -> Iterator[Flowable]:
    """What could not be shown as it is. To be called when everything else has been set; nothing when all was shown."""
    coded, not_embedded, cut = dict(setter.coded), setter.not_embedded, setter.cut
    if not (coded or not_embedded or cut):
        return
    yield setter.heading("Text that this file shows otherwise", 0)
    if cut:
        yield note_flowable(setter, Note(NoteKind.WARNING, _CUT.format(count=cut)))
    if not_embedded:
        yield note_flowable(setter, Note(NoteKind.WARNING, _NOT_EMBEDDED.format(count=not_embedded)))
    if coded:
        yield note_flowable(setter, Note(NoteKind.WARNING, _CODED.format(count=sum(coded.values()))))
        listed = sorted(coded.items(), key=lambda item: (-item[1], item[0]))
        rows = [
            [
                CellText(f"U+{ord(c):04X}"),
                CellText(unicodedata.name(c, "unnamed").lower()),
                CellText(str(n), numeric=True),
            ]
            for c, n in listed[:_MAX_CHARACTERS]
        ]
        yield from grid(setter, ["Code point", "Name", "Places"], rows)
        if len(listed) > _MAX_CHARACTERS:
            yield setter.paragraph(f"And {len(listed) - _MAX_CHARACTERS} other characters.", "small")


_CUT = (
    "{count} texts or tables are cut in this file, each with the count of what is left out where it is cut. They are "
    "whole in the ledger and in the format “tables”."
)
_NOT_EMBEDDED = (
    "{count} Chinese, Japanese or Korean characters are drawn with fonts of your PDF reader, which are not in this "
    "file. Where a reader lacks them, the place stays blank, but the text can be copied and searched."
)
_CODED = (
    "{count} characters have no glyph in this file's fonts, need another direction or the shaping of their script, or "
    "are invisible. Each stands as its Unicode code point between angle quotes, such as ‹U+200B›."
)
