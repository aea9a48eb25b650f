"""The corpus as the prover reads it: overlapping passages with their headings, and the documents it cannot read.

Invariant: each word of a readable document stands in a passage; a document that cannot be read is named with the
reason and never passed over (METHODS §3, text coverage).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from auditor.canonical import digest
from auditor.chunk import chunks
from auditor.corpus import Corpus, Document, decode
from auditor.normalize import content_words, sentences, words
from auditor_knowledge_gap.stem import stem
from auditor_knowledge_gap.value import Values, values
from auditor_knowledge_gap.wording import spaced

__all__ = ["Passage", "Reading", "Unreadable", "read"]

# What a chunk misses at its ends: an answer may stand a few lines away from the name of what it is about.
_MARGIN = 500
_MAGIC = (b"%PDF-", b"PK\x03\x04", b"{\\rtf", b"\xd0\xcf\x11\xe0", b"GIF8", b"\x89PNG", b"\xff\xd8\xff", b"\x1f\x8b")
_HEADING = re.compile(r"^(#{1,6})[ \t]+(\S[^\n]{0,200})|^(\S[^\n]{0,200})\n(=+|-{3,})[ \t]*$", re.MULTILINE)
_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\r?\n[ \t]{0,40}(?=[^\W\d_])")
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]{0,2000}>")
_IS_MARKUP = re.compile(r"\s{0,200}<(!doctype|html|\?xml|head|body|div|p|table)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Passage:
    """One chunk with ``_MARGIN`` characters on both sides; ``context`` is its document's name, title and headings.

    Not slotted: what is derived from the text is worked out once, when first asked for.
    """

    document: str
    context: str
    body: str

    @cached_property
    def text(self) -> str:
        """Context and body; words that a line's end had cut are put together again in a second copy."""
        mended = _HYPHENATED.sub("", self.body)
        return f"{self.context}\n{self.body}" if mended == self.body else f"{self.context}\n{self.body}\n{mended}"

    @cached_property
    def spaced_words(self) -> str:
        """Folded words with a space around each, for search at word boundaries."""
        return spaced(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of all content words."""
        return frozenset(map(stem, content_words(self.text)))

    @cached_property
    def values(self) -> Values:
        """Numbers, dates and measures of the text."""
        return values(self.text)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Sentences and table rows of the body."""
        return sentences(self.body)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A document that may hold anything, as far as the prover knows."""

    document: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """All passages of a corpus, and what could not be read."""

    passages: tuple[Passage, ...]
    unreadable: tuple[Unreadable, ...]
    documents: int


def read(corpus: Corpus) -> Reading:
    """Every document of ``corpus``. Errors of reading are results: see ``Reading.unreadable``."""
    passages: list[Passage] = []
    unreadable: list[Unreadable] = []
    for document in corpus.documents:
        text = _text(document)
        if isinstance(text, Unreadable):
            unreadable.append(text)
        else:
            passages.extend(_passages(document.name, text))
    return Reading(tuple(passages), tuple(unreadable), len(corpus.documents))


def _text(document: Document) -> str | Unreadable:
    try:
        data = document.read()
    except Exception as error:  # noqa: BLE001 - whatever a source raises, the document was not read
        return Unreadable(document.name, f"cannot be read: {type(error).__name__}")
    if digest(data) != document.digest:
        return Unreadable(document.name, "its bytes are not those of the manifest")
    decoded = decode(data)
    reason = _why_no_text(data, decoded.text, lossy=decoded.lossy)
    return Unreadable(document.name, reason) if reason else _plain(decoded.text)


def _why_no_text(data: bytes, text: str, *, lossy: bool) -> str:
    """Why ``text`` cannot be taken for all that the document says; empty when it can."""
    if data.startswith(_MAGIC):
        return "a binary format"
    if lossy or "\ufffd" in text:
        return "bytes without a meaning in its encoding"
    if any(unicodedata.category(character) in {"Cc", "Co"} and character not in "\t\n\r\f\v" for character in text):
        return "control or private-use characters"
    if not words(text):
        return "no words"
    return ""


def _plain(text: str) -> str:
    """``text`` with character references resolved and, in markup, without tags."""
    if _IS_MARKUP.match(text):
        text = _TAG.sub(" ", text)
    return html.unescape(text)


def _passages(name: str, text: str) -> Iterator[Passage]:
    title = next((line.strip("#*=- \t") for line in text.splitlines() if line.strip("#*=- \t")), "")[:200]
    headings = deque(_HEADING.finditer(text))
    opened: list[tuple[int, str]] = []  # level and text of the headings that the chunk stands under, outermost first
    for chunk in chunks(text, title):
        while headings and headings[0].start() < chunk.start:
            heading = headings.popleft()
            level = _level(heading)
            while opened and opened[-1][0] >= level:
                opened.pop()
            opened.append((level, heading[2] or heading[3]))
        context = " / ".join([name, title, *(heading for _, heading in opened)])
        yield Passage(name, context, text[max(0, chunk.start - _MARGIN) : chunk.end + _MARGIN])


def _level(heading: re.Match[str]) -> int:
    """``##`` is 2; a line underlined with ``=`` is 1, with ``-`` 2."""
    if heading[1]:
        return len(heading[1])
    return 1 if heading[4].startswith("=") else 2
