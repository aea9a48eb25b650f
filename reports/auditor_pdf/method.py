"""The method: what was fixed before the run, how it was asked and judged, and what the method cannot show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from reportlab.platypus import Flowable

from auditor.findings import Note, NoteKind
from auditor.wording import METHOD_LIMITS
from auditor.writer import ReportData
from auditor_pdf.section import note_flowable
from auditor_pdf.table import CellText, facts, grid
from auditor_pdf.typesetter import Typesetter

__all__ = ["method_flowables"]

_MAX_TEXT_CHARACTERS = 3000
_EMBEDDED = "embedded:"
_EMBEDDED_PANEL = (
    "The judges are embedded rules and measures, not language models. Such a panel is weaker than a panel of models: "
    "read its verdicts with the agreement figures of this report."
)


def method_flowables(setter: Typesetter, data: ReportData) -> Iterator[Flowable]:
    """Design, seats, prompts, settings and limits of the method."""
    protocol = data.protocol
    yield setter.heading("Method", 0)
    yield setter.paragraph(_HOW, "body")
    yield setter.heading("Design, fixed before the run", 1)
    yield from facts(setter, _design(protocol))
    yield from _seats(setter, protocol)
    yield from _prompts(setter, data)
    yield setter.heading("Limits of the method", 1)
    for sentence in METHOD_LIMITS:
        yield setter.paragraph(f"– {sentence}", "body")


_HOW = (
    "Every system was given the same documents and the same questions, each question in a session of its own, in an "
    "order drawn by a seed and shared by all systems. A classifier says whether a text answers, abstains or denies; "
    "a blind panel grades each answer against the reference, and its median is the verdict. What brought no text, or "
    "could not be judged, is counted and never scored. Every call is an entry of a chained ledger, from which all "
    "numbers of this report are computed again by “auditor verify”."
)


def _design(protocol: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [("Questions", _questions(protocol)), ("Documents", _documents(protocol))]
    penalty = protocol.get("penalty") or {}
    rows += [
        ("Repeats", str(protocol.get("repeats", "not stated"))),
        ("Seed", str(protocol.get("seed", "not stated"))),
        ("Penalty k", f"{penalty.get('k', 'not stated')}; sweep {', '.join(map(str, penalty.get('sweep', ())))}"),
        ("Declared canary share", str(penalty.get("canary_share") or "none declared")),
        ("Conditions", _conditions(protocol)),
        ("Repairs of a vote", str((protocol.get("panel") or {}).get("repairs", "not stated"))),
        ("Limits of a call", _pairs(protocol.get("limits")) or "defaults"),
    ]
    if protocol.get("parent"):
        rows.append(("Inherits from", str(protocol["parent"])))
    return rows


def _pairs(block: object) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(block.items())) if isinstance(block, Mapping) else ""


def _questions(protocol: Mapping[str, Any]) -> str:
    questions = protocol.get("questions") or ()
    kinds = Counter(str(question["kind"]).replace("_", " ") for question in questions)
    grades = Counter(proof["grade"] for question in questions for proof in question["proofs"].values())
    clusters = len({question["cluster"] for question in questions})
    proofs = f"; proofs of absence: {_counts(grades)}" if grades else ""
    return f"{len(questions)} from {clusters} clusters: {_counts(kinds)}{proofs}" if questions else "none"


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counter.items()))


def _documents(protocol: Mapping[str, Any]) -> str:
    found = []
    for variant in protocol.get("variants") or ():
        reason = f" ({variant['reason']})" if variant.get("reason") else ""
        found.append(f"{variant['name']}: {variant['documents']} documents, {variant['form']}{reason}")
    return "; ".join(found) or "not stated"


def _conditions(protocol: Mapping[str, Any]) -> str:
    found = []
    for condition in protocol.get("conditions") or ():
        tags = ", ".join(f"{name} = {value}" for name, value in sorted((condition.get("tags") or {}).items()))
        contract = str(condition["contract"]).replace("_", " ")
        prompt = (condition.get("prompt") or {}).get("name") or "own file"
        found.append(f"{condition['name']}: {contract}; prompt {prompt}{f'; {tags}' if tags else ''}")
    return "; ".join(found) or "not stated"


def _seats(setter: Typesetter, protocol: Mapping[str, Any]) -> Iterator[Flowable]:
    seats = protocol.get("seats") or ()
    if not seats:
        return
    yield setter.heading("Who labels", 1)
    rows = [
        [CellText(str(seat["kind"])), CellText(str(seat["name"]), strong=True), CellText(str(seat["family"]))]
        for seat in seats
    ]
    yield from grid(setter, ["Label", "Seat", "Model family"], rows)
    judges = [str(seat["family"]) for seat in seats if seat["kind"] == "verdict"]
    if judges and all(family.startswith(_EMBEDDED) for family in judges):
        yield note_flowable(setter, Note(NoteKind.WARNING, _EMBEDDED_PANEL))


def _prompts(setter: Typesetter, data: ReportData) -> Iterator[Flowable]:
    """Prompts and settings word for word, as far as they are given: a public report is given none."""
    protocol: Mapping[str, Any] = data.protocol
    found = [
        ("Prompt", str(one["name"]), f"condition/{n}/prompt") for n, one in enumerate(protocol.get("conditions") or ())
    ]
    found += [
        ("Settings", str(one["name"]), f"system/{n}/config") for n, one in enumerate(protocol.get("systems") or ())
    ]
    shown = [(what, name, data.texts[key]) for what, name, key in found if key in data.texts]
    if not shown:
        return
    yield setter.heading("Prompts and settings, word for word", 1)
    for what, name, text in shown:
        yield setter.paragraph(f"{what}: {name}", "label", limit=200)
        yield setter.paragraph(text, "mono", limit=_MAX_TEXT_CHARACTERS)
