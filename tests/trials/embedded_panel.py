"""Measures the embedded panel and the stance rules against reviewed answers: ``python tests/trials/embedded_panel.py``.

Reads ``transcripts_2026_01.jsonl`` from ``$AUDITOR_SHARED`` (default ``../shared``). Rules are developed on the half
whose question ids hash to an even number; the other half only confirms. The file's own grades reach no labeller.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from auditor.judge import VerdictKind, build_input, build_request, read_vote
from auditor.label import LabelKind, Vote
from auditor.panel import Verdict
from auditor.scrub import scrub
from auditor.stance import Stance, StanceKind
from auditor_embedded_judges.answer_match import AnswerMatch
from auditor_embedded_judges.embedding_agreement import EmbeddingAgreement
from auditor_embedded_judges.reply import EmbeddedLabeller
from auditor_embedded_judges.rules import StanceRules
from auditor_embedded_judges.token_alignment import TokenAlignment

RUN_KEY = b"trial"
JUDGES: tuple[EmbeddedLabeller, ...] = (AnswerMatch(), EmbeddingAgreement(), TokenAlignment())
OTHER_NAMES = ("Harland", "Okonkwo", "Brixton", "Velasquez", "Thornbury")


@dataclass(frozen=True, slots=True)
class Row:
    """One recorded answer with its reviewed grade and what was said of it here."""

    system: str
    baseline: bool
    even: bool
    grade: str
    question: str
    reference: str
    candidate: str
    stance: str
    votes: tuple[str, ...]
    verdict: str


def label(
    kind: LabelKind, labellers: Sequence[EmbeddedLabeller], question: str, references: Sequence[str], text: str
) -> tuple[Vote, ...]:
    """The votes of labellers on one answer, through the core's own path."""
    given = build_input(kind, question=question, references=references, candidate=text)
    request = build_request(RUN_KEY, kind.name, given)
    return tuple(read_vote(kind, seat, one.label(request, nullcontext)) for seat, one in enumerate(labellers))


def judge(question: str, reference: str, text: str) -> tuple[tuple[str, ...], str]:
    """Votes and verdict of the panel."""
    votes = label(VerdictKind(), JUDGES, question, [reference], text)
    return tuple(str(vote.value) for vote in votes), str(VerdictKind().reduce(votes).value)


def read_rows(path: Path) -> list[Row]:
    """All answers of the file, labelled."""
    rows: list[Row] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        text = scrub(record["answer"]).text
        stance = str(StanceKind().reduce(label(StanceKind(), [StanceRules()], record["question"], (), text)).value)
        votes, verdict = judge(record["question"], record["gold_answer"], text)
        even = int(hashlib.sha256(record["question_id"].encode()).hexdigest(), 16) % 2 == 0
        rows.append(
            Row(record["provider"], not record["uses_rag"], even, record["review_grade"], record["question"],
                record["gold_answer"], text, stance, votes, verdict)
        )  # fmt: skip
    return rows


def share(part: int, whole: int) -> str:
    """``12/15 = 80.0 %``."""
    return f"{part}/{whole}" + (f" = {100 * part / whole:.1f} %" if whole else "")


def right(rows: Sequence[Row]) -> str:
    """How many verdicts agree with the review, by grade."""
    attempted = [row for row in rows if row.grade in ("CORRECT", "INCORRECT")]
    wrong = [row for row in attempted if row.grade == "INCORRECT"]
    good = [row for row in attempted if row.grade == "CORRECT"]
    found = sum(row.verdict == Verdict.INCORRECT for row in wrong)
    kept = sum(row.verdict == Verdict.CORRECT for row in good)
    partial = sum(row.verdict == Verdict.PARTIAL for row in attempted)
    return (
        f"incorrect found {share(found, len(wrong))}; correct kept {share(kept, len(good))}; "
        f"right {share(found + kept, len(attempted))}; partial {partial}"
    )


def alter(reference: str, chance: random.Random) -> str | None:
    """The reference with one digit, month or name changed; None when it has none of them."""
    month = re.search(
        r"\b(January|February|March|April|May|June|July|August|September|October|November|December)\b", reference
    )
    if month is not None:
        other = chance.choice([name for name in ("January", "April", "August", "November") if name != month[0]])
        return reference[: month.start()] + other + reference[month.end() :]
    digits = [match.start() for match in re.finditer(r"\d", reference.split("(")[0])]
    if digits:
        place = digits[0] if "(" in reference else chance.choice(digits)
        return reference[:place] + str((int(reference[place]) % 9) + 1) + reference[place + 1 :]
    names = list(re.finditer(r"\b[A-Z][^\W\d_]{2,}", reference))
    if not names:
        return None
    name = chance.choice(names)
    return reference[: name.start()] + chance.choice(OTHER_NAMES) + reference[name.end() :]


def altered(rows: Sequence[Row]) -> str:
    """How many verdicts on right answers turn when the reference is altered."""
    chance = random.Random(7)  # noqa: S311 - a trial's repeatable choice, no secret
    turned = asked = 0
    for row in rows:
        other = alter(row.reference, chance) if row.verdict == Verdict.CORRECT and row.grade == "CORRECT" else None
        if other is not None:
            asked += 1
            turned += judge(row.question, other, row.candidate)[1] != Verdict.CORRECT
    return share(turned, asked)


def report(title: str, rows: Sequence[Row]) -> list[str]:
    """The lines for one part of the file."""
    attempted = [row for row in rows if row.grade in ("CORRECT", "INCORRECT")]
    lines = [f"== {title}: {len(rows)} answers, {len(attempted)} attempted"]
    lines.append(f"panel: {right(rows)}")
    lines.append(f"panel, grounded only: {right([row for row in rows if not row.baseline])}")
    lines.append(f"altered references turn: {altered(rows)}")
    for seat, one in enumerate(JUDGES):
        others = [tuple(v for s, v in enumerate(row.votes) if s != seat) for row in attempted]
        lone = sum(
            len(set(pair)) == 1 and row.votes[seat] != pair[0] for row, pair in zip(attempted, others, strict=True)
        )
        table = Counter((row.grade, row.votes[seat]) for row in attempted)
        lines.append(f"judge {one.method}: dissents alone {lone}; {sorted(table.items())}")
    for system in sorted({row.system for row in rows}):
        of = [row for row in rows if row.system == system]
        table = Counter((row.grade, row.verdict if row.stance == Stance.ANSWER else row.stance) for row in of)
        lines.append(f"system {system}: {sorted(table.items())}")
    gone = [row for row in rows if row.grade == "NOT_ATTEMPTED"]
    found = sum(row.stance == Stance.ABSTAIN for row in gone)
    false = sum(row.stance == Stance.ABSTAIN for row in attempted)
    lines.append(f"stance: abstentions found {share(found, len(gone))}; false ones {share(false, len(attempted))}")
    return lines


def main() -> None:
    """Print the whole measurement."""
    path = Path(os.environ.get("AUDITOR_SHARED", "../shared")) / "data" / "transcripts_2026_01.jsonl"
    if not path.exists():
        sys.stderr.write(f"{path} is not there; set AUDITOR_SHARED\n")
        return
    rows = read_rows(path)
    halves = (("even half", [r for r in rows if r.even]), ("odd half", [r for r in rows if not r.even]), ("all", rows))
    for title, part in halves:
        sys.stdout.write("\n".join(report(title, part)) + "\n\n")


if __name__ == "__main__":
    main()
