"""Acme's sources, prover, importer, bundled spec and sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from auditor.canonical import Json, digest
from auditor.corpus import Corpus, CorpusForm, Document
from auditor.errors import CorpusError
from auditor.question import Form, Proof, ProofGrade, Question, QuestionKind
from auditor.source import CanaryBuilder, CorpusSource, Importer, QuestionSource, Sandbox


class InlineConfig(BaseModel):
    """``documents``: text by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    documents: dict[str, str]


class AskedConfig(BaseModel):
    """``asked``: reference by question."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    asked: dict[str, str]


class NoConfig(BaseModel):
    """Nothing to set."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _bytes(data: bytes) -> bytes:
    return data


class AcmeInline(CorpusSource):
    """Documents that stand in the spec."""

    config_model = InlineConfig

    def load(self, config: Any, base: Path) -> Corpus:
        """In the order of their names."""
        if not config.documents:
            raise CorpusError("acme-inline: no documents; write some under documents:")
        made = []
        for name, text in sorted(config.documents.items()):
            data = text.encode()
            made.append(Document(name, digest(data), len(data), partial(_bytes, data)))
        return Corpus(CorpusForm.GIVEN, tuple(made))


class AcmeAsked(QuestionSource):
    """Questions that stand in the spec."""

    config_model = AskedConfig

    def load(self, config: Any, base: Path) -> Sequence[Question]:
        """In the order of the spec."""
        return [
            Question(f"acme-{n}", QuestionKind.BENCHMARK, (Form("plain", text),), (reference,), f"acme-{n}")
            for n, (text, reference) in enumerate(config.asked.items())
        ]


class AcmeProver(CanaryBuilder):
    """Proves by exact text."""

    config_model = NoConfig

    def prove(self, question: Question, corpus: Corpus, config: Any, *, date: str) -> Proof | None:
        """None when any reference stands in any document."""
        texts = [document.text().text for document in corpus.documents]
        if any(reference in text for reference in question.references for text in texts):
            return None
        return Proof(ProofGrade.LEXICAL, corpus.digest, date, "acme-prover")


class AcmeImporter(Importer):
    """Reads question, tab, answer."""

    def convert(self, source: Path, target: Path) -> Path:
        """Copies the file beside a spec that names it."""
        (target / "recording.tsv").write_bytes(source.read_bytes())
        spec = target / "audit.yaml"
        spec.write_text("name: imported\n", encoding="utf-8")
        return spec


def spec_path() -> Path:
    """The spec beside this module."""
    return Path(__file__).with_name("acme.yaml")


class AcmeSandbox(Sandbox):
    """Serves nothing."""

    def start(self, settings: Mapping[str, Json]) -> Mapping[str, str]:
        """No variables."""
        return {}

    def stop(self) -> None:
        """Nothing to free."""
