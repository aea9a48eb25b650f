"""Proves every canary of the demo again: ``python -m auditor_demo_corpus.build YYYY-MM-DD`` with the day's date.

Run it after any change of a document, a canary or the prover: a proof is bound to the bytes of all documents.
Invariant: files are written only when every canary is proven, and nothing in them is changed but the proofs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from auditor.corpus import Corpus
from auditor.discovery import discover
from auditor.errors import AuditorError, QuestionError
from auditor.plugins import Plugins
from auditor.proving import prove
from auditor.question import BASE_VARIANT, Proof, Question
from auditor_demo_corpus.bundle import folder

__all__ = ["CANARY_FILES", "build", "main", "prove_all", "read_corpus", "read_questions"]

CANARY_FILES = ("canaries.jsonl", "thresholds.jsonl")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_corpus(plugins: Plugins, base: Path) -> Corpus:
    """The documents that every system of the demo is given."""
    source = plugins.corpus_source("folder")
    return source().load(source.config_model.model_validate({"path": "documents"}), base)


def read_questions(plugins: Plugins, base: Path, name: str) -> Sequence[Question]:
    """The questions of one file."""
    source = plugins.question_source("jsonl")
    return source().load(source.config_model.model_validate({"path": name}), base)


def prove_all(plugins: Plugins, base: Path, date: str, names: Sequence[str] = CANARY_FILES) -> dict[str, Proof]:
    """Proofs of all canaries in the files ``names``, by question id. ``QuestionError`` names those not proven."""
    builder = plugins.canary_builder("knowledge-gap")
    questions = [question for name in names for question in read_questions(plugins, base, name)]
    tried = prove(questions, read_corpus(plugins, base), builder(), builder.config_model(), date=date)
    unproven = [attempt.question.id for attempt in tried if attempt.proof is None]
    if unproven:
        raise QuestionError(f"not proven absent: {', '.join(unproven)}; nothing was written")
    return {attempt.question.id: attempt.proof for attempt in tried if attempt.proof is not None}


def build(plugins: Plugins, base: Path, date: str) -> int:
    """Write the proofs into the files of ``base``; the number of canaries."""
    proofs = prove_all(plugins, base, date)
    source = plugins.question_source("jsonl")
    for name in CANARY_FILES:
        source().keep_proofs(source.config_model.model_validate({"path": name}), base, BASE_VARIANT, proofs)
    return len(proofs)


def main(arguments: Sequence[str]) -> int:
    """The command: one argument, the date that the proofs are to carry."""
    if len(arguments) != 1 or not _DATE.fullmatch(arguments[0]):
        sys.stderr.write("usage: python -m auditor_demo_corpus.build YYYY-MM-DD\n")
        return 2
    try:
        count = build(discover(), folder(), arguments[0])
    except AuditorError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(f"{count} canaries proven\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
