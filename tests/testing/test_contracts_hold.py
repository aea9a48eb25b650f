"""The doubles and the third party's classes keep the contracts that ``auditor.testing`` ships."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from auditor.analysis import Analysis
from auditor.canonical import Json
from auditor.errors import CallError, Fault, FaultReport
from auditor.label import Field, LabelKind, Labeller, LabelSubject, Reduced, Unparseable, Vote
from auditor.plugin import Offer
from auditor.source import CorpusSource, QuestionSource
from auditor.system import System
from auditor.testing import (
    AnalysisContract,
    CorpusSourceContract,
    EchoJudge,
    EchoSystem,
    LabelKindContract,
    LabellerContract,
    QuestionSourceContract,
    ReportWriterContract,
    SystemContract,
)
from auditor.writer import ReportWriter

_ACME = Path(__file__).parent.parent / "third_party" / "acme_project"


@pytest.fixture(autouse=True)
def acme_on_path() -> Iterator[None]:
    """The third party's source folder can be imported from."""
    sys.path.insert(0, str(_ACME))
    yield
    sys.path.remove(str(_ACME))


def acme(target: str) -> Any:
    """A class of the third party's package."""
    return Offer("acme", "acme", f"auditor_acme.{target}").load()


class WordKind(LabelKind):
    """Yes or no by majority: a small kind for the echo judge."""

    name = "word"
    fields = frozenset({Field.CANDIDATE})

    def applies(self, subject: LabelSubject) -> bool:
        """To every text."""
        return True

    def parse(self, text: str) -> Json:
        """One JSON object with ``word``."""
        try:
            value = json.loads(text)["word"]
        except (ValueError, KeyError, TypeError) as error:
            raise Unparseable("no word") from error
        if value not in ("yes", "no"):
            raise Unparseable("another word")
        return str(value)

    def reduce(self, votes: Sequence[Vote]) -> Reduced:
        """A value that more than half of the seats gave."""
        for value in ("yes", "no"):
            if sum(vote.value == value for vote in votes) * 2 > len(votes):
                return Reduced(value)
        return Reduced(None, "no majority")


class TestEchoSystem(SystemContract):
    """The shipped echo system."""

    def make(self, folder: Path) -> System:
        """As it comes."""
        return EchoSystem()

    def faults(self) -> Sequence[tuple[BaseException, Fault]]:
        """A fault that a plugin knows, and one that it does not."""
        known = CallError(FaultReport(Fault.RATE_LIMITED, "slow down"))
        return ((known, Fault.RATE_LIMITED), (RuntimeError("?"), Fault.INTERNAL))


class TestAcmeSystem(SystemContract):
    """The third party's system."""

    def make(self, folder: Path) -> System:
        """With its own configuration."""
        made: System = acme("system:AcmeSearch")(acme("system:AcmeConfig")())
        return made


class TestEchoJudge(LabellerContract):
    """The shipped echo judge."""

    def make(self) -> Labeller:
        """Says yes."""
        return EchoJudge(field="word", value="yes")

    def kind(self) -> LabelKind:
        """Yes or no."""
        return WordKind()


class TestWordKind(LabelKindContract):
    """A kind with a majority."""

    def make(self) -> LabelKind:
        """As it is."""
        return WordKind()

    def examples(self) -> Mapping[str, Json]:
        """Both labels."""
        return {'{"word": "yes"}': "yes", '{"word": "no"}': "no"}


class TestAcmeLength(LabelKindContract):
    """The third party's kind, which brings its own labeller."""

    def make(self) -> LabelKind:
        """As it is."""
        made: LabelKind = acme("label:AcmeLength")()
        return made

    def examples(self) -> Mapping[str, Json]:
        """Both labels."""
        return {'{"length": "short"}': "short", '{"length": "long"}': "long"}


class TestAcmeRuler(LabellerContract):
    """The third party's own labeller."""

    def make(self) -> Labeller:
        """The kind's."""
        made: Labeller = acme("label:AcmeLength")().own_labeller()
        return made

    def kind(self) -> LabelKind:
        """Its kind."""
        made: LabelKind = acme("label:AcmeLength")()
        return made


class TestAcmeStates(AnalysisContract):
    """The third party's analysis."""

    def make(self) -> Analysis:
        """As it is."""
        made: Analysis = acme("analysis:AcmeStates")()
        return made


class TestAcmeInline(CorpusSourceContract):
    """The third party's corpus source."""

    def make(self) -> CorpusSource:
        """As it is."""
        made: CorpusSource = acme("source:AcmeInline")()
        return made

    def config(self, folder: Path) -> Any:
        """Two documents."""
        return acme("source:InlineConfig")(documents={"b.txt": "b", "a/ä.txt": "ä"})

    def empty(self, folder: Path) -> Any:
        """No document."""
        return acme("source:InlineConfig")(documents={})


class TestAcmeAsked(QuestionSourceContract):
    """The third party's question source."""

    def make(self) -> QuestionSource:
        """As it is."""
        made: QuestionSource = acme("source:AcmeAsked")()
        return made

    def config(self, folder: Path) -> Any:
        """Two questions."""
        return acme("source:AskedConfig")(asked={"One?": "1", "Two?": "2"})


class _Titles(ReportWriter):
    """Every block by its ``repr``: crude, and whole."""

    def write(self, data: Any, folder: Path) -> Sequence[Path]:
        """One file."""
        path = folder / "blocks.txt"
        text = "\n".join(repr(block) for section in data.findings.sections for block in section.blocks)
        path.write_text(text, encoding="utf-8")
        return [path]


class TestPlainWriter(ReportWriterContract):
    """A writer that shows every block."""

    def make(self) -> ReportWriter:
        """As it is."""
        return _Titles()
