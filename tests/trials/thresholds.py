"""Prints what the rule makes of each threshold of the demo: ``python tests/trials/thresholds.py``.

To be run after a change of documents, reader or threshold questions; a test compares the spec with it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from auditor.corpus import Corpus
from auditor.discovery import discover
from auditor.model import Limits
from auditor.question import Question, QuestionKind
from auditor.system import Request
from auditor.testing import ScriptedWork
from auditor_demo_corpus.build import read_corpus, read_questions
from auditor_demo_corpus.bundle import demo, folder
from auditor_demo_corpus.threshold import best_threshold
from auditor_local.system import LocalConfig, LocalRag


def evidence(config: dict[str, Any], corpus: Corpus, questions: list[Question], work: Path) -> list[Decimal]:
    """Evidence of each question for a pipeline of this configuration."""
    system = LocalRag(LocalConfig.model_validate(config))
    store = system.open(corpus, ScriptedWork(work))
    replies = [system.ask(store, Request(question.text, "", Limits(), "none")) for question in questions]
    return [Decimal(json.loads(reply.raw)["evidence"]) for reply in replies]


def main() -> int:
    """One line a system: its name, the threshold in the spec, the rule's; 1 where they differ."""
    plugins, spec = discover(), yaml.safe_load(demo().read_text(encoding="utf-8"))
    corpus = read_corpus(plugins, folder())
    questions = list(read_questions(plugins, folder(), "thresholds.jsonl"))
    differs = False
    with tempfile.TemporaryDirectory() as work:
        for system in spec["systems"]:
            config = system.get("config", {})
            if "threshold" not in config:
                continue
            scores = evidence(config, corpus, questions, Path(work))
            sorts: dict[bool, list[Decimal]] = {True: [], False: []}
            for question, score in zip(questions, scores, strict=True):
                sorts[question.kind is QuestionKind.BENCHMARK].append(score)
            rule = best_threshold(sorts[True], sorts[False])
            differs |= Decimal(config["threshold"]) != rule
            sys.stdout.write(f"{system['name']:24} spec {config['threshold']:>5}   rule {rule:.2f}\n")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
