"""Paths: how the user's, the file system's and the manifest's names of one file become each other.

Invariant: nothing here depends on the locale or on the system's separator.
"""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

__all__ = ["document_name", "local_path", "read_bytes", "shown_path", "system_path"]


def document_name(path: str) -> str:
    r"""``.\corpus\a.txt`` and ``./corpus/a.txt`` alike become ``corpus/a.txt``, in NFC."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    return unicodedata.normalize("NFC", "/".join(parts))


def system_path(path: Path) -> Path:
    """The path as the file system has it, also where the locale's encoding cannot say it."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return Path(os.fsdecode(str(path).encode("utf-8", "surrogateescape")))
    return path


def local_path(path: Path, base: Path) -> Path:
    """``path`` against ``base``; one written with backslashes is understood on systems that do not use them."""
    whole = system_path(base / path)
    if "\\" in str(path) and os.sep == "/" and not whole.exists():
        return system_path(base / str(path).replace("\\", "/"))
    return whole


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises ``OSError``; a name that no file can have (a NUL in it) counts as not found."""
    try:
        return system_path(path).read_bytes()
    except ValueError as error:
        raise FileNotFoundError(str(error)) from error


def shown_path(path: Path, base: Path) -> str:
    """``path`` as it stands in messages: relative to the spec's folder where it lies below it."""
    whole = path.relative_to(base) if path.is_relative_to(base) else path
    return os.fsencode(system_path(whole)).decode("utf-8", "replace").replace(os.sep, "/")
