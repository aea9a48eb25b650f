"""What a reader gets out of a PDF report: its text page by page, its outline, and its pages as pictures."""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfReader

from auditor_pdf.document import Document, Facts, Layout
from auditor_pdf.font import load_fonts
from auditor_pdf.script import pieces
from auditor_pdf.typesetter import Typesetter, line_texts

__all__ = ["NEEDS_POPPLER", "outline", "page_pictures", "page_texts", "set_text", "shown_of", "squeezed"]

NEEDS_POPPLER = pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="pdftoppm (poppler-utils) is not installed")
_BLANKS = re.compile(r"\s+")


def page_texts(content: bytes) -> list[str]:
    """Text of each page, as a program extracts it."""
    return [page.extract_text() for page in PdfReader(BytesIO(content)).pages]


def squeezed(text: str) -> str:
    """``text`` without white space: where lines break is the layout's affair."""
    return _BLANKS.sub("", text)


def outline(content: bytes) -> list[str]:
    """Titles of the outline, top level and below, in order."""
    titles: list[str] = []

    def walk(entries: list[object]) -> None:
        for entry in entries:
            if isinstance(entry, list):
                walk(entry)
            else:
                titles.append(str(getattr(entry, "title", "")))

    walk(list(PdfReader(BytesIO(content)).outline))
    return titles


def set_text(text: str, name: str = "body") -> tuple[Typesetter, list[str]]:
    """A document of nothing but ``text``: who set it, and the text of its pages without header and footer."""
    setter = Typesetter(load_fonts("abc"))
    paragraph = setter.paragraph(text, name)
    document = Document(setter, Facts("", "", "", "", None), Layout())
    pages = page_texts(document.made([paragraph]))
    return setter, [re.sub(r"Page\s*\d+\s*of\s*\?", "", page) for page in pages]


def shown_of(text: str) -> str:
    """What a reader is to see of ``text``: itself, or code points between angle quotes."""
    faces = load_fonts("abc").regular
    lines = ["".join(piece.text for piece in pieces(line, faces)) for line in line_texts(text)]
    return unicodedata.normalize("NFC", squeezed("".join(lines)))


def page_pictures(content: bytes, folder: Path, dots_per_inch: int = 50) -> list[Image.Image]:
    """Each page as a grey picture."""
    (folder / "report.pdf").write_bytes(content)
    tool = shutil.which("pdftoppm")
    assert tool is not None
    command = [tool, "-gray", "-r", str(dots_per_inch), "report.pdf", "page"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == "", done.stderr
    pictures = []
    for path in sorted(folder.glob("page-*.pgm")):
        with Image.open(path) as picture:
            pictures.append(picture.copy())
    return pictures
