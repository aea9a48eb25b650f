"""The knowledge base of a local pipeline: a corpus read, cut, indexed, and checked as a vendor's would be.

Invariant: an index that comes out holds every document of the manifest, byte for byte as the manifest says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from auditor.canonical import canonical, digest
from auditor.chunk import chunks
from auditor.corpus import Corpus, Document, decode
from auditor.errors import CallError, Fault, FaultReport
from auditor.system import Work
from auditor_local.embedding import EMBEDDER_PORT, Vectors, embedder_of, words_identity
from auditor_local.reader import Passage
from auditor_local.retrieval import Hit
from auditor_local.unit import title_of, units
from auditor_local.vector_file import cached

__all__ = ["find_again", "fingerprint", "passages_of", "vectors_of"]

_PROBE_DEPTH = 10
_BATCH = 64  # texts of one embedding call
_CACHE_FORM = 1  # of the vectors in a cached file


@dataclass(frozen=True, slots=True)
class _Probe:
    document: str
    sentence: str


def passages_of(corpus: Corpus, *, size: int, overlap: int) -> tuple[Passage, ...]:
    """Passages of all documents in their order. Raises ``CallError`` when a document is not what the manifest says."""
    return tuple(passage for document in corpus.documents for passage in _passages(document, size, overlap))


def _passages(document: Document, size: int, overlap: int) -> Iterator[Passage]:
    data = document.read()
    if digest(data) != document.digest:
        raise CallError(FaultReport(Fault.PERMANENT, "a document changed after the manifest was made"))
    text = decode(data).text
    read = units(text)
    title = title_of(read, document.name)
    for chunk in chunks(text, title, size=size, overlap=overlap):
        within = tuple(unit for unit in read if chunk.start <= unit.start < chunk.end)
        yield Passage(document.name, title, chunk.text, within)


def fingerprint(passages: Sequence[Passage]) -> str:
    """A digest of all that an index is made from."""
    return digest(canonical([[passage.document, passage.text] for passage in passages]))


def vectors_of(passages: Sequence[Passage], work: Work) -> Vectors:
    """Vectors of the passages, in order; a cached file of this store, or of the packaged word vectors."""
    embed = embedder_of(work.ports)
    # An embedder behind a port says nothing of itself here; the store's name is unique to it and to the run.
    source = work.store_name if EMBEDDER_PORT in work.ports.embedders else words_identity()
    texts = [passage.text for passage in passages]

    def make() -> Vectors:
        import numpy as np

        return np.concatenate([embed(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)])

    return cached(work.cache, digest(canonical([_CACHE_FORM, source, texts])), make)


def find_again(
    passages: Sequence[Passage], retrieve: Callable[[str, int], Sequence[Hit]], *, by_sentence: bool = True
) -> int:
    """How many probe sentences — of the first, a middle and the last document — were asked for and found.

    ``retrieve`` takes a query and how many passages to find, as a question would. Where not ``by_sentence``, the whole
    passage is the query: a weak embedder may put a sentence far from its passage, but never a passage from itself.
    Raises ``CallError`` when one is not found (DESIGN §4, rule 7).
    """
    probes = _probes(passages)
    for probe in probes:
        query = probe.sentence if by_sentence else _passage_of(passages, probe).text
        hits = retrieve(query, _PROBE_DEPTH)
        if not any(_holds(passages[hit.passage], probe.sentence) for hit in hits):
            raise CallError(FaultReport(Fault.CONTRACT, "a sentence of the corpus is not found again in the index"))
    return len(probes)


def _probes(passages: Sequence[Passage]) -> list[_Probe]:
    names = list(dict.fromkeys(passage.document for passage in passages if passage.units))
    chosen = dict.fromkeys((names[0], names[len(names) // 2], names[-1])) if names else {}
    return [_Probe(name, _longest(passages, name)) for name in chosen]


def _passage_of(passages: Sequence[Passage], probe: _Probe) -> Passage:
    return next(p for p in passages if p.document == probe.document and _holds(p, probe.sentence))


def _longest(passages: Sequence[Passage], name: str) -> str:
    return max((unit.text for p in passages if p.document == name for unit in p.units), key=len)


def _holds(passage: Passage, sentence: str) -> bool:
    return any(unit.text == sentence for unit in passage.units)
