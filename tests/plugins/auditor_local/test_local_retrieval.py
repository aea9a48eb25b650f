"""Every way of retrieving ranks as published, ties in the order of the corpus, and equal vectors on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.errors import CallError, Fault
from auditor.model import Limits
from auditor.system import EmbedderPort, Ports, Request, System
from auditor.testing import ScriptedWork, SystemContract
from auditor.testing.system import corpus_of
from auditor_local.embedding import cosines, embed_words, quantised
from auditor_local.index import Index
from auditor_local.policy import Policy
from auditor_local.retrieval import Retrieval, best, blended, fused, ordered
from auditor_local.system import LocalConfig, LocalRag
from auditor_local.vector_file import cached

_DOCUMENTS = {f"lamp-{n}.txt": f"Lamp {n} weighs {n} kg and stands on the quay.\n" for n in range(1, 9)}
_SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789"
_QUESTION = "What does lamp 4 weigh?"


class Letters:
    """An embedder port that counts letters and digits, and how often it was called."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """36 counts a text."""
        self.calls.append(len(texts))
        return [[float(text.lower().count(sign)) for sign in _SIGNS] for text in texts]


class _Contract(SystemContract):
    way: Retrieval

    def make(self, folder: Path) -> System:
        """The pipeline with this retrieval."""
        return LocalRag(LocalConfig(policy=Policy.ANSWER_ALWAYS, retrieval=self.way))


class TestDense(_Contract):
    """The contract of systems, for vectors."""

    way = Retrieval.DENSE


class TestHybrid(_Contract):
    """The contract of systems, for both lists."""

    way = Retrieval.HYBRID


class TestRerank(_Contract):
    """The contract of systems, for blended scores."""

    way = Retrieval.RERANK


def test_fusion_is_the_published_formula() -> None:
    """1/(60 + rank), summed over the lists; equal sums stand in the order of the corpus."""
    scores = fused([[3, 1, 2], [1, 3]])
    assert scores[3] == 10**9 // 61 + 10**9 // 62 == scores[1]
    assert ordered(scores) == [1, 3, 2]


def test_blend_adds_what_stands_out_in_each_measure() -> None:
    """z-scores over the candidates alone; a measure that tells nothing apart adds nothing."""
    assert blended([0, 1, 2], [[1, 2, 3], [5, 5, 5]]) == {0: -1224745, 1: 0, 2: 1224745}
    assert blended([2, 0], [[10, 99, 30]]) == {2: 1_000_000, 0: -1_000_000}


def test_rerank_orders_the_fused_candidates_and_no_others() -> None:
    """Each way serves the parts it has; what an index lacks is refused, never ranked by the rest."""
    passages = [f"word{i % 7} other{i}" for i in range(80)]
    index = Index.over(passages, Retrieval.RERANK, lambda: embed_words(passages))
    candidates = {hit.passage for hit in index.retrieve(Retrieval.HYBRID, "word3 other10", 30, embed_words)}
    reranked = index.retrieve(Retrieval.RERANK, "word3 other10", 5, embed_words)
    assert {hit.passage for hit in reranked} <= candidates
    assert [hit.score for hit in reranked] == sorted((hit.score for hit in reranked), reverse=True)
    words = Index.over(passages, Retrieval.BM25, lambda: embed_words(passages))
    assert words.vectors is None and words.serves(Retrieval.BM25)
    with pytest.raises(ValueError, match="does not serve"):
        words.retrieve(Retrieval.HYBRID, "word3", 5, embed_words)


@pytest.mark.parametrize("way", list(Retrieval))
def test_there_are_k_hits_where_there_are_k_passages(way: Retrieval) -> None:
    """Also past the depth of the lists; equal passages stand in the order of the corpus."""
    passages = ["the same lamp"] * 70
    index = Index.over(passages, way, lambda: embed_words(passages))
    for k in (1, 40, 70, 90):
        assert [hit.passage for hit in index.retrieve(way, "lamp", k, embed_words)] == list(range(min(k, 70)))


def test_vectors_of_a_text_depend_on_that_text_alone() -> None:
    """Alone or beside a longer one, which pads it, a text has one vector; empty and broken text has one too."""
    texts = ["a lamp", "", "a much longer text about lamps and quays and boats", "\ud800", "a lamp"]
    together = embed_words(texts)
    for place, text in enumerate(texts):
        assert (embed_words([text])[0] == together[place]).all()
    assert cosines(together, embed_words(["a lamp"]))[0] == cosines(together, embed_words(["a lamp"]))[4]


def test_meaning_is_nearer_than_words() -> None:
    """The packaged vectors know that a physician is a doctor."""
    vectors = embed_words(["The physician healed the patient.", "The stock exchange fell."])
    near, far = cosines(vectors, embed_words(["A doctor cured somebody"]))
    assert near > far


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=5))
@settings(max_examples=40)
def test_quantised_vectors_keep_their_direction(rows: list[list[float]]) -> None:
    """Every vector is nearest to itself: its cosine is 1 within a digit; a row of zeros is near nothing."""
    vectors = quantised(rows)
    for place, row in enumerate(rows):
        cosine = cosines(vectors[place : place + 1], vectors[place : place + 1])[0]
        assert abs(cosine - 10_000) <= 3 or (cosine == 0 and sum(number * number for number in row) < 1e-300)


@pytest.mark.parametrize("rows", [[[1.0, 2.0], [1.0]], [[]], [[float("nan"), 1.0]], [[float("inf"), 1.0]]])
def test_what_is_no_vector_is_refused(rows: list[list[float]]) -> None:
    """Vectors of several lengths, without numbers or with no number in them are the embedder's fault."""
    with pytest.raises(CallError) as caught:
        quantised(rows)
    assert caught.value.report.fault is Fault.CONTRACT


def test_a_query_of_another_length_is_refused() -> None:
    """An embedder that changed its model behind our back gives no answer."""
    with pytest.raises(CallError, match="another length"):
        cosines(quantised([[1.0, 2.0]]), quantised([[1.0, 2.0, 3.0]]))


def test_vectors_are_read_again_and_a_broken_file_is_not(tmp_path: Path) -> None:
    """One file by digest: read when whole, made again when a bit is wrong or the end is missing."""
    made: list[int] = []

    def make() -> object:
        made.append(1)
        return quantised([[1.0, 2.0]])

    first = cached(tmp_path, "sha256:ab", make)  # type: ignore[arg-type] # a closure that counts its calls
    assert (cached(tmp_path, "sha256:ab", make) == first).all()  # type: ignore[arg-type] # as above
    assert len(made) == 1
    (file,) = tmp_path.glob("vectors-*.npy")
    whole = file.read_bytes()
    for broken in (whole[:-1], bytes([whole[0] ^ 1]) + whole[1:], whole[:-1] + bytes([whole[-1] ^ 1]), b""):
        file.write_bytes(broken)
        assert (cached(tmp_path, "sha256:ab", make) == first).all()  # type: ignore[arg-type] # as above
        assert file.read_bytes() == whole
    assert len(made) == 5
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def _ask(system: LocalRag, store: object, port: EmbedderPort) -> Decimal:
    request = Request(_QUESTION, "", Limits(), "0" * 32, ports=Ports(embedders={"embedder": port}))
    reply = system.ask(store, request)  # type: ignore[arg-type] # what ``open`` returned
    return (reply.chunks or ())[0].score or Decimal(0)


def test_an_embedder_of_the_spec_is_used_and_its_vectors_are_kept(tmp_path: Path) -> None:
    """Its port embeds passages in batches and each question once; a second opening of the same store reads the file."""
    system, port = LocalRag(LocalConfig(policy=Policy.ANSWER_ALWAYS, retrieval=Retrieval.DENSE)), Letters()
    documents = {f"{n}.txt": f"Lamp {n} weighs {n} kg.\n" for n in range(70)}
    work = ScriptedWork(tmp_path, ports=Ports(embedders={"embedder": port}))
    store = system.open(corpus_of(documents), work)
    assert port.calls == [64, 6, 1, 1, 1]
    assert store.observed["vectors"]
    again = system.open(corpus_of(documents), work)
    assert port.calls == [64, 6, 1, 1, 1, 1, 1, 1]
    assert again.observed == store.observed
    assert _ask(system, store, port) > 0
    assert port.calls[-1] == 1


def test_a_store_for_both_lists_serves_each_alone(tmp_path: Path) -> None:
    """A condition's tag may ask for less than the store was opened for, never for more."""
    system = LocalRag(LocalConfig(policy=Policy.ANSWER_ALWAYS, retrieval=Retrieval.HYBRID))
    store = system.open(corpus_of(_DOCUMENTS), ScriptedWork(tmp_path))
    for way in Retrieval:
        reply = system.ask(store, Request(_QUESTION, "", Limits(), "0" * 32, settings={"retrieval": way.value}))
        assert reply.sent["retrieval"] == way.value
        assert "4 kg" in reply.text
    words = LocalRag(LocalConfig(policy=Policy.ANSWER_ALWAYS))
    opened = words.open(corpus_of(_DOCUMENTS), ScriptedWork(tmp_path))
    assert opened.observed["vectors"] is None
    with pytest.raises(CallError, match="opened for retrieval bm25"):
        words.ask(opened, Request(_QUESTION, "", Limits(), "0" * 32, settings={"retrieval": "dense"}))


def test_best_prefers_the_first_of_equals() -> None:
    """Ties stand in the order of the corpus."""
    assert best([1, 5, 5, 0], 3) == [1, 2, 0]
