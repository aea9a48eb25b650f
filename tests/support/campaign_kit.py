"""Small audits on disk: documents, questions and a spec in a folder, run through the campaign with the stub plugin."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from auditor.campaign import RunOptions, RunResult, run_campaign
from auditor.corpus import Corpus
from auditor.discovery import Candidate, candidates, examine
from auditor.event import Event
from auditor.findings_json import measurement_bytes
from auditor.plugins import Plugins

STUB = Candidate("stub", "auditor_stub", "auditor-stub", "1.0")
DOCUMENTS = {"a.txt": "The pump of the Alpha turns at 90 rpm.\n", "b.txt": "The Beta weighs 12 kg.\n"}


def stub_plugins() -> Plugins:
    """The shipped plugins and the stub."""
    return examine([*(candidate for candidate in candidates() if candidate.shipped), STUB])


def benchmark(number: int, **more: Any) -> dict[str, Any]:
    """A benchmark question whose reference is ``right <number>``."""
    return {
        "id": f"q{number}",
        "question": f"What is thing {number}?",
        "references": [f"right {number}"],
        "cluster": f"c{number}",
        **more,
    }


def canary(number: int, corpus_digest: str, kind: str = "knowledge_gap", **more: Any) -> dict[str, Any]:
    """A canary with a lexical proof over the corpus of that digest."""
    proof = {
        "grade": "lexical",
        "corpus_digest": corpus_digest,
        "date": "2026-11-30",
        "prover": "test",
        "steps": [{"step": "lexical", "found": 0}],
    }
    return {
        "id": f"k{number}",
        "kind": kind,
        "question": f"What is gap {number}?",
        "references": [f"gap {number}"],
        "cluster": f"g{number}",
        "proofs": {"base": proof},
        **more,
    }


@dataclass
class Project:
    """A folder with everything an audit needs. Change ``systems``, ``questions`` or ``extra`` and ``run`` again."""

    folder: Path
    questions: list[dict[str, Any]] = field(default_factory=lambda: [benchmark(n) for n in range(1, 4)])
    systems: list[dict[str, Any]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=lambda: dict(DOCUMENTS))
    seats: Sequence[dict[str, Any]] = tuple({"name": seat, "judge": f"stub-{seat}"} for seat in "abc")

    @property
    def corpus_digest(self) -> str:
        """Digest of the documents' manifest."""
        from auditor.canonical import digest
        from auditor.corpus import CorpusForm, Document

        made = tuple(
            Document(name, digest(text.encode()), len(text.encode()), lambda: b"")
            for name, text in sorted(self.documents.items())
        )
        return Corpus(CorpusForm.GIVEN, made).digest

    def system(self, name: str, answers: Mapping[str, str] | None = None, **config: Any) -> None:
        """Add a scripted system."""
        self.systems.append({"name": name, "kind": "stub", "config": {"answers": dict(answers or {}), **config}})

    def write(self) -> Path:
        """The spec's path, everything written."""
        documents = self.folder / "documents"
        documents.mkdir(parents=True, exist_ok=True)
        for name, text in self.documents.items():
            (documents / name).write_bytes(text.encode())
        lines = [json.dumps(question) for question in self.questions]
        (self.folder / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        spec = {
            "name": "small",
            "seed": 7,
            "repeats": 1,
            "corpus": {"source": "folder", "path": "documents"},
            "questions": [{"source": "jsonl", "path": "questions.jsonl"}],
            "contract": "documents_only",
            "prompt": "standard",
            "systems": self.systems,
            "stance": {"classifier": "stub-stance"},
            "panel": {"judges": list(self.seats), "repairs": 2},
            "limits": {"slots": 4, "deadline_s": 20, "attempts": 2},
            **self.extra,
        }
        path = self.folder / "audit.yaml"
        path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
        return path

    def run(self, observe: Callable[[Event], None] = lambda event: None, **options: Any) -> RunResult:
        """Write and run."""
        chosen = RunOptions(self.write(), runs=self.folder / "runs", **options)
        return run_campaign(chosen, observe, plugins=stub_plugins())


def states(result: RunResult) -> dict[tuple[int, int], list[str]]:
    """States by (system, question), over repeats."""
    found: dict[tuple[int, int], list[str]] = {}
    for trial in result.findings.trials:
        found.setdefault((int(str(trial["system"])), int(str(trial["question"]))), []).append(str(trial["state"]))
    return found


def measured(result: RunResult) -> bytes:
    """The measurement's bytes."""
    return measurement_bytes(result.findings)
