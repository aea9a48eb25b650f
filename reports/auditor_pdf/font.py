"""Fonts: found in the packages that bring them, cut to what is needed, registered with the PDF library.

Invariant: what is embedded depends on the characters asked for and on the installed fonts, on nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from fontTools import subset  # type: ignore[import-untyped] # it has no types
from fontTools.ttLib import TTFont as FontFile  # type: ignore[import-untyped] # it has no types
from fontTools.varLib.instancer import instantiateVariableFont  # type: ignore[import-untyped] # it has no types
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfdoc import PDFStream
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfbase.ttfonts import TTFont

from auditor.errors import PluginError
from auditor_pdf.script import CJK_CODECS, Face

__all__ = ["TEXT_FACE", "Fonts", "load_fonts"]

TEXT_FACE = "Auditor-Text"
_SYMBOL, _MONO = "Auditor-Symbol", "Auditor-Mono"
_ARABIC = "Auditor-Arabic"
_VARIABLE = "NotoSans[wdth,wght].ttf"
_BOLD = {"wght": 650, "wdth": 100}


@dataclass(frozen=True, slots=True)
class Fonts:
    """Fonts in the order in which they are tried, by weight. The last of each is the one with the most symbols."""

    regular: tuple[Face, ...]
    bold: tuple[Face, ...]
    mono: tuple[Face, ...]


def load_fonts(bold_characters: Collection[str]) -> Fonts:
    """All fonts of a report. ``bold_characters``: those that may have to be drawn bold; others fall back to regular.

    Raises ``PluginError`` when the package with the text font is not installed.
    """
    files = _files()
    if TEXT_FACE not in files:
        raise PluginError("the report's font is missing: install fontpkg-noto-sans")
    regular = tuple(_registered(name, files[name]) for name in (TEXT_FACE, _ARABIC, _SYMBOL) if name in files)
    mono = _registered(_MONO, files[_MONO]) if _MONO in files else regular[0]
    for name in CJK_CODECS:
        _register_cjk(name)
    bold = _bold(files[TEXT_FACE], frozenset(map(ord, bold_characters)) & regular[0].covers)
    return Fonts(regular, (bold, *regular), (mono, *regular))


def _files() -> Mapping[str, Path]:
    """Paths of the fonts that are there."""
    found = {
        TEXT_FACE: _package("fontpkg_noto_sans") / "files" / _VARIABLE,
        _SYMBOL: _package("matplotlib") / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf",
        _MONO: _package("matplotlib") / "mpl-data" / "fonts" / "ttf" / "DejaVuSansMono.ttf",
    }
    arabic = sorted((_package("fontpkg_noto_sans_arabic") / "files").glob("NotoSansArabic*.ttf"))
    if arabic:
        found[_ARABIC] = arabic[0]
    return {name: path for name, path in found.items() if path.is_file()}


def _package(name: str) -> Path:
    """Folder of a package, without importing it."""
    spec = find_spec(name)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else Path("missing")


@cache
def _registered(name: str, path: Path) -> Face:
    registerFont(TTFont(name, str(path)))
    with FontFile(path, lazy=True) as font:
        return Face(name, frozenset(font.getBestCmap()))


def _bold(path: Path, codes: frozenset[int]) -> Face:
    """A bold font with ``codes`` alone: the whole one would take seconds to make."""
    name = f"Auditor-Bold-{hashlib.sha256(repr(sorted(codes)).encode()).hexdigest()[:8]}"
    return _bold_registered(name, path, codes)


@cache
def _bold_registered(name: str, path: Path, codes: frozenset[int]) -> Face:
    options = subset.Options(layout_features=[], notdef_outline=True, hinting=False)
    options.drop_tables += ["GSUB", "GPOS", "GDEF"]
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=codes)
    made = BytesIO()
    with FontFile(path, lazy=True, recalcTimestamp=False) as font:
        cutter.subset(font)
        instance = instantiateVariableFont(font, _BOLD, inplace=True)
        for record in instance["name"].names:  # the library takes two fonts of one name for one font
            record.string = f"{record.toUnicode()}-{name}"
        instance.save(made)
    made.seek(0)
    registerFont(TTFont(name, made))
    return Face(name, codes)


@cache
def _register_cjk(name: str) -> None:
    registerFont(_ReadersFont(name))


class _ReadersFont(UnicodeCIDFont):
    """One of the reader's own fonts, with the map from codes back to text, which readers need to copy from it."""

    def addObjects(self, doc: Any) -> None:
        super().addObjects(doc)
        number = doc.fontMapping[self.name].lstrip("/")
        content = doc.idToObject["BasicFonts"].dict[number]
        stream = PDFStream(content=_IDENTITY_MAP)
        doc.idToObject[content.name].dict["ToUnicode"] = doc.Reference(stream)


def _identity_map() -> bytes:
    """A map under which each code of two bytes is the character of that number; ranges keep the first byte."""
    lines = ["/CIDInit /ProcSet findresource begin", "12 dict begin", "begincmap", "/CMapName /Auditor-Identity def"]
    lines += ["/CMapType 2 def", "1 begincodespacerange", "<0000> <FFFF>", "endcodespacerange"]
    for first in range(0, 256, 64):
        lines.append("64 beginbfrange")
        lines += [f"<{high:02X}00> <{high:02X}FF> <{high:02X}00>" for high in range(first, first + 64)]
        lines.append("endbfrange")
    lines += ["endcmap", "CMapName currentdict /CMap defineresource pop", "end", "end"]
    return "\n".join(lines).encode("ascii")


_IDENTITY_MAP = _identity_map()
