"""Documents: what every system is given, byte for byte, and how a file's bytes become text.

Invariant: a document's name is a relative POSIX path in NFC, whatever system the folder was read on, so that one
folder has
one manifest digest everywhere.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from auditor.canonical import canonical, digest
from auditor.question import BASE_VARIANT

__all__ = ["Corpus", "CorpusForm", "DecodedText", "Document", "SkippedFile", "decode"]


class CorpusForm(StrEnum):
    """How much of the corpus the auditor holds. Canary proofs need ``GIVEN``."""

    GIVEN = "given"
    LISTING = "listing"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text of a file. ``lossy``: some bytes have no meaning in the encoding and became U+FFFD."""

    text: str
    encoding: str
    lossy: bool


def decode(data: bytes) -> DecodedText:
    """Text of ``data``: byte-order marks decide; else UTF-8; else Windows-1252, which is what old exports are in."""
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            text = data.decode(name, "replace")
            return DecodedText(text, name, "\ufffd" in text)
    try:
        return DecodedText(data.decode("utf-8"), "utf-8", lossy=False)
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
        return DecodedText(text, "cp1252", "\ufffd" in text)


@dataclass(frozen=True, slots=True)
class Document:
    """One file. ``read`` returns its bytes; its digest is checked by whoever uploads it."""

    name: str
    digest: str
    size_bytes: int
    read: Callable[[], bytes]

    def text(self) -> DecodedText:
        """The file's bytes as text."""
        return decode(self.read())


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """What a source left out although it lay among the documents, and why. No part of the manifest."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """One variant of the shared corpus, in the order of document names.

    ``reason`` says why there are no documents when the form is not ``GIVEN``.
    """

    form: CorpusForm
    documents: tuple[Document, ...] = ()
    reason: str = ""
    variant: str = BASE_VARIANT
    skipped: tuple[SkippedFile, ...] = ()

    @property
    def digest(self) -> str:
        """Digest of the manifest: names and content digests, in order."""
        return digest(canonical([[d.name, d.digest, d.size_bytes] for d in self.documents]))
