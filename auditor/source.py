"""Contracts of what feeds a run from outside: documents, questions, canaries, other tools' transcripts, vendor
twins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from auditor.canonical import Json
from auditor.corpus import Corpus
from auditor.errors import QuestionError
from auditor.question import Proof, Question

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["CanaryBuilder", "CorpusSource", "Importer", "QuestionSource", "Sandbox"]


class CorpusSource(ABC):
    """Reads documents. Offline and deterministic for local sources."""

    config_model: ClassVar[type[BaseModel]]

    @abstractmethod
    def load(self, config: Any, base: Path) -> Corpus:
        """The corpus. ``base``: the folder of the spec, against which relative paths are read.

        Raises ``CorpusError`` that names the file and says what to do. No symlink leads out of the folder.
        """


class QuestionSource(ABC):
    """Reads questions."""

    config_model: ClassVar[type[BaseModel]]

    @abstractmethod
    def load(self, config: Any, base: Path) -> Sequence[Question]:
        """Questions in file order. Raises ``QuestionError`` with file and line."""

    def keep_proofs(self, config: Any, base: Path, variant: str, proofs: Mapping[str, Proof | None]) -> None:
        """Write proofs to where the questions came from, by question id; None takes away the one that is there.

        Nothing else of a question changes. Raises ``QuestionError`` when nothing could be written; a source that reads
        what it may not write to leaves this as it is.
        """
        raise QuestionError("this source of questions cannot keep proofs; put the canaries into one that can")


class CanaryBuilder(ABC):
    """Makes canaries, or proves that a question is one."""

    config_model: ClassVar[type[BaseModel]]

    @abstractmethod
    def prove(self, question: Question, corpus: Corpus, config: Any, *, date: str) -> Proof | None:
        """The proof that the question's answer is absent from ``corpus``; None when it is not proven (one doubt
        suffices).
        """

    def doubts(self, question: Question, corpus: Corpus, config: Any) -> Sequence[str]:
        """Why there is no proof, for the person who wrote the question; empty when there is one."""
        return ()


class Importer(ABC):
    """Reads another tool's transcripts and writes a recording and a spec that replays it."""

    @abstractmethod
    def convert(self, source: Path, target: Path) -> Path:
        """Write into the folder ``target``; return the path of the spec."""


class Sandbox(ABC):
    """A twin of a vendor on the loopback interface."""

    @abstractmethod
    def start(self, settings: Mapping[str, Json]) -> Mapping[str, str]:
        """Start serving; return the environment variables (base URLs, fake keys) that point a spec at it."""

    @abstractmethod
    def stop(self) -> None:
        """Stop serving and free the port."""
