"""Units: the smallest parts of a document that can be read alone — a sentence, a list item, a table row, a heading.

Invariant: units are in the order of the text, and each says under which headings it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Unit", "title_of", "units"]

_MAX_UNIT_CHARACTERS = 500
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(\S.*)")
_UNDERLINE = re.compile(r"\s{0,3}(={3,}|-{3,})\s*")
_ITEM = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)])\s+(?=\S)")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_DELIMITER = re.compile(r"[\s|:-]+")
_ENTRY = re.compile(r"[^\s:][^:]{0,40}:\s+\S|.{0,80}?\S(?:\s?\.{4}|\t|\s{3})")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]{0,3}\s+|[。！？]")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|Nos|Nr|vs|ca|approx|incl|e\.g|i\.e|cf|fig|vol|p|pp|max|min|Inc|Ltd|Co|[A-Z]))\.\s+$",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[([^\[\]]{1,300})\]\([^()\s]{1,500}\)")
_LEADER = re.compile(r"\s*\.{4,}\s*")
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=[\w.!?,;:)])[*_](?!\w)")
_HEADING_MAX_CHARACTERS, _HEADING_MAX_WORDS, _PLAIN_LEVEL = 70, 9, 7


@dataclass(frozen=True, slots=True)
class Unit:
    """``text`` can stand as an answer; ``start`` and ``end`` span what it was read from; ``headings``: outermost first.

    ``cells`` holds (header, value) pairs of a table row, else nothing.
    """

    text: str
    start: int
    end: int
    headings: tuple[str, ...] = ()
    cells: tuple[tuple[str, str], ...] = ()
    is_heading: bool = False


def title_of(read: Sequence[Unit], name: str) -> str:
    """A document's title: its first heading, else its file name without folder and ending."""
    first = next((unit.text for unit in read if unit.is_heading), "")
    return first or name.rpartition("/")[2].rpartition(".")[0] or name


def units(text: str) -> list[Unit]:
    """Units of a Markdown or plain text; blank ones are left out."""
    reading = _Reading(text)
    for start, end in _lines(text):
        reading.take(start, end)
    reading.flush()
    return reading.made


def clean(text: str) -> str:
    """``text`` without Markdown's marks and the dots that lead the eye, on one line."""
    return " ".join(_EMPHASIS.sub("", _LEADER.sub(": ", _LINK.sub(r"\1", text))).split())


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        found = text.find("\n", start)
        end = len(text) if found < 0 else found
        yield start, end
        start = end + 1


class _Reading:
    """Blocks as they come: lines are held until it is clear what they are."""

    def __init__(self, text: str) -> None:
        self.made: list[Unit] = []
        self._text = text
        self._headings: list[tuple[int, str]] = []
        self._held: list[tuple[int, int]] = []
        self._rows: list[tuple[int, int]] = []
        self._header: tuple[str, ...] = ()
        self._lead = ""
        self._in_item = self._indented = self._in_fence = False

    def take(self, start: int, end: int) -> None:
        """One line of the text."""
        line = self._text[start:end]
        if _FENCE.match(line):
            self.flush()
            self._in_fence = not self._in_fence
        elif self._in_fence:
            self._add(line, start, end)
        elif not line.strip():
            self.flush()
        elif line.lstrip().startswith("|") or " | " in line:
            self._take_row(start, end)
        elif heading := _HEADING.fullmatch(line):
            self.flush()
            self._open(len(heading[1]), heading[2].rstrip("# "), start, end)
        elif _UNDERLINE.fullmatch(line):
            self._underline(line)
        elif item := _ITEM.match(line):
            self._begin_item(start, start + item.end(), end)
        else:
            if self._in_item and self._indented and not line[0].isspace():
                self._flush_held()  # what stands further left than the list's items is no part of the last one
                self._in_item = False
            self._held.append((start, end))

    def _begin_item(self, line: int, start: int, end: int) -> None:
        """An item; a single line directly above a list of indented items leads it in, with or without a colon."""
        indented = self._text[line].isspace()
        above = self._text[slice(*self._held[0])] if len(self._held) == 1 and not self._in_item else ""
        self._flush_held()
        if indented and above and not above[0].isspace():
            self._lead = clean(above)
        self._in_item, self._indented = True, indented
        self._held.append((start, end))

    def flush(self) -> None:
        """The block that was being read is over."""
        self._flush_rows()
        self._flush_held(ended=True)
        self._in_item = False

    def _take_row(self, start: int, end: int) -> None:
        self._flush_held()
        if _DELIMITER.fullmatch(self._text[start:end]) and len(self._rows) == 1:
            self._header = _cells(self._text[slice(*self._rows.pop())])
        else:
            self._rows.append((start, end))

    def _flush_rows(self) -> None:
        for start, end in self._rows:
            values = _cells(self._text[start:end])
            if self._header:
                pairs = tuple((h, v) for h, v in zip(self._header, values, strict=False) if v)
                self._add("; ".join(f"{h}: {v}" if h else v for h, v in pairs), start, end, cells=pairs)
            elif self._text[start:end].lstrip().startswith("|"):
                self._add("; ".join(v for v in values if v), start, end)
            else:
                self._add(self._text[start:end], start, end)
        self._rows, self._header = [], ()

    def _underline(self, line: str) -> None:
        """A line of = or - makes the one line before it a heading; elsewhere it only parts blocks."""
        if len(self._held) == 1 and not self._in_item:
            start, end = self._held.pop()
            self._open(1 if line.strip().startswith("=") else 2, self._text[start:end], start, end)
        else:
            self.flush()

    def _open(self, level: int, text: str, start: int, end: int) -> None:
        self._headings = [(depth, title) for depth, title in self._headings if depth < level]
        self._add(text, start, end, is_heading=True)
        self._headings.append((level, clean(text)))
        self._lead = ""

    def _flush_held(self, *, ended: bool = False) -> None:
        held, self._held = self._held, []
        if not held:
            return
        start, end = held[0][0], held[-1][1]
        raw = self._text[start:end]
        if ended and len(held) == 1 and not self._in_item and _looks_like_heading(raw):
            self._open(_PLAIN_LEVEL, raw, start, end)
        elif len(held) > 1 and all(_ENTRY.match(self._text[s:e].strip()) for s, e in held):
            for s, e in held:
                self._add(self._text[s:e], s, e)
        else:
            self._add_sentences(raw, start)

    def _add_sentences(self, raw: str, start: int) -> None:
        """Sentences of a paragraph or list item; an item's first takes with it the line that leads the list in."""
        lead = self._lead if self._in_item else ""
        for first, last in _sentences(raw):
            self._add(f"{lead} {raw[first:last]}", start + first, start + last)
            lead = ""
        if not self._in_item:
            self._lead = clean(raw) if raw.rstrip().endswith(":") and len(raw) <= _MAX_UNIT_CHARACTERS else ""

    def _add(
        self, text: str, start: int, end: int, *, cells: tuple[tuple[str, str], ...] = (), is_heading: bool = False
    ) -> None:
        cleaned = clean(text)
        if cleaned:
            headings = tuple(title for _, title in self._headings)
            self.made.append(Unit(cleaned, start, end, headings, cells, is_heading))


def _cells(line: str) -> tuple[str, ...]:
    inner = line.strip().replace("\\|", "\x1f").removeprefix("|").removesuffix("|")
    return tuple(clean(cell.replace("\x1f", "|")) for cell in inner.split("|"))


def _looks_like_heading(line: str) -> bool:
    text = line.strip()
    return (
        len(text) <= _HEADING_MAX_CHARACTERS
        and len(text.split()) <= _HEADING_MAX_WORDS
        and text[-1] not in ".!?:;,…"
        and ": " not in text
    )


def _sentences(raw: str) -> Iterator[tuple[int, int]]:
    """Spans of sentences: an end mark, then a space and no small letter; never after an abbreviation."""
    start = 0
    for end in _SENTENCE_END.finditer(raw):
        following = raw[end.end() : end.end() + 1]
        if following.islower() or _ABBREVIATION.search(raw, max(start, end.start() - 8), end.end()):
            continue
        yield from _cut(raw, start, end.end())
        start = end.end()
    yield from _cut(raw, start, len(raw))


def _cut(raw: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """``[start, end)``, in parts where it is longer than anybody would read as one sentence."""
    while end - start > _MAX_UNIT_CHARACTERS:
        space = raw.rfind(" ", start + 1, start + _MAX_UNIT_CHARACTERS)
        stop = start + _MAX_UNIT_CHARACTERS if space < 0 else space + 1
        yield start, stop
        start = stop
    if end > start:
        yield start, end
