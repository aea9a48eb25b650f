"""The contracts of corpus sources and question sources, as tests."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

from auditor.canonical import digest
from auditor.corpus import CorpusForm
from auditor.errors import CorpusError, QuestionError
from auditor.question import QuestionKind
from auditor.source import CorpusSource, QuestionSource
from auditor.testing.check import must

__all__ = ["CorpusSourceContract", "QuestionSourceContract"]


class CorpusSourceContract(ABC):
    """Override ``make`` and ``config``; override ``empty`` where a source can be empty."""

    @abstractmethod
    def make(self) -> CorpusSource:
        """The source."""

    @abstractmethod
    def config(self, folder: Path) -> Any:
        """A configuration that gives at least two documents. ``folder``: write files there, read as the spec's base."""

    def empty(self, folder: Path) -> Any | None:
        """A configuration that gives no document; None when there is none."""
        return None

    def test_names_are_portable_and_sorted(self, tmp_path: Path) -> None:
        """Names are relative POSIX paths in NFC, unique, in the order of code points."""
        corpus = self.make().load(self.config(tmp_path), tmp_path)
        names = [document.name for document in corpus.documents]
        must(corpus.form is CorpusForm.GIVEN and len(names) >= 2, f"form {corpus.form}, {len(names)} documents")
        must(names == sorted(set(names)), "names are unique and sorted")
        for name in names:
            path = PurePosixPath(name)
            must(not path.is_absolute() and ".." not in path.parts and "\\" not in name, f"{name!r} is not relative")
            must(unicodedata.normalize("NFC", name) == name == path.as_posix(), f"{name!r} is not in normal form")

    def test_digests_are_of_the_bytes(self, tmp_path: Path) -> None:
        """Digest and size are those of what ``read`` returns."""
        for document in self.make().load(self.config(tmp_path), tmp_path).documents:
            data = document.read()
            must(document.digest == digest(data), f"{document.name}: digest is not of the bytes")
            must(document.size_bytes == len(data), f"{document.name}: {document.size_bytes} is not the size")

    def test_equal_each_time(self, tmp_path: Path) -> None:
        """Reading twice gives one manifest."""
        config = self.config(tmp_path)
        first, second = (self.make().load(config, tmp_path).digest for _ in range(2))
        must(first == second, "two readings differ")

    def test_empty_is_an_error(self, tmp_path: Path) -> None:
        """No documents is the user's mistake, said as such."""
        config = self.empty(tmp_path)
        if config is None:
            return
        try:
            corpus = self.make().load(config, tmp_path)
        except CorpusError as error:
            must(bool(str(error).strip()), "the error has a text")
        else:
            raise AssertionError(f"an empty corpus loaded with {len(corpus.documents)} documents")


class QuestionSourceContract(ABC):
    """Override ``make`` and ``config``; override ``broken`` with configurations that must not load."""

    @abstractmethod
    def make(self) -> QuestionSource:
        """The source."""

    @abstractmethod
    def config(self, folder: Path) -> Any:
        """A configuration that gives at least two questions."""

    def broken(self, folder: Path) -> tuple[Any, ...]:
        """Configurations whose questions are malformed."""
        return ()

    def test_questions_are_whole(self, tmp_path: Path) -> None:
        """Ids are unique, wordings and clusters not empty, and a benchmark question has a reference."""
        questions = list(self.make().load(self.config(tmp_path), tmp_path))
        must(len(questions) >= 2, f"{len(questions)} questions")
        twice = [name for name, count in Counter(q.id for q in questions).items() if count > 1]
        must(not twice, f"ids given twice: {twice}")
        for question in questions:
            must(bool(question.forms) and all(f.text.strip() for f in question.forms), f"{question.id}: no wording")
            must(len({f.name for f in question.forms}) == len(question.forms), f"{question.id}: forms of one name")
            must(bool(question.cluster.strip()), f"{question.id}: no cluster")
            if question.kind is QuestionKind.BENCHMARK:
                must(any(r.strip() for r in question.references), f"{question.id}: no reference")

    def test_equal_each_time(self, tmp_path: Path) -> None:
        """Reading twice gives the same questions in the same order."""
        config = self.config(tmp_path)
        first, second = (list(self.make().load(config, tmp_path)) for _ in range(2))
        must(first == second, "two readings differ")

    def test_malformed_is_an_error(self, tmp_path: Path) -> None:
        """What is malformed is never skipped or mended: the error says where it stands."""
        for config in self.broken(tmp_path):
            try:
                loaded = self.make().load(config, tmp_path)
            except QuestionError as error:
                must(bool(str(error).strip()), "the error has a text")
            else:
                raise AssertionError(f"{config!r} loaded {len(loaded)} questions")
