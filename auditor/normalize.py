"""Normal forms of text: what makes two wordings of one name comparable, in linear time on hostile input.

Numbers, dates and units are in ``auditor.quantity``; both are used by judges and by proofs of absence (METHODS §3).
Invariant: no function here takes more than linear time in the length of its text, whatever the text is.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from auditor.canonical import clean_text

__all__ = [
    "STOP_WORDS",
    "Token",
    "contains",
    "content_words",
    "fold",
    "one_edit_apart",
    "sentences",
    "squash",
    "tokens",
    "words",
]

STOP_WORDS = frozenset(
    "a an and are as at be been but by did do does for from had has have he her his in into is it its of on or "
    "s she that the their there they this to was were which who whom whose will with what when where how".split()
)

# Marks that may be dropped without changing the word: Latin, Greek and Cyrillic diacritics, Hebrew points, Arabic
# vowel signs. Marks of Indic scripts are letters and stay.
_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+"
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]+")
_GROUP_SPACE = re.compile(r"(?<=\d)[\u00a0\u2009\u202f'\u2019](?=\d{3}(?!\d))")
_INITIALISM = re.compile(r"(?<![^\W_])(?:[^\W\d_]\.){2,}")
_WORD = re.compile(r"[^\W_]+")
# Scripts written without spaces: each character is a token of its own.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]")
# Possessive, and only at the start of a run: a run of stops or closing marks is read once.
_SENTENCE_END = re.compile(r"(?<![.!?。！？])[.!?。！？]++[\"'”’)\]*_]*+(?=\s)|\n+")
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs no vol fig gen col lt sgt rev hon gov sen rep inc ltd co".split()
)

_FRACTIONS = {
    ord(mark): f" {top}/{bottom}"
    for mark, top, bottom in (
        ("½", 1, 2), ("⅓", 1, 3), ("⅔", 2, 3), ("¼", 1, 4), ("¾", 3, 4), ("⅕", 1, 5), ("⅖", 2, 5), ("⅗", 3, 5),
        ("⅘", 4, 5), ("⅙", 1, 6), ("⅚", 5, 6), ("⅐", 1, 7), ("⅛", 1, 8), ("⅜", 3, 8), ("⅝", 5, 8), ("⅞", 7, 8),
        ("⅑", 1, 9), ("⅒", 1, 10),
    )
}  # fmt: skip
# A superscript is a footnote mark or an exponent, never a digit of the number before it.
_SUPERSCRIPTS = {ord(mark): f"^{plain}" for mark, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True)}
_LETTERS = {
    ord(mark): plain
    for mark, plain in (
        ("ø", "o"),
        ("ł", "l"),
        ("đ", "d"),
        ("ð", "d"),
        ("þ", "th"),
        ("æ", "ae"),
        ("œ", "oe"),
        ("ı", "i"),
    )
}
_PUNCTUATION = {
    **dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-"),
    **dict.fromkeys(map(ord, "‘’‚‛′`´ʼʻ"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″«»「」『』"), '"'),
}
# Two Arabic ligatures stand for whole phrases: they would make a text eighteen times as long.
_BEFORE = {**_FRACTIONS, **_SUPERSCRIPTS, 0xFDFA: " ", 0xFDFB: " "}
_AFTER = {**_LETTERS, **_PUNCTUATION}
_MARK_RUN = 8  # canonical ordering sorts runs of marks by insertion: longer runs than any script has are cut


def _bounded_marks(text: str) -> str:
    """``text`` without the marks beyond the eighth of a run, so that normalisation stays linear."""
    run, kept = 0, []
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        if run <= _MARK_RUN:
            kept.append(character)
    return "".join(kept)


def _decimal(character: str) -> str:
    """ASCII digit for a decimal digit of any script."""
    return str(unicodedata.decimal(character)) if character.isdecimal() else character


def fold(text: str) -> str:
    """``text`` in NFKC, case-folded, without diacritics and invisible characters, with plain dashes, quotes and digits.

    Thin spaces and apostrophes between groups of three digits become commas; ``½`` becomes `` 1/2``; superscripts are
    set apart by ``^``. Lone surrogates become U+FFFD.
    """
    text = _GROUP_SPACE.sub(",", clean_text(text)[0])
    if text.isascii():
        return text.lower()
    text = _bounded_marks(_INVISIBLE.sub("", text.translate(_BEFORE)))
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _MARKS.sub("", unicodedata.normalize("NFKD", text))
    text = unicodedata.normalize("NFC", text).translate(_AFTER)
    return text if text.isascii() else "".join(map(_decimal, text))


@dataclass(frozen=True, slots=True)
class Token:
    """One word. ``start`` and ``end`` are offsets into the folded text."""

    text: str
    start: int
    end: int


def tokens(folded: str) -> tuple[Token, ...]:
    """Words of a folded text: runs of letters and digits; single characters in scripts written without spaces.

    Dotted initialisms are one word (``u.s.`` is ``us``).
    """
    joined = {match.start(): match for match in _INITIALISM.finditer(folded)}
    found: list[Token] = []
    past = 0
    for match in _WORD.finditer(folded):
        if match.start() < past:
            continue
        initialism = joined.get(match.start())
        if initialism is not None:
            past = initialism.end()
            found.append(Token(initialism.group().replace(".", ""), initialism.start(), past))
        elif match.group().isascii() or not _UNSPACED.search(match.group()):
            found.append(Token(match.group(), match.start(), match.end()))
        else:
            found.extend(_unspaced(match.group(), match.start()))
    return tuple(found)


def _unspaced(run: str, start: int) -> list[Token]:
    """A run in which some characters are words of their own."""
    found: list[Token] = []
    begin = 0
    for index, character in enumerate(run):
        if _UNSPACED.match(character):
            if begin < index:
                found.append(Token(run[begin:index], start + begin, start + index))
            found.append(Token(character, start + index, start + index + 1))
            begin = index + 1
    if begin < len(run):
        found.append(Token(run[begin:], start + begin, start + len(run)))
    return found


def words(text: str) -> tuple[str, ...]:
    """Folded words of ``text``, in order."""
    return tuple(token.text for token in tokens(fold(text)))


def content_words(text: str) -> tuple[str, ...]:
    """Folded words of ``text`` without stop words; all of them when nothing else is left."""
    every = words(text)
    return tuple(word for word in every if word not in STOP_WORDS) or every


def contains(haystack: str, needle: str) -> bool:
    """Whether the words of ``needle`` stand side by side in ``haystack``. Nothing contains nothing."""
    wanted = words(needle)
    return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(words(haystack))} "


def squash(text: str) -> str:
    """Letters and digits alone: ``X-8``, ``X 8`` and ``x8`` are one."""
    return "".join(words(text))


def sentences(text: str) -> tuple[str, ...]:
    """``text`` cut after full stops and at line breaks. Abbreviations and initials do not end a sentence."""
    found: list[str] = []
    begin = 0
    for match in _SENTENCE_END.finditer(text):
        if match.group()[0] == "." and _is_abbreviation(text[max(begin, match.start() - 8) : match.start()]):
            continue
        found.append(text[begin : match.end()].strip())
        begin = match.end()
    found.append(text[begin:].strip())
    return tuple(sentence for sentence in found if sentence)


def _is_abbreviation(before: str) -> bool:
    last = re.split(r"[\s(*_\"“]", before)[-1]
    if last.casefold() in _ABBREVIATIONS:
        return True
    letters = last.split(".")  # an initial, or the inside of ``U.S.`` and ``Ph.D.``
    return (
        all(len(part) <= 2 and part.isalpha() for part in letters) and letters[-1].isupper() and len(letters[-1]) == 1
    )


def one_edit_apart(left: str, right: str) -> bool:
    """Whether one insertion, deletion or substitution, or none, turns ``left`` into ``right``."""
    if abs(len(left) - len(right)) > 1:
        return False
    same = 0
    while same < min(len(left), len(right)) and left[same] == right[same]:
        same += 1
    if len(left) == len(right):
        return left[same + 1 :] == right[same + 1 :]
    return left[same + 1 :] == right[same:] if len(left) > len(right) else left[same:] == right[same + 1 :]
