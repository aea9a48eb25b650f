"""The demo's proofs hold for the documents as they are, and its threshold is what its rule gives."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from auditor.canonical import Json, canonical
from auditor.corpus import Corpus
from auditor.discovery import discover
from auditor.errors import QuestionError
from auditor.model import Limits
from auditor.plugins import Plugins
from auditor.question import CANARY_KINDS, Proof, ProofGrade, Question, QuestionKind
from auditor.system import Request
from auditor.testing import ScriptedWork
from auditor_demo_corpus import build
from auditor_demo_corpus.bundle import demo, folder
from auditor_demo_corpus.threshold import best_threshold
from auditor_local.system import LocalConfig, LocalRag

DATE = "2026-11-30"


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    """Whatever is installed."""
    return discover()


@pytest.fixture(scope="module")
def corpus(plugins: Plugins) -> Corpus:
    """The documents."""
    return build.read_corpus(plugins, folder())


@pytest.fixture(scope="module")
def canaries(plugins: Plugins) -> Sequence[Question]:
    """All canaries with their stored proofs."""
    every = [q for name in build.CANARY_FILES for q in build.read_questions(plugins, folder(), name)]
    return [question for question in every if question.kind in CANARY_KINDS]


def _steps(proof: Proof) -> list[Mapping[str, Json]]:
    """Steps without scores, whose last digit may differ between machines."""
    return [{key: value for key, value in step.items() if key != "best_score"} for step in proof.steps]


def test_every_stored_proof_is_made_again(plugins: Plugins, canaries: Sequence[Question]) -> None:
    """Proving all canaries against the documents gives the stored proofs: grade, digest, prover and each count."""
    made = build.prove_all(plugins, folder(), DATE)
    assert set(made) == {question.id for question in canaries}
    for question in canaries:
        stored, again = question.proofs["base"], made[question.id]
        assert (stored.grade, stored.corpus_digest, stored.prover) == (again.grade, again.corpus_digest, again.prover)
        assert canonical(_steps(stored)) == canonical(_steps(again))


def test_grades_are_what_the_kind_allows(canaries: Sequence[Question], corpus: Corpus) -> None:
    """Names are proven by search of words, answers by embedded search as well; all proofs bind these documents."""
    for question in canaries:
        proof = question.proofs["base"]
        fictitious = question.kind is QuestionKind.FICTITIOUS
        assert proof.grade is (ProofGrade.LEXICAL if fictitious else ProofGrade.EMBEDDED)
        assert proof.corpus_digest == corpus.digest


def test_proofs_hold_no_text(canaries: Sequence[Question]) -> None:
    """A step holds counts and the names of searches, so that a proof can be published where texts cannot."""
    for question in canaries:
        for step in question.proofs["base"].steps:
            texts = {str(value) for value in step.values() if isinstance(value, str)}
            assert all(len(text) <= 12 for text in texts)


# Two of the text that is planted, one of another text, and one of each other sort: a build over few is a build too.
FEW = frozenset({"g001", "h001", "h002", "h003", "f001", "t001", "t011", "t014"})


def _copy(target: Path, documents: Mapping[str, bytes]) -> Path:
    for name in build.CANARY_FILES:
        kept = [line for line in _objects(folder() / name) if line["id"] in FEW]
        (target / name).write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in kept), "utf-8")
    for name, data in documents.items():
        path = target / "documents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return target


def test_a_planted_answer_stops_the_build(plugins: Plugins, corpus: Corpus, tmp_path: Path) -> None:
    """With one withheld text among the documents nothing is written, and the canary that it gives away is named."""
    documents = {document.name: document.read() for document in corpus.documents}
    planted = "withheld/patter-h-brief.md"
    base = _copy(tmp_path, documents | {"leak.md": (folder() / planted).read_bytes()})
    before = (base / "canaries.jsonl").read_bytes()
    with pytest.raises(QuestionError, match="h001") as caught:
        build.build(plugins, base, DATE)
    assert "h002" in str(caught.value)
    assert "h003" not in str(caught.value)
    assert (base / "canaries.jsonl").read_bytes() == before


def test_building_changes_proofs_alone(plugins: Plugins, corpus: Corpus, tmp_path: Path) -> None:
    """The command writes the date it is given into each proof and leaves all other fields as they are."""
    base = _copy(tmp_path, {document.name: document.read() for document in corpus.documents})
    build.build(plugins, base, "2031-01-02")
    for name in build.CANARY_FILES:
        few = [line for line in _objects(folder() / name) if line["id"] in FEW]
        for before, after in zip(few, _objects(base / name), strict=True):
            if "proofs" in before:
                assert after["proofs"]["base"]["date"] == "2031-01-02"
            assert {**before, "proofs": None} == {**after, "proofs": None}


def _objects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("arguments", [[], ["today"], ["2026-11-30", "more"]])
def test_command_asks_for_a_date(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Without exactly one date it says how it is used and writes nothing."""
    assert build.main(arguments) == 2
    assert "YYYY-MM-DD" in capsys.readouterr().err


SPEC: dict[str, Any] = yaml.safe_load(demo().read_text(encoding="utf-8"))
DECLINING = [system for system in SPEC["systems"] if "threshold" in system.get("config", {})]


def _evidence(config: Mapping[str, Any], corpus: Corpus, questions: Sequence[Question], work: Path) -> list[Decimal]:
    """Evidence score of each question for a pipeline of this configuration."""
    system = LocalRag(LocalConfig.model_validate(config))
    store = system.open(corpus, ScriptedWork(work))
    limits = Limits()
    replies = [system.ask(store, Request(question.text, "", limits, "none")) for question in questions]
    return [Decimal(json.loads(reply.raw)["evidence"]) for reply in replies]


def test_a_system_declines() -> None:
    """At least one system of the demo has a threshold, so that the rule has something to set."""
    assert DECLINING


@pytest.mark.parametrize("declining", DECLINING, ids=lambda system: str(system["name"]))
def test_threshold_of_the_spec_follows_from_its_rule(
    declining: Mapping[str, Any], plugins: Plugins, corpus: Corpus, tmp_path: Path
) -> None:
    """Each declining system's threshold is the rule's result on the questions set apart for it."""
    config: Mapping[str, Any] = declining["config"]
    questions = build.read_questions(plugins, folder(), "thresholds.jsonl")
    evidence = _evidence(config, corpus, questions, tmp_path)
    answerable = [e for q, e in zip(questions, evidence, strict=True) if q.kind is QuestionKind.BENCHMARK]
    unanswerable = [e for q, e in zip(questions, evidence, strict=True) if q.kind is not QuestionKind.BENCHMARK]
    assert Decimal(config["threshold"]) == best_threshold(answerable, unanswerable)
