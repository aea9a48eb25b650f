"""A question with a marker in every field that only the auditor may know, and a search for markers in what others get.

The promise that it tests: a system is told nothing of a question but its wording (DESIGN §3, Systems).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from auditor.question import BASE_VARIANT, Form, Proof, ProofGrade, Question, QuestionKind

__all__ = ["Planted", "planted", "told"]


@dataclass(frozen=True, slots=True)
class Planted:
    """A question, and the markers that must not leave the auditor, by the field they stand in."""

    question: Question
    markers: Mapping[str, str]


def planted(text: str = "What does the planted question ask?", *, canary: bool = True) -> Planted:
    """A question whose every field but its wording holds a marker of its own."""
    markers = {
        name: f"zq{name.replace('_', '')}qz"
        for name in ("id", "reference", "alias", "cluster", "gold", "tag", "code", "prover", "step", "analysis", "form")
    }
    proof = Proof(ProofGrade.CLAIMED, None, "2026-01-01", markers["prover"], ({"step": markers["step"]},))
    question = Question(
        id=markers["id"],
        kind=QuestionKind.KNOWLEDGE_GAP if canary else QuestionKind.BENCHMARK,
        forms=(Form(markers["form"], text),),
        references=(markers["reference"],),
        cluster=markers["cluster"],
        aliases=(markers["alias"],),
        gold_documents=(markers["gold"],),
        tags=(markers["tag"], f"expected:{markers['code']}"),
        proofs={BASE_VARIANT: proof} if canary else {},
        analyses=("penalty", markers["analysis"]),
    )
    kinds = {f"kind {kind.value}": kind.value for kind in QuestionKind if kind is question.kind and canary}
    return Planted(question, {**markers, **kinds})


def told(value: object, markers: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the markers that can be reached from ``value``: through fields, items, attributes, closures, methods."""
    found = set()
    for text in _texts(value, set()):
        found |= {name for name, marker in markers.items() if marker in text}
    return tuple(sorted(found))


def _texts(value: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        return
    if isinstance(value, (bytes, bytearray)):
        yield bytes(value).decode("utf-8", "replace")
        return
    if id(value) in seen or isinstance(value, type):
        return
    seen.add(id(value))
    yield _shown(value)
    for part in _parts(value):
        yield from _texts(part, seen)


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - a value under test may break its own repr
        return ""


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from value
    elif is_dataclass(value):
        yield from (getattr(value, field.name) for field in fields(value))
    yield from getattr(value, "__dict__", {}).values() if not hasattr(value, "__path__") else ()
    yield from (cell.cell_contents for cell in getattr(value, "__closure__", None) or () if _filled(cell))
    yield from getattr(value, "__defaults__", None) or ()
    for attribute in ("__self__", "__func__", "__wrapped__", "func", "args", "keywords"):
        part = getattr(value, attribute, None)
        if part is not None:
            yield part


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
