"""The local pipeline answers from what it retrieved, declines by evidence alone, and is the same everywhere."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from auditor.corpus import Corpus, CorpusForm
from auditor.errors import CallError, Fault
from auditor.model import Limits, TransportOutcome
from auditor.system import EvidenceSupport, Reply, Request, Store, System
from auditor.testing import PluginPackageContract, ScriptedWork, SystemContract
from auditor.testing.system import corpus_of
from auditor_local.index import Index
from auditor_local.policy import Policy, answers
from auditor_local.retrieval import Bm25, Hit, Retrieval, best
from auditor_local.system import LocalConfig, LocalRag
from auditor_local.term import terms

_HANDBOOK = """# Heron 2 handbook

The Heron 2 was designed by Ines Okafor in Tromsø. It was first sold in March 2019.
Its battery lasts 14 hours. Charging takes 90 minutes.

| Model | Weight | Price |
|-------|-------:|------:|
| Heron 2 | 3.2 kg | 1,450 EUR |
| Heron 2S | 4.1 kg | 1,980 EUR |

## Warranty

The warranty covers:

- the frame for five years
- the battery for two years

Returns go to the following address:

Quay Street 12
"""
_POLICY = "Holiday policy\n\nFull-time staff have 28 days of leave a year. Leave is asked for in writing.\n"
_DOCUMENTS = {"products/heron.md": _HANDBOOK, "people/leave.txt": _POLICY}


def request(text: str, **settings: str) -> Request:
    """A request as the core makes it."""
    return Request(text, "Answer from the documents.", Limits(), "0" * 32, settings=settings)


def opened(config: LocalConfig, folder: Path, documents: Mapping[str, str] = _DOCUMENTS) -> tuple[LocalRag, Store]:
    """A pipeline over these documents."""
    system = LocalRag(config)
    return system, system.open(corpus_of(documents), ScriptedWork(folder))


def ask(folder: Path, text: str, config: LocalConfig | None = None, **settings: str) -> Reply:
    """One answer."""
    system, store = opened(config or LocalConfig(policy=Policy.ANSWER_ALWAYS), folder)
    return system.ask(store, request(text, **settings))


def evidence(reply: Reply) -> Decimal:
    """The reader's evidence score."""
    return Decimal(json.loads(reply.raw)["evidence"])


class TestPackage(PluginPackageContract):
    """The contract of plugin packages."""

    package = "auditor_local"


class TestAnswersAlways(SystemContract):
    """The contract of systems, for the policy that always answers."""

    def make(self, folder: Path) -> System:
        """The system."""
        return LocalRag(LocalConfig(policy=Policy.ANSWER_ALWAYS))


class TestAbstainsBelow(SystemContract):
    """The contract of systems, for the policy that abstains."""

    def make(self, folder: Path) -> System:
        """The system."""
        return LocalRag(LocalConfig(policy=Policy.ABSTAIN_BELOW, threshold=Decimal("0.5")))


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How long does the battery of the Heron 2 last?", "14 hours"),
        ("Who designed the Heron 2?", "Ines Okafor"),
        ("What does the Heron 2S weigh?", "Weight: 4.1 kg"),
        ("What is the price of the Heron 2?", "Price: 1,450 EUR"),
        ("For how many years does the warranty cover the frame?", "the frame for five years"),
        ("How many days of leave do full-time staff have?", "28 days"),
        ("To which address do returns go?", "Quay Street 12"),
    ],
)
def test_it_answers_with_what_is_needed_to_read_the_answer(tmp_path: Path, question: str, wanted: str) -> None:
    """Sentences, list items with their lead, and table rows with their header."""
    reply = ask(tmp_path, question)
    assert wanted in reply.text
    assert evidence(reply) >= Decimal("0.5")


def test_a_row_is_read_with_its_header_and_only_what_was_asked(tmp_path: Path) -> None:
    """A cell alone would say nothing; the other columns would say too much."""
    reply = ask(tmp_path, "What is the price of the Heron 2S?")
    assert "Model: Heron 2S; Price: 1,980 EUR" in reply.text
    assert "kg" not in reply.text


def test_a_pronoun_takes_its_sentence_with_it(tmp_path: Path) -> None:
    """A sentence that points back is not an answer without what it points at."""
    reply = ask(tmp_path, "When was the Heron 2 first sold?")
    assert "The Heron 2 was designed" in reply.text
    assert "March 2019" in reply.text


def test_what_is_not_in_the_documents_has_little_evidence(tmp_path: Path) -> None:
    """An unknown thing, or an unknown property of a known one, scores below what is there."""
    known = evidence(ask(tmp_path, "How long does the battery of the Heron 2 last?"))
    for question in ("How deep may the Petrel submarine dive?", "Which microphone does the Heron 2 record with?"):
        assert evidence(ask(tmp_path, question)) < known - Decimal("0.2")


def test_it_declines_below_its_threshold_and_only_then(tmp_path: Path) -> None:
    """The policy is the threshold; the declining sentence is the configured one; evidence is reported all the same."""
    config = LocalConfig(policy=Policy.ABSTAIN_BELOW, threshold=Decimal("0.5"), abstention="Not in the documents.")
    declined = ask(tmp_path, "How deep may the Petrel submarine dive?", config)
    assert declined.text == "Not in the documents."
    assert declined.outcome is TransportOutcome.TEXT
    assert declined.citations == ()
    assert declined.chunks
    answered = ask(tmp_path, "How long does the battery of the Heron 2 last?", config)
    assert "14 hours" in answered.text
    assert [citation.document for citation in answered.citations or ()] == ["products/heron.md"]


@pytest.mark.parametrize(("score", "wanted"), [("0.449", False), ("0.45", True), ("0.451", True)])
def test_evidence_equal_to_the_threshold_is_enough(score: str, wanted: bool) -> None:
    """The comparison is of decimals, so that 0.45 is 0.45."""
    assert answers(Policy.ABSTAIN_BELOW, Decimal(score), Decimal("0.45")) is wanted
    assert answers(Policy.ANSWER_ALWAYS, Decimal(0), None)


def test_always_answering_never_declines(tmp_path: Path) -> None:
    """Even without a word in common it quotes something."""
    reply = ask(tmp_path, "zzz qqq?")
    assert reply.outcome is TransportOutcome.TEXT
    assert reply.text != LocalConfig(policy=Policy.ANSWER_ALWAYS).abstention
    assert evidence(reply) < Decimal("0.5")


def test_traits_say_what_it_is() -> None:
    """Grounded, reports passages, and has no memory that could leak."""
    traits = LocalRag(LocalConfig(policy=Policy.ANSWER_ALWAYS)).traits
    assert (traits.grounded, traits.evidence, traits.memory, traits.family) == (
        True,
        EvidenceSupport.CHUNKS,
        False,
        None,
    )


def test_k_comes_from_the_condition_where_it_says_so(tmp_path: Path) -> None:
    """A study varies k by condition; what it does not understand is refused, not ignored."""
    documents = {f"{n}.txt": f"Lamp {n} weighs {n} kg.\n" for n in range(1, 9)}
    system, store = opened(LocalConfig(policy=Policy.ANSWER_ALWAYS, k=3), tmp_path, documents)
    assert len(system.ask(store, request("What does lamp 4 weigh?")).chunks or ()) == 3
    assert len(system.ask(store, request("What does lamp 4 weigh?", k="7", scenario="on")).chunks or ()) == 7
    for tags in ({"k": "0"}, {"k": "many"}, {"retrieval": "psychic"}):
        with pytest.raises(CallError) as caught:
            system.ask(store, request("What does lamp 4 weigh?", **tags))
        assert caught.value.report.fault is Fault.PERMANENT


@pytest.mark.parametrize(
    "config",
    [
        {"policy": "abstain_below"},
        {"policy": "answer_always", "threshold": "0.5"},
        {"policy": "abstain_below", "threshold": "1.5"},
        {"policy": "abstain_below", "threshold": "NaN"},
        {"policy": "sometimes"},
        {"policy": "answer_always", "k": 0},
        {"policy": "answer_always", "overlap_characters": 1500},
        {"policy": "answer_always", "treshold": "0.5"},
        {},
    ],
)
def test_a_config_that_means_nothing_is_refused(config: dict[str, Any]) -> None:
    """No threshold without its policy, no policy without its threshold, no unknown key."""
    with pytest.raises(ValidationError):
        LocalConfig.model_validate(config)


def test_a_document_that_changed_is_not_indexed(tmp_path: Path) -> None:
    """What is indexed is what the manifest says, byte for byte."""
    corpus = corpus_of(_DOCUMENTS)
    first, second = corpus.documents
    changed = Corpus(CorpusForm.GIVEN, (first, replace(second, read=lambda: b"other")))
    with pytest.raises(CallError, match="changed"):
        LocalRag(LocalConfig(policy=Policy.ANSWER_ALWAYS)).open(changed, ScriptedWork(tmp_path))


def test_a_store_counts_what_it_holds_and_finds_it_again(tmp_path: Path) -> None:
    """The store's observation is the same each time, and differs when a document does."""
    config = LocalConfig(policy=Policy.ANSWER_ALWAYS)
    one, two = (opened(config, tmp_path)[1] for _ in range(2))
    assert one.observed == two.observed
    assert (one.observed["documents"], one.observed["probes_found"]) == (2, 2)
    other = opened(config, tmp_path, {**_DOCUMENTS, "people/leave.txt": _POLICY.replace("28", "29")})[1]
    assert other.observed["index"] != one.observed["index"]


def test_an_index_that_loses_text_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe sentence that is not found again stops the audit before the first question."""

    def nothing(self: Index, way: Retrieval, query: str, k: int, embed: object) -> list[Hit]:
        return []

    monkeypatch.setattr(Index, "retrieve", nothing)
    with pytest.raises(CallError, match="not found again") as caught:
        opened(LocalConfig(policy=Policy.ANSWER_ALWAYS), tmp_path)
    assert caught.value.report.fault is Fault.CONTRACT


def test_a_corpus_without_text_is_refused(tmp_path: Path) -> None:
    """There is nothing that could be answered from."""
    for corpus in (Corpus(CorpusForm.NONE, reason="recorded"), corpus_of({"a.txt": " \n"})):
        with pytest.raises(CallError, match="no text"):
            LocalRag(LocalConfig(policy=Policy.ANSWER_ALWAYS)).open(corpus, ScriptedWork(tmp_path))


def _plain_bm25(passages: list[str], query: list[str]) -> list[float]:
    """BM25 as Kamphuis et al. (2020) write Lucene's accurate variant, k1 = 1.5, b = .75."""
    tokens = [terms(passage) for passage in passages]
    mean = sum(map(len, tokens)) / len(tokens)
    scores = []
    for passage in tokens:
        total = 0.0
        for term in query:
            n = sum(term in other for other in tokens)
            idf = math.log(1 + (len(tokens) - n + 0.5) / (n + 0.5))
            tf = passage.count(term)
            total += idf * tf / (tf + 1.5 * (1 - 0.75 + 0.75 * len(passage) / mean)) if tf else 0.0
        scores.append(total)
    return scores


def test_bm25_is_the_published_formula() -> None:
    """Scores equal an independent computation, and ties stand in the order of the corpus."""
    passages = ["red lamp lamp", "green lamp on the quay", "quay", "red red boat", "green lamp on the quay"]
    scores = Bm25(passages).scores("red lamp quay")
    plain = _plain_bm25(passages, ["red", "lamp", "quay"])
    assert [score / 10_000 for score in scores] == pytest.approx(plain, abs=6e-5)
    assert [passage for passage in best(scores, 5) if passage in (1, 4)] == [1, 4]


_CHILD = """
import json, sys
from auditor_local.embedding import embed_words
from auditor_local.index import Index
from auditor_local.retrieval import Retrieval
words = [f"w{(i * i) % 97}" for i in range(4000)]
passages = [" ".join(words[i:i + 40]) for i in range(0, 4000, 20)]
index = Index.over(passages, Retrieval.RERANK, lambda: embed_words(passages))
asked = [f"w{i} w{i + 3} w{i * 2}" for i in range(20)]
hits = [
    [(h.passage, str(h.score)) for h in index.retrieve(way, query, 9, embed_words)]
    for way in Retrieval for query in asked
]
sys.stdout.write(json.dumps(hits))
"""


def test_retrieval_is_the_same_under_every_hash_seed_and_kernel() -> None:
    """Order of hashing, threads and numpy's kernels change no hit."""
    settings: tuple[dict[str, str], ...] = (
        {"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "1"},
        {"PYTHONHASHSEED": "2", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3"},
    )
    seen = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _CHILD],
            env={**os.environ, **setting},
            capture_output=True,
            check=True,
        ).stdout
        for setting in settings
    }
    assert len(seen) == 1


@given(st.text(max_size=300), st.text(max_size=80))
def test_any_text_and_question_give_evidence_between_0_and_1(text: str, question: str) -> None:
    """Whatever a document and a question hold, the score is a score and the answer is text."""
    documents = {"a.txt": f"Anchor sentence for the index. {text}".encode("utf-8", "replace").decode()}
    system, store = opened(LocalConfig(policy=Policy.ANSWER_ALWAYS), Path(), documents)
    reply = system.ask(store, request(question))
    assert 0 <= evidence(reply) <= 1
    assert reply.text.strip()
