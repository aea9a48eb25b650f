"""Documents below a folder: every regular file, byte for byte, under a name that is the same on every system.

Invariant: the manifest depends on the files' names and bytes alone — not on the locale, the separator, or the order
in which a file system lists.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from auditor.canonical import ALGORITHM
from auditor.corpus import Corpus, CorpusForm, Document, SkippedFile
from auditor.errors import CorpusError
from auditor.path import document_name, local_path, read_bytes, shown_path
from auditor.source import CorpusSource
from auditor.suggestion import did_you_mean

__all__ = ["FolderConfig", "FolderSource"]

_LITTER = ("~$*", "*~", "#*#", "*.swp", "*.swo", "Thumbs.db", "ehthumbs.db", "desktop.ini", "Icon\r", "__MACOSX")


class FolderConfig(BaseModel):
    """Which files are the corpus. Patterns without a slash match file names, the others whole names; ``**`` spans
    folders.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path = Field(description="The folder, relative to the spec.")
    include: tuple[str, ...] = Field(default=(), description="Only files that match one of these; all when empty.")
    exclude: tuple[str, ...] = Field(default=(), description="Files to leave out although they are included.")


class FolderSource(CorpusSource):
    """See the module."""

    config_model = FolderConfig

    def load(self, config: FolderConfig, base: Path) -> Corpus:
        """The corpus below ``config.path``. Raises ``CorpusError``: see ``auditor.source.CorpusSource``."""
        folder = local_path(config.path, base)
        walk = _Walk(folder, shown_path(folder, base))
        names = _checked([name for name, _ in walk.files], walk.shown)
        chosen = _chosen(names, config, walk)
        paths = dict(zip(names, (path for _, path in walk.files), strict=True))
        if not chosen:
            raise CorpusError(_why_empty(config, walk), file=walk.shown)
        documents = tuple(_document(name, paths[name], walk.shown) for name in sorted(chosen))
        return Corpus(CorpusForm.GIVEN, documents, skipped=tuple(sorted(walk.skipped, key=lambda s: s.name)))


@dataclass(frozen=True, slots=True)
class _Found:
    path: Path
    name: str
    ancestors: tuple[Path, ...]


class _Walk:
    """All regular files below a folder that are neither hidden nor litter. Links are followed, but never out."""

    def __init__(self, folder: Path, shown: str) -> None:
        self.shown = shown
        self.files: list[tuple[str, Path]] = []
        self.skipped: list[SkippedFile] = []
        self._root = Path(os.path.realpath(folder))
        if not self._root.is_dir():
            raise CorpusError(_why_no_folder(folder), file=shown)
        pending = [_Found(self._root, "", (self._root,))]
        while pending:
            pending.extend(self._list(pending.pop()))

    def _list(self, folder: _Found) -> Iterator[_Found]:
        """Sub-folders of ``folder``; its files go into ``files`` or ``skipped``."""
        try:
            paths = sorted(folder.path.iterdir())
        except OSError as error:
            raise CorpusError(f"{folder.name or '.'!r} cannot be listed: {error.strerror}", file=self.shown) from error
        for path in paths:
            name = _join(folder.name, _decoded(path, self.shown), self.shown)
            reason = _why_litter(name.rpartition("/")[2])
            if reason:
                self.skipped.append(SkippedFile(name, reason))
                continue
            real = self._inside(path, name)
            if real.is_dir():
                if real in folder.ancestors:
                    raise CorpusError(f"link {name!r} leads back to a folder it lies in", file=self.shown)
                yield _Found(real, name, (*folder.ancestors, real))
            elif real.is_file():
                self.files.append((name, real))
            else:
                self.skipped.append(SkippedFile(name, "not a regular file"))

    def _inside(self, path: Path, name: str) -> Path:
        """The path behind links. Raises ``CorpusError`` when it lies outside the folder or does not exist."""
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self._root):
            raise CorpusError(f"link {name!r} leads out of the folder; copy what it points at", file=self.shown)
        if not real.exists():
            raise CorpusError(f"link {name!r} points at nothing", file=self.shown)
        return real


def _decoded(path: Path, shown: str) -> str:
    """The last part of ``path`` as text; file systems hold bytes, and the manifest only what UTF-8 can say."""
    last = os.fsencode(path.name)
    try:
        return last.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(f"file name {last!r} is not UTF-8; rename it", file=shown) from error


def _join(folder: str, last: str, shown: str) -> str:
    if "\\" in last:
        raise CorpusError(f"file name {last!r} holds a backslash, which parts folders elsewhere; rename it", file=shown)
    return document_name(f"{folder}/{last}")


def _why_litter(last: str) -> str:
    """Why a file or folder of this name is no document; empty when it may be one."""
    if last.startswith("."):
        return "hidden"
    if any(fnmatchcase(last, pattern) for pattern in _LITTER):
        return "left behind by a program"
    return ""


def _checked(names: list[str], shown: str) -> list[str]:
    """``names``, when no two are one name on some system: equal in NFC, or but for case."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other is not name:
            how = "differ only in Unicode normal form" if other == name else "differ only in case"
            raise CorpusError(f"files {other!r} and {name!r} {how}; rename one", file=shown)
    return names


def _chosen(names: Sequence[str], config: FolderConfig, walk: _Walk) -> list[str]:
    """Names that the patterns let through; the others are recorded as skipped."""
    for pattern in config.include:
        if not any(matches(name, pattern) for name in names):
            near = did_you_mean(pattern, names)
            raise CorpusError(f"include pattern {pattern!r} matches no file{near}", file=walk.shown)
    chosen = []
    for name in names:
        if config.include and not any(matches(name, pattern) for pattern in config.include):
            walk.skipped.append(SkippedFile(name, "not included"))
        elif any(matches(name, pattern) for pattern in config.exclude):
            walk.skipped.append(SkippedFile(name, "excluded"))
        else:
            chosen.append(name)
    return chosen


def matches(name: str, pattern: str) -> bool:
    """Whether a document's name matches a pattern: ``*.md`` any such file, ``a/**`` all below ``a``, case matters."""
    parts = document_name(pattern).split("/")
    if pattern.replace("\\", "/").endswith("/"):
        parts.append("**")
    elif len(parts) == 1:
        parts.insert(0, "**")
    return _matches(name.split("/"), parts)


def _matches(name: Sequence[str], pattern: Sequence[str]) -> bool:
    """Match of parts by dynamic programming: ``reached[i]`` says whether the pattern so far may end before part i."""
    reached = [True] + [False] * len(name)
    for part in pattern:
        if part == "**":
            first = reached.index(True) if True in reached else len(reached)
            reached = [i >= first for i in range(len(reached))]
        else:
            reached = [False] + [r and fnmatchcase(n, part) for r, n in zip(reached, name, strict=False)]
    return reached[-1]


def _document(name: str, path: Path, shown: str) -> Document:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, ALGORITHM).hexdigest()
            size_bytes = file.tell()
    except OSError as error:
        raise CorpusError(f"{name!r} cannot be read: {error.strerror}", file=shown) from error
    return Document(name, f"{ALGORITHM}:{found}", size_bytes, lambda: read_bytes(path))


def _why_no_folder(folder: Path) -> str:
    if folder.exists():
        return "is not a folder"
    try:
        siblings = [sibling.name for sibling in folder.parent.iterdir()]
    except OSError:
        siblings = []
    return f"no such folder{did_you_mean(folder.name, siblings)}"


def _why_empty(config: FolderConfig, walk: _Walk) -> str:
    if not walk.skipped:
        return "the corpus is empty: the folder holds no file"
    first = walk.skipped[0]
    every = f"all {len(walk.skipped)} files are left out"
    return f"the corpus is empty: {every} (the first, {first.name!r}: {first.reason})"
