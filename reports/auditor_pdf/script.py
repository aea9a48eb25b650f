"""Scripts: which font shows which character of a text, and what stands for a character that none can show.

Pure. Invariant: every character of a text is in the pieces made of it: as itself, as white space, or as its code point
between angle quotes. What needs shaping, reordering or another direction than left to right is not drawn as itself,
because glyphs in the wrong order say something else than the text does.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["CJK_CODECS", "Face", "Piece", "is_cjk", "is_right_to_left", "pieces"]


@dataclass(frozen=True, slots=True)
class Face:
    """A font by the name it is registered under, and the code points that it draws."""

    name: str
    covers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text in one font. ``coded``: it is not the text itself but the code points of ``source``."""

    text: str
    face: str
    coded: bool = False
    source: str = ""


# Fonts that readers of PDF files bring along, with the character set that each has for certain.
CJK_CODECS: Mapping[str, str] = {
    "STSong-Light": "gbk",
    "HeiseiKakuGo-W5": "shift_jis",
    "MSung-Light": "big5",
    "HYGothic-Medium": "cp949",
}
_CJK = (
    (0x2E80, 0x303E),
    (0x3041, 0x33FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE4F),
    (0xFF01, 0xFFEF),
)
_KANA = (0x3041, 0x30FF)
_HANGUL = (0xAC00, 0xD7A3)
# Scripts whose letters change shape or order with their neighbours; a font's single glyphs do not spell them.
_SHAPED = ((0x0590, 0x109F), (0x1700, 0x1C7F), (0x1CC0, 0x1CFF), (0xA800, 0xAAFF), (0xABC0, 0xABFF))
_RIGHT_TO_LEFT = ((0x0590, 0x06FF),)
_MARKS = ((0x0300, 0x036F), (0x0483, 0x0489), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F))
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_WORDS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me"})
_MAX_GROUP = 8  # code points between one pair of angle quotes


def is_cjk(character: str) -> bool:
    """Whether a character belongs to Chinese, Japanese or Korean text."""
    return _within(ord(character), _CJK)


def is_right_to_left(text: str) -> bool:
    """Whether any character of ``text`` is written from right to left."""
    return not text.isascii() and any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text)


def pieces(text: str, faces: Sequence[Face], *, right_to_left: bool = False) -> Iterator[Piece]:
    """``text`` in stretches of one font each, the first of ``faces`` that has the character.

    Line ends and tabs come out as they are, in the first font. ``right_to_left``: letters of such scripts are drawn,
    because whoever asks puts them into visual order.
    """
    if text.isascii() and text.isprintable():
        yield Piece(text, faces[0].name) if text else Piece("", faces[0].name)
        return
    preferred = _cjk_order(text)
    face, start = "", 0
    for place, character in enumerate(text):
        own = _face(character, faces, preferred, right_to_left)
        if own != face:
            if place > start:
                yield from _stretch(text[start:place], face)
            face, start = own, place
    yield from _stretch(text[start:], face)


def _stretch(text: str, face: str) -> Iterator[Piece]:
    if face:
        yield Piece(text, face)
        return
    for place, word in enumerate(_groups(text)):
        if place:
            yield Piece(" ", "", coded=True)  # a line may break between two of them
        yield Piece(f"‹{' '.join(f'U+{ord(c):04X}' for c in word)}›", "", coded=True, source=word)


def _groups(text: str) -> Iterator[str]:
    """Letters of a word together, every other character for itself; an emoji keeps what modifies it."""
    group = ""
    for character in text:
        joins = group and (_is_word(character) == _is_word(group[0]) and _is_word(character) or _modifies(character))
        if group and (not joins or len(group) >= _MAX_GROUP):
            yield group
            group = ""
        group += character
    if group:
        yield group


def _is_word(character: str) -> bool:
    return unicodedata.category(character) in _WORDS


def _modifies(character: str) -> bool:
    return character in "\u200d\ufe0e\ufe0f" or 0x1F3FB <= ord(character) <= 0x1F3FF


def _face(character: str, faces: Sequence[Face], preferred: Sequence[str], right_to_left: bool) -> str:
    """Name of the font for a character; empty when it is shown by its code point."""
    code = ord(character)
    if 0x20 <= code < 0x7F or character in "\n\t":
        return faces[0].name
    if is_cjk(character):
        return next((name for name in preferred if _encodes(character, CJK_CODECS[name])), "")
    if not _drawable(character, right_to_left):
        return ""
    return next((face.name for face in faces if code in face.covers), "")


def _drawable(character: str, right_to_left: bool) -> bool:
    category = unicodedata.category(character)
    if category in _HIDDEN:
        return False
    if unicodedata.bidirectional(character) in ("R", "AL", "AN"):
        return right_to_left
    if category in ("Mn", "Mc", "Me") and not _within(ord(character), _MARKS):
        return right_to_left and _within(ord(character), _RIGHT_TO_LEFT)
    return not _within(ord(character), _SHAPED) or (right_to_left and _within(ord(character), _RIGHT_TO_LEFT))


def _within(code: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(low <= code <= high for low, high in ranges)


def _cjk_order(text: str) -> tuple[str, ...]:
    """Fonts for Han characters in the order in which they are tried: the language of the text decides."""
    names = tuple(CJK_CODECS)
    if any(_KANA[0] <= ord(c) <= _KANA[1] for c in text):
        first = "HeiseiKakuGo-W5"
    elif any(_HANGUL[0] <= ord(c) <= _HANGUL[1] for c in text):
        first = "HYGothic-Medium"
    else:
        return names
    return (first, *(name for name in names if name != first))


def _encodes(character: str, codec: str) -> bool:
    try:
        character.encode(codec)
    except UnicodeEncodeError:
        return False
    return True
