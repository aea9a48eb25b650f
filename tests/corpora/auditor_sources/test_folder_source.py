"""The folder source: one folder has one manifest everywhere, and nothing is left out unseen (FAULTS 57, 62)."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.canonical import digest
from auditor.corpus import Corpus, CorpusForm
from auditor.errors import CorpusError
from auditor.source import CorpusSource
from auditor.testing import CorpusSourceContract
from auditor_sources.folder import FolderConfig, FolderSource, matches


def write(folder: Path, *names: str) -> Path:
    """Files of these names, each holding its own name."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return folder


def load(folder: Path, path: str = "corpus", **config: Any) -> Corpus:
    """The corpus of ``path`` below ``folder``."""
    return FolderSource().load(FolderConfig(path=Path(path), **config), folder)


def names(corpus: Corpus) -> list[str]:
    """Names of the documents."""
    return [document.name for document in corpus.documents]


class TestFolderContract(CorpusSourceContract):
    """The contract of corpus sources."""

    def make(self) -> CorpusSource:
        """The source."""
        return FolderSource()

    def config(self, folder: Path) -> FolderConfig:
        """Three documents."""
        write(folder, "corpus/b.txt", "corpus/a/é.md", "corpus/B2.txt")
        return FolderConfig(path=Path("corpus"))

    def empty(self, folder: Path) -> FolderConfig:
        """A folder with litter alone."""
        write(folder, "empty/.DS_Store")
        return FolderConfig(path=Path("empty"))


def test_names_are_posix_nfc_and_in_code_point_order(tmp_path: Path) -> None:
    """A name is the same whatever form the file system keeps it in."""
    decomposed = unicodedata.normalize("NFD", "naïve.txt")
    write(tmp_path, f"corpus/{decomposed}", "corpus/Z.txt", "corpus/a/b.txt")
    assert names(load(tmp_path)) == ["Z.txt", "a/b.txt", unicodedata.normalize("NFC", "naïve.txt")]


@pytest.mark.parametrize("path", ["corpus", "./corpus", ".\\corpus", ".\\nested\\..\\corpus", "corpus/"])
def test_either_separator_gives_the_same_manifest(tmp_path: Path, path: str) -> None:
    r"""``.\corpus`` and ``./corpus`` are one folder, and ``/`` parts the names of its files (FAULTS 62)."""
    write(tmp_path, "corpus/sub/a.txt", "nested/x")
    corpus = load(tmp_path, path)
    assert names(corpus) == ["sub/a.txt"]
    assert corpus.digest == load(tmp_path, "corpus").digest


_CHILD = """
import sys
from pathlib import Path
from auditor_sources.folder import FolderConfig, FolderSource
folder = sys.stdin.buffer.read().decode("utf-8")
corpus = FolderSource().load(FolderConfig(path=Path("corpus \\u00e9")), Path(folder))
texts = [document.text().text for document in corpus.documents]
sys.stdout.buffer.write((corpus.digest + " " + "|".join(texts) + " " + sys.getfilesystemencoding()).encode("utf-8"))
"""


def manifest_under(folder: Path, **environment: str) -> list[str]:
    """Digest, texts and file system encoding as a child with another locale sees them."""
    child = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=str(folder).encode(),
        capture_output=True,
        env={**os.environ, **environment},
        check=True,
    )
    return child.stdout.decode("utf-8").rsplit(" ", 1)[0].split(" ", 1) + [child.stdout.decode().rsplit(" ", 1)[1]]


def test_manifest_does_not_depend_on_the_locale(tmp_path: Path) -> None:
    """``naïve 漢字.txt`` has one manifest with and without a UTF-8 locale (FAULTS 57)."""
    write(tmp_path, "corpus é/naïve 漢字.txt", "corpus é/z.txt")
    here = manifest_under(tmp_path, PYTHONUTF8="1")
    ascii_only = manifest_under(
        tmp_path, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", LC_ALL="C", LANG="C", PYTHONIOENCODING="ascii"
    )
    assert here[2] == "utf-8"
    assert here[:2] == ascii_only[:2]
    assert here[1] == "corpus é/naïve 漢字.txt|corpus é/z.txt"


@pytest.mark.parametrize("target", ["outside.txt", "outside"])
def test_no_link_leads_out(tmp_path: Path, target: str) -> None:
    """A link to a file or folder outside is an error that names the link."""
    write(tmp_path, "outside.txt", "outside/x.txt", "corpus/a.txt")
    (tmp_path / "corpus" / "sub").mkdir()
    (tmp_path / "corpus" / "sub" / "leak").symlink_to(tmp_path / target)
    with pytest.raises(CorpusError, match=r"'sub/leak' leads out"):
        load(tmp_path)


def test_a_sibling_whose_name_begins_alike_is_outside(tmp_path: Path) -> None:
    """``corpus-secret`` does not lie in ``corpus``."""
    write(tmp_path, "corpus-secret/x.txt", "corpus/a.txt")
    (tmp_path / "corpus" / "leak").symlink_to(tmp_path / "corpus-secret" / "x.txt")
    with pytest.raises(CorpusError, match="leads out"):
        load(tmp_path)


def test_links_inside_are_documents_and_cycles_are_errors(tmp_path: Path) -> None:
    """A link to a file of the folder has a name of its own; one that leads back to its folder never ends."""
    write(tmp_path, "corpus/a.txt", "corpus/sub/b.txt")
    (tmp_path / "corpus" / "link.txt").symlink_to("a.txt")
    assert names(load(tmp_path)) == ["a.txt", "link.txt", "sub/b.txt"]
    (tmp_path / "corpus" / "sub" / "up").symlink_to("..")
    with pytest.raises(CorpusError, match="leads back"):
        load(tmp_path)


def test_a_link_to_nothing_is_an_error(tmp_path: Path) -> None:
    """A document that is not there is not passed over."""
    write(tmp_path, "corpus/a.txt")
    (tmp_path / "corpus" / "gone").symlink_to("nowhere")
    with pytest.raises(CorpusError, match="'gone' points at nothing"):
        load(tmp_path)


def test_hidden_files_and_litter_are_left_out_and_said(tmp_path: Path) -> None:
    """What is no document is recorded with the reason; what only looks like litter is kept."""
    write(tmp_path, "corpus/a.txt", "corpus/.git/config", "corpus/~$a.docx", "corpus/a.txt~", "corpus/Thumbs.db")
    write(tmp_path, "corpus/~notes.txt")
    corpus = load(tmp_path)
    assert names(corpus) == ["a.txt", "~notes.txt"]
    assert {(skipped.name, skipped.reason) for skipped in corpus.skipped} == {
        (".git", "hidden"),
        ("Thumbs.db", "left behind by a program"),
        ("a.txt~", "left behind by a program"),
        ("~$a.docx", "left behind by a program"),
    }


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Only regular files are read."""
    write(tmp_path, "corpus/a.txt")
    os.mkfifo(tmp_path / "corpus" / "pipe")
    assert [(s.name, s.reason) for s in load(tmp_path).skipped] == [("pipe", "not a regular file")]


def test_patterns_choose_and_what_they_leave_out_is_said(tmp_path: Path) -> None:
    """Include and exclude work on the portable names; a pattern that finds nothing is a mistake."""
    write(tmp_path, "corpus/a.md", "corpus/x/b.md", "corpus/x/y/c.md", "corpus/d.txt")
    corpus = load(tmp_path, include=("*.md",), exclude=("x\\y\\",))
    assert names(corpus) == ["a.md", "x/b.md"]
    assert [(s.name, s.reason) for s in corpus.skipped] == [("d.txt", "not included"), ("x/y/c.md", "excluded")]
    with pytest.raises(CorpusError, match=r"'d\.tx' matches no file; did you mean 'd\.txt'"):
        load(tmp_path, include=("d.tx",))


@pytest.mark.parametrize(
    ("name", "pattern", "wanted"),
    [
        ("a.md", "*.md", True),
        ("x/y/a.md", "*.md", True),
        ("x/y/a.md", "x/*.md", False),
        ("x/y/a.md", "x/**", True),
        ("x/y/a.md", "x/**/a.md", True),
        ("x/a.md", "x/**/a.md", True),
        ("x/a.md", "x/", True),
        ("xx/a.md", "x/", False),
        ("A.md", "a.md", False),
        ("a/b", "**", True),
        ("a/b/c", "**/c/**", True),
    ],
)
def test_patterns(name: str, pattern: str, wanted: bool) -> None:
    """Stars stay within one part, double stars span parts, and case matters on every system."""
    assert matches(name, pattern) is wanted


@given(st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=6), st.lists(st.sampled_from(["a", "b", "**", "*"])))
def test_patterns_agree_with_a_plain_definition(parts: list[str], pattern: list[str]) -> None:
    """The matcher equals its recursive definition."""

    def plain(rest: list[str], left: list[str]) -> bool:
        if not left:
            return not rest
        if left[0] == "**":
            return any(plain(rest[i:], left[1:]) for i in range(len(rest) + 1))
        return bool(rest) and left[0] in ("*", rest[0]) and plain(rest[1:], left[1:])

    whole = ["**", *pattern, "**"]
    assert matches("/".join(parts), "/".join(whole)) == plain(parts, whole)


@pytest.mark.parametrize(
    ("first", "second", "how"),
    [
        ("Read.me", "read.ME", "only in case"),
        ("A/x.txt", "a/x.txt", "only in case"),
        (unicodedata.normalize("NFC", "é.txt"), unicodedata.normalize("NFD", "é.txt"), "normal form"),
    ],
)
def test_names_that_are_one_elsewhere_are_refused(tmp_path: Path, first: str, second: str, how: str) -> None:
    """Two files that another system takes for one cannot both be given to every system."""
    write(tmp_path, f"corpus/{first}", f"corpus/{second}")
    with pytest.raises(CorpusError, match=how):
        load(tmp_path)


def test_names_that_others_cannot_write_are_refused(tmp_path: Path) -> None:
    """A backslash or bytes that are no UTF-8 would be another name elsewhere."""
    write(tmp_path, "one/a\\b.txt")
    with pytest.raises(CorpusError, match="backslash"):
        load(tmp_path, "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / os.fsdecode(b"\xff.txt")).write_text("x", encoding="utf-8")
    with pytest.raises(CorpusError, match="not UTF-8"):
        load(tmp_path, "two")


def test_an_empty_corpus_says_why(tmp_path: Path) -> None:
    """Nothing to audit is an error, with what was left out."""
    (tmp_path / "bare").mkdir()
    with pytest.raises(CorpusError, match="holds no file"):
        load(tmp_path, "bare")
    write(tmp_path, "corpus/.hidden")
    with pytest.raises(CorpusError, match=r"all 1 files are left out \(the first, '\.hidden': hidden\)"):
        load(tmp_path)


def test_a_missing_folder_names_the_nearest(tmp_path: Path) -> None:
    """A misspelt path is answered with the right one; a file is no folder."""
    write(tmp_path, "corpus/a.txt")
    with pytest.raises(CorpusError, match="no such folder; did you mean 'corpus'"):
        load(tmp_path, "corpsu")
    with pytest.raises(CorpusError, match=r"corpus/a\.txt: is not a folder"):
        load(tmp_path, "corpus/a.txt")


def test_documents_are_the_bytes(tmp_path: Path) -> None:
    """Size and digest are of the bytes, whatever they are."""
    data = b"\x00\xff" * 700_000
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "x.bin").write_bytes(data)
    (tmp_path / "corpus" / "empty.txt").write_bytes(b"")
    corpus = load(tmp_path)
    assert [(d.name, d.size_bytes, d.digest) for d in corpus.documents] == [
        ("empty.txt", 0, digest(b"")),
        ("x.bin", len(data), digest(data)),
    ]
    assert corpus.documents[1].read() == data
    assert corpus.form is CorpusForm.GIVEN
