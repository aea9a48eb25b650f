"""Corpora in memory, and a prover that is loaded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from auditor.canonical import digest
from auditor.corpus import Corpus, CorpusForm, Document
from auditor.question import Form, Question, QuestionKind
from auditor_knowledge_gap.builder import KnowledgeGap

BACKGROUND = {
    "bakery.md": "# The bakery\n\nThe oven heats to 65 °C before the loaves go in. Fourteen loaves fit on a tray.\n",
    "garden.md": "# The garden\n\nBeans are sown on 4 May. In December the beds rest under straw.\n",
    "harbour.md": "# The harbour\n\nThe crane lifts 1,720 kg. Ships report to the harbour master by radio.\n",
    "library.md": "# The library\n\nBooks are lent for three weeks. The reading room has 48 seats.\n",
    "pump.md": "# The pump\n\nThe pump fills the tank by night. Its impeller was changed by the fitter.\n",
    "school.md": "# The school\n\nThe team scored 14 goals in 2001. The bell rings at eight.\n",
}


def corpus_of(documents: Mapping[str, str | bytes]) -> Corpus:
    """A given corpus of these documents."""
    made = []
    for name, text in sorted(documents.items()):
        data = text if isinstance(text, bytes) else text.encode("utf-8")
        made.append(Document(name, digest(data), len(data), lambda data=data: data))  # type: ignore[misc]  # bound now
    return Corpus(CorpusForm.GIVEN, tuple(made))


@pytest.fixture(scope="session")
def background() -> Mapping[str, str]:
    """Six small documents about other things."""
    return BACKGROUND


@pytest.fixture(scope="session")
def given() -> Callable[[Mapping[str, str | bytes]], Corpus]:
    """Makes a corpus from texts by name."""
    return corpus_of


@pytest.fixture(scope="session")
def asked() -> Callable[..., Question]:
    """Makes a question."""

    def make(
        text: str,
        *references: str,
        aliases: tuple[str, ...] = (),
        tags: tuple[str, ...] = (),
        kind: QuestionKind = QuestionKind.KNOWLEDGE_GAP,
    ) -> Question:
        return Question("q", kind, (Form("plain", text),), references, "q", aliases=aliases, tags=tags)

    return make


@pytest.fixture(scope="session")
def prover() -> KnowledgeGap:
    """One prover, so that its vectors' model is loaded once."""
    return KnowledgeGap()
