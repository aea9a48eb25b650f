"""All trials as the page's script reads them, and the texts that are too long to stand in the page.

Invariant: a public report is made without a single text: not of a question, reference, answer, passage or name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from auditor.analysis import TrialState
from auditor.protocol import Skeleton
from auditor.writer import ReportData, VoteRow
from auditor_html.block import anchor
from auditor_html.evidence import Evidence, read_evidence
from auditor_html.text import clip, shown

__all__ = ["LongText", "Trials", "read_trials"]

_ANSWER_CHARACTERS = 20_000  # of one text, in the page
_STEP_CHARACTERS = 600
_ROLES = ("answer", "scrubbed", "evidence")
_TEXT_KEY = re.compile(r"(?P<task>ask/[0-9.]+)#(?P<attempt>[0-9]+)/(?P<role>answer|scrubbed|evidence)")
_KNOWN = ("key", "system", "variant", "question", "form", "repeat", "stratum", "state", "detail", "score", "flags") + (
    "stance",
    "verdict",
    "chunks",
    "citations",
)
# Trials in other states have no text of their own; a text under their key came too late and was never scored.
_WITHOUT_TEXT = frozenset(
    str(state)
    for state in (
        TrialState.EMPTY,
        TrialState.BLOCKED,
        TrialState.TRUNCATED,
        TrialState.FAILED,
        TrialState.QUOTA_EXHAUSTED,
        TrialState.NOT_ASKED,
    )
)


@dataclass(frozen=True, slots=True)
class LongText:
    """What one trial has beyond the page. ``answer`` and ``scrubbed`` are None where the page has all of them."""

    id: str
    key: str
    system: str
    answer: str | None
    scrubbed: str | None
    evidence: Evidence | None


@dataclass(frozen=True, slots=True)
class Trials:
    """``index``: what the table needs; ``texts``: what a trial's page shows. ``files``: by name, what lies beside."""

    index: Mapping[str, Any]
    texts: Mapping[str, Any]
    files: Mapping[str, tuple[LongText, ...]]


def read_trials(data: ReportData, titles: Sequence[str]) -> Trials:
    """Everything that the page shows of single trials. ``titles``: of systems, with their marks."""
    texts = {} if data.public else data.texts
    return _Reader(data, titles, texts).read()


class _Pool:
    """Equal texts are kept once; what refers to them holds their number."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.numbers: dict[str, int] = {}

    def number(self, key: str, item: Any) -> int:
        """The number of the item that ``key`` stands for."""
        if key not in self.numbers:
            self.numbers[key] = len(self.items)
            self.items.append(item)
        return self.numbers[key]


@dataclass(slots=True)
class _Reader:
    data: ReportData
    titles: Sequence[str]
    texts: Mapping[str, str]
    pool: _Pool = field(default_factory=_Pool)
    evidence: _Pool = field(default_factory=_Pool)
    labels: _Pool = field(default_factory=_Pool)
    files: dict[str, list[LongText]] = field(default_factory=dict)

    def read(self) -> Trials:
        votes = _votes_by_input(self.data.votes)
        answers = _last_texts(self.texts)
        rows = [self._trial(trial, answers, votes) for trial in self.data.findings.trials]
        questions = [self._question(ordinal) for ordinal in range(self._question_count())]
        index = {
            "public": self.data.public,
            "systems": list(self.titles),
            "questions": questions,
            "seats": _seats(self.data),
            "labels": self.labels.items,
            "trials": rows,
        }
        files = {name: tuple(listed) for name, listed in self.files.items()}
        return Trials(index, {"texts": self.pool.items, "evidence": self.evidence.items}, files)

    def _question_count(self) -> int:
        known = self.data.protocol.get("questions")
        asked = [trial.get("question") for trial in self.data.findings.trials]
        numbers = [ordinal + 1 for ordinal in asked if type(ordinal) is int and 0 <= ordinal < 1_000_000]
        return max([len(known) if isinstance(known, Sequence) else 0, *numbers])

    def _text(self, text: str | None) -> int | None:
        """The number of a text in the page, cut to what the page holds."""
        if text is None:
            return None
        kept, over = clip(shown(text), _ANSWER_CHARACTERS)
        return self.pool.number(kept + str(over), [kept, over] if over else kept)

    def _question(self, ordinal: int) -> dict[str, Any]:
        """What is known of a question; of a public report's, only what the protocol itself publishes."""
        listed: Any = self.data.protocol.get("questions", ())
        published: Mapping[str, Any] = listed[ordinal] if ordinal < len(listed) else {}
        forms = [str(name) for name in published.get("forms", ("plain",))]
        proofs = {variant: _proof(proof, {}) for variant, proof in published.get("proofs", {}).items()}
        found: dict[str, Any] = {
            "kind": published.get("kind"),
            "cluster": published.get("cluster"),
            "forms": {name: self._text(self.texts.get(f"question/{ordinal}/{n}")) for n, name in enumerate(forms)},
            "proofs": proofs,
        }
        private = _json(self.texts.get(f"question/{ordinal}/private"))
        return found | self._private(private, published, proofs) if private else found

    def _private(
        self, private: Mapping[str, Any], published: Mapping[str, Any], proofs: Mapping[str, Any]
    ) -> dict[str, Any]:
        steps = private.get("proofs", {})
        return {
            "id": shown(str(private.get("id", ""))),
            "references": [self._text(str(text)) for text in private.get("references", ())],
            "aliases": [self._text(str(text)) for text in private.get("aliases", ())],
            "source": shown(str(private.get("cluster", ""))),
            "gold": [shown(str(name)) for name in private.get("gold_documents", ())],
            "tags": [shown(str(tag)) for tag in published.get("tags", ())],
            "proofs": {variant: _proof(proof, steps.get(variant, {})) for variant, proof in proofs.items()},
        }

    def _trial(
        self,
        trial: Mapping[str, Any],
        answers: Mapping[str, tuple[int, Mapping[str, str]]],
        votes: Mapping[str, list[VoteRow]],
    ) -> list[Any]:
        key = str(trial.get("key"))
        attempt, own = (0, {}) if trial.get("state") in _WITHOUT_TEXT else answers.get(key, (0, {}))
        shown_texts = [self._text(own.get(role)) for role in _ROLES[:2]]
        found = self._evidence(own.get("evidence"))
        file = self._beside(trial, key, own)
        fields = [trial.get(name) for name in _KNOWN]
        detail = "" if self.data.public else shown(str(trial.get("detail") or ""))
        fields[_KNOWN.index("detail")] = detail
        for kind in ("stance", "verdict"):
            fields[_KNOWN.index(kind)] = self._label(trial.get(kind), votes)
        rest = {} if self.data.public else {name: _plain(trial[name]) for name in sorted({*trial} - {*_KNOWN})}
        return [*fields, *shown_texts, found, attempt or None, file, rest or None]

    def _evidence(self, text: str | None) -> int | None:
        return None if text is None else self.evidence.number(text, read_evidence(text).for_page())

    def _label(self, key: object, votes: Mapping[str, list[VoteRow]]) -> int | None:
        """The number of an input's votes."""
        if not isinstance(key, str):
            return None
        listed = votes.get(key, [])
        reduced = listed[0].reduced if listed else None
        return self.labels.number(key, [key, _maybe(reduced), [_vote(vote) for vote in listed]])

    def _beside(self, trial: Mapping[str, Any], key: str, own: Mapping[str, str]) -> str | None:
        """The place, beside the page, of what the page has no room for; None where it has all."""
        evidence = read_evidence(own["evidence"]) if "evidence" in own else None
        part = evidence.for_page() if evidence else {}
        long = {
            role: shown(own[role]) if len(shown(own.get(role, ""))) > _ANSWER_CHARACTERS else None
            for role in _ROLES[:2]
        }
        if not (part.get("left") or part.get("unlisted") or any(long.values())):
            return None
        name, id_ = f"q{trial.get('question')}.html", anchor(key)
        system = trial.get("system")
        title = self.titles[system] if type(system) is int and 0 <= system < len(self.titles) else ""
        text = LongText(id_, key, title, long["answer"], long["scrubbed"], evidence)
        self.files.setdefault(anchor(name.removesuffix(".html")) + ".html", []).append(text)
        return f"{anchor(name.removesuffix('.html'))}.html#{id_}"


def _last_texts(texts: Mapping[str, str]) -> dict[str, tuple[int, Mapping[str, str]]]:
    """By task: the last attempt that has a text, and its texts by role."""
    found: dict[str, tuple[int, dict[str, str]]] = {}
    for key, text in texts.items():
        match = _TEXT_KEY.fullmatch(key)
        if match is None:
            continue
        attempt, known = int(match["attempt"]), found.get(match["task"])
        if known is None or known[0] < attempt:
            found[match["task"]] = (attempt, {match["role"]: text})
        elif known[0] == attempt:
            known[1][match["role"]] = text
    return {task: (attempt, own) for task, (attempt, own) in found.items()}


def _votes_by_input(votes: Sequence[VoteRow]) -> dict[str, list[VoteRow]]:
    found: dict[str, list[VoteRow]] = {}
    for vote in votes:
        found.setdefault(vote.input, []).append(vote)
    return found


def _vote(vote: VoteRow) -> list[str | None]:
    said = (vote.labeller, vote.vote, vote.non_label, vote.first_vote, vote.first_non_label)
    return [_maybe(text) for text in said]


def _seats(data: ReportData) -> list[dict[str, Any]]:
    """Seats of the protocol: they name the ledger's entries of single votes."""
    if "seats" not in data.protocol:
        return []
    seats = Skeleton(data.protocol).labellers()
    return [{"kind": s.kind, "ordinal": s.ordinal, "name": shown(s.name), "family": shown(s.family)} for s in seats]


def _maybe(text: str | None) -> str | None:
    return None if text is None else shown(text)


def _json(text: str | None) -> Mapping[str, Any]:
    try:
        found = {} if text is None else json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _proof(published: Mapping[str, Any], private: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "grade": published.get("grade"),
        "date": published.get("date"),
        "prover": shown(str(published.get("prover", ""))),
        "corpus": private.get("corpus_digest"),
        "steps": [list(_step(step)) for step in private.get("steps", ())],
    }


def _step(step: Mapping[str, Any]) -> Iterator[str]:
    for name, value in step.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        kept, over = clip(shown(text), _STEP_CHARACTERS)
        yield f"{shown(str(name))}: {kept}{f' … ({over} characters more)' if over else ''}"


def _plain(value: object) -> object:
    return shown(value) if isinstance(value, str) else value
