"""Violated canaries with what was asked and answered: the appendix by which a reader can judge the judging.

Invariant: a transcript is one answer to one canary, with every trial that gave it; at most ``MAX_TRANSCRIPTS`` a system
are printed, the rest are counted and named by their ledger keys. A public report prints no text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reportlab.platypus import Flowable, KeepTogether

from auditor.analysis import Contract, TrialState
from auditor.question import QuestionKind
from auditor.scoring import Stratum
from auditor.writer import ReportData
from auditor_pdf.cover import system_rows
from auditor_pdf.table import facts
from auditor_pdf.typesetter import Typesetter

__all__ = ["MAX_ANSWER_CHARACTERS", "MAX_TRANSCRIPTS", "Transcript", "transcript_flowables", "violated_canaries"]

MAX_TRANSCRIPTS = 20
MAX_ANSWER_CHARACTERS = 1500
_MAX_KEYS = 120
_WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class Transcript:
    """One answer of one system to one canary. ``keys``: the trials that gave it, in the order of the findings."""

    system: int
    question: int
    form: str
    variant: str
    state: str
    keys: tuple[str, ...]
    verdict: str | None
    flags: tuple[str, ...]


def violated_canaries(data: ReportData) -> dict[int, list[Transcript]]:
    """Violations by system: answers, and denials of what is not fictitious. Equal answers to one question are one."""
    bound = {
        row.ordinal for row in system_rows(data) if row.traits.grounded and row.contract is Contract.DOCUMENTS_ONLY
    }
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for trial in data.findings.trials:
        if trial.get("stratum") == Stratum.CANARY and trial.get("system") in bound and _violates(data, trial):
            same = trial.get("answer_class")
            names = ("system", "question", "form", "variant", "state")
            groups.setdefault((*(trial[n] for n in names), trial["key"] if same is None else same), []).append(trial)
    found: dict[int, list[Transcript]] = {}
    for trials in groups.values():
        made = _transcript(trials)
        found.setdefault(made.system, []).append(made)
    return {
        system: sorted(listed, key=lambda t: (t.question, t.form, t.keys)) for system, listed in sorted(found.items())
    }


def _violates(data: ReportData, trial: Mapping[str, Any]) -> bool:
    if trial.get("state") == TrialState.CANARY_ATTEMPT:
        return True
    return trial.get("state") == TrialState.DENIED and _kind(data, trial["question"]) != QuestionKind.FICTITIOUS


def _transcript(trials: Sequence[Mapping[str, Any]]) -> Transcript:
    first = trials[0]
    return Transcript(
        system=first["system"],
        question=first["question"],
        form=first["form"],
        variant=first["variant"],
        state=first["state"],
        keys=tuple(sorted(str(trial["key"]) for trial in trials)),
        verdict=first.get("verdict"),
        flags=tuple(sorted({flag for trial in trials for flag in trial.get("flags") or ()})),
    )


def _question(data: ReportData, ordinal: int) -> Mapping[str, Any]:
    questions: Any = data.protocol.get("questions") or ()
    found: Mapping[str, Any] = questions[ordinal] if ordinal < len(questions) else {}
    return found


def _kind(data: ReportData, ordinal: int) -> str:
    return str(_question(data, ordinal).get("kind", ""))


def transcript_flowables(setter: Typesetter, data: ReportData) -> Iterator[Flowable]:
    """The appendix."""
    found = violated_canaries(data)
    yield setter.heading("Appendix: violated canaries", 0)
    yield setter.paragraph(_WHAT, "body")
    if data.public:
        yield setter.paragraph("This edition is public: wording, references and answers are left out.", "body")
    if not found:
        yield setter.paragraph("No canary was violated by a system that promises to answer from the documents.", "body")
    names = {row.ordinal: row for row in system_rows(data)}
    answers = _last_texts(data, "/answer")
    votes = _votes(data)
    for system, transcripts in found.items():
        yield setter.heading(names[system].title, 1)
        yield setter.paragraph(_count(transcripts), "body")
        for number, transcript in enumerate(transcripts[:MAX_TRANSCRIPTS], 1):
            yield from _printed(setter, data, transcript, number, answers, votes)
        yield from _rest(setter, transcripts[MAX_TRANSCRIPTS:])


_WHAT = (
    "Questions whose answer is proven to be absent from the documents, and which a system that promises to answer from "
    "them answered all the same, or denied although they are not fictitious. What was said counts against the system "
    "even where it happens to be true."
)


def _count(transcripts: Sequence[Transcript]) -> str:
    trials = sum(len(transcript.keys) for transcript in transcripts)
    questions = len({transcript.question for transcript in transcripts})
    shown = min(len(transcripts), MAX_TRANSCRIPTS)
    return (
        f"{_counted(trials, 'trial', 'trials')} on {_counted(questions, 'canary', 'canaries')}, with "
        f"{_counted(len(transcripts), 'answer', 'different answers')}; "
        f"{'all' if shown == len(transcripts) else f'the first {shown}'} printed here."
    )


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _printed(
    setter: Typesetter,
    data: ReportData,
    transcript: Transcript,
    number: int,
    answers: Mapping[str, str],
    votes: Mapping[str, str],
) -> Iterator[Flowable]:
    private = _private({} if data.public else data.texts, transcript.question)
    name = private.get("id") or f"question {transcript.question}"
    title = f"{number}. {name} · {_kind(data, transcript.question).replace('_', ' ')}"
    rows = [] if data.public else _texts(data, transcript, private, answers)
    rows += [("Proof of absence", _proof(data, transcript)), ("Ledger", ", ".join(transcript.keys))]
    if transcript.verdict is not None and transcript.verdict in votes:
        rows.append(("Panel, for the record", votes[transcript.verdict]))
    if transcript.flags:
        rows.append(("Flags", ", ".join(transcript.flags)))
    yield KeepTogether([setter.paragraph(title, "h3", limit=160), *facts(setter, rows, limit=MAX_ANSWER_CHARACTERS)])


def _texts(
    data: ReportData, transcript: Transcript, private: Mapping[str, Any], answers: Mapping[str, str]
) -> list[tuple[str, str]]:
    """What was asked, what the documents do not hold, and what was said."""
    wording = data.texts.get(f"question/{transcript.question}/{_form(data, transcript)}", _WITHHELD)
    rows = [("Question", wording)]
    references = "; ".join(map(str, private.get("references") or ()))
    if references:
        rows.append(("Not in the documents", references))
    said = "Answer" if transcript.state == TrialState.CANARY_ATTEMPT else "Denial"
    times = f", in {len(transcript.keys)} trials" if len(transcript.keys) > 1 else ""
    return [*rows, (f"{said}{times}", answers.get(transcript.keys[0], _WITHHELD))]


def _proof(data: ReportData, transcript: Transcript) -> str:
    proofs = _question(data, transcript.question).get("proofs") or {}
    proof = proofs.get(transcript.variant)
    if proof is None:
        return "none recorded"
    return f"{str(proof['grade']).replace('_', ' ')}, {proof['date']}, by {proof['prover']}"


def _rest(setter: Typesetter, left: Sequence[Transcript]) -> Iterator[Flowable]:
    if not left:
        return
    keys = [key for transcript in left for key in transcript.keys]
    more = f" and {len(keys) - _MAX_KEYS} more" if len(keys) > _MAX_KEYS else ""
    yield setter.paragraph(
        f"{len(left)} more answers in {len(keys)} trials are not printed. They are in the ledger, in the HTML report "
        "and in the format “tables”, under these keys:",
        "body",
    )
    yield setter.paragraph(", ".join(keys[:_MAX_KEYS]) + more, "mono")


def _last_texts(data: ReportData, ending: str) -> dict[str, str]:
    """By task, the text of its last attempt."""
    found: dict[str, tuple[int, str]] = {}
    for key, text in ({} if data.public else data.texts).items():
        task, _, attempt = key.removesuffix(ending).rpartition("#")
        if key.endswith(ending) and attempt.isdecimal() and found.get(task, (0, ""))[0] < int(attempt):
            found[task] = (int(attempt), text)
    return {task: text for task, (_, text) in found.items()}


def _votes(data: ReportData) -> dict[str, str]:
    """What the panel said of each input, in words."""
    rows: dict[str, list[str]] = {}
    for vote in data.votes:
        if vote.kind == "verdict":
            rows.setdefault(vote.input, []).append(f"{vote.labeller} {vote.vote or vote.non_label}")
    return {key: ", ".join(said) for key, said in rows.items()}


def _private(texts: Mapping[str, str], ordinal: int) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(texts.get(f"question/{ordinal}/private", "{}"))
    return found


def _form(data: ReportData, transcript: Transcript) -> int:
    forms = list(_question(data, transcript.question).get("forms") or ())
    return forms.index(transcript.form) if transcript.form in forms else 0
