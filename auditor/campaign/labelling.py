"""Labelling: answers are prepared once, equal inputs are labelled once, in one shuffle over all systems.

Order of work for each label kind: which trials it applies to, what each is labelled as (``labelled`` entries), one task
a seat and unique input, then repairs of what did not parse or did not come (METHODS §2, Panel).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from auditor.analysis import LabellerRow
from auditor.campaign.asking import priced, reported
from auditor.campaign.inherit import Inheritance
from auditor.canonical import Json, canonical, digest, keyed_digest
from auditor.engine import Call, Encoded, Engine, History, Task, lend_call, read_histories
from auditor.errors import LedgerError
from auditor.freeze import Campaign, Seat
from auditor.judge import VerdictKind, build_input, build_request, input_digest, read_vote
from auditor.label import Field, LabelInput, LabelKind, LabelSubject, NonLabel
from auditor.ledger import Entry, Ledger, raw_entry, text_entry
from auditor.model import Completion, TransportOutcome
from auditor.plugins import contained
from auditor.question import Question
from auditor.record import BLANK, Outcome, Record, label_key, label_rows, read_record, seat_votes
from auditor.schedule import Cell
from auditor.scrub import Scrubbed, scrub

__all__ = ["answered", "label_all", "prepare"]

_GROUP = 500  # entries a transaction when many are written at once


def answered(campaign: Campaign, record: Record) -> Iterator[tuple[Cell, Outcome]]:
    """Cells whose answer is a text, in the order of the schedule."""
    for cell in campaign.cells:
        outcome = record.outcomes.get(cell.key)
        if outcome is not None and outcome.transport is TransportOutcome.TEXT:
            yield cell, outcome


def prepare(campaign: Campaign, ledger: Ledger, record: Record) -> None:
    """Write what preparing each new answer finds: flags, counts of what was scrubbed, and which answers are equal."""
    entries: list[Entry] = []
    for cell, outcome in answered(campaign, record):
        if outcome.key not in record.candidates:
            entries += _candidate(campaign, cell, outcome, _answer(ledger, outcome))
    _write(ledger, entries)


def _candidate(campaign: Campaign, cell: Cell, outcome: Outcome, answer: str) -> list[Entry]:
    scrubbed = _scrubbed(campaign, cell, answer)
    body: dict[str, Json] = {
        "class": keyed_digest(campaign.run_key, [cell.question, cell.form, scrubbed.text]),
        "flags": sorted(_flags(scrubbed)),
        "removed": {
            "marks": scrubbed.marks_removed,
            "phrases": scrubbed.phrases_removed,
            "thinking": scrubbed.thinking_removed,
            "cut_characters": scrubbed.cut_characters,
        },
    }
    if scrubbed.text == answer:
        return [Entry("candidate", outcome.key, body)]
    kept = text_entry(f"{outcome.key}/scrubbed", scrubbed.text)
    return [kept, Entry("candidate", outcome.key, body | {"texts": {"scrubbed": kept.body_digest}})]


def _flags(scrubbed: Scrubbed) -> set[str]:
    flags = {f"injection:{name}" for name in scrubbed.injection_flags}
    if not scrubbed.text.strip():
        flags.add(BLANK)
    if scrubbed.cut_characters:
        flags.add("cut")
    if scrubbed.normalised:
        flags.add("normalised")
    return flags


def _scrubbed(campaign: Campaign, cell: Cell, answer: str) -> Scrubbed:
    system, _ = campaign.pairs[cell.pair]
    return scrub(answer, campaign.systems[system].traits.house_phrases)


def _answer(ledger: Ledger, outcome: Outcome) -> str:
    row = ledger.get("text", f"{outcome.key}/answer")
    if row is None or row.text is None:
        raise LedgerError(f"the text of {outcome.key} is withheld, so it cannot be labelled; run with --new")
    return str(row.text)


def _write(ledger: Ledger, entries: Sequence[Entry]) -> None:
    for start in range(0, len(entries), _GROUP):
        ledger.append(entries[start : start + _GROUP])
    ledger.flush()


@dataclass(frozen=True, slots=True)
class _Work:
    """One unique input of a kind."""

    digest: str
    input: LabelInput


def label_all(
    campaign: Campaign, ledger: Ledger, engine: Engine, inheritance: Inheritance, *, retry: bool = False
) -> None:
    """Give every label that is missing, kind after kind. ``retry``: ask again labellers that were lost."""
    for kind in campaign.kinds:
        record = read_record(ledger)
        works = _works(campaign, ledger, kind, record)
        seats = campaign.seats_of(kind.name)
        repairs = campaign.spec.panel.repairs if kind.name == VerdictKind.name else kind.repairs
        for round_ in range(repairs + 1):
            tasks = list(_tasks(campaign, ledger, kind, seats, works, round_, inheritance, retry))
            ledger.flush()  # what was inherited is read back before the next round
            if tasks:
                engine.run(f"label:{kind.name}" if round_ == 0 else f"repair:{kind.name}", tasks)


def _works(campaign: Campaign, ledger: Ledger, kind: LabelKind, record: Record) -> list[_Work]:
    """Unique inputs of a kind in one seeded shuffle; new links from trials to inputs are written."""
    reduced = _reduced(campaign, record, kind.after)
    works: dict[str, _Work] = {}
    links: list[Entry] = []
    for cell, outcome in answered(campaign, record):
        question = campaign.questions[cell.question]
        recorded = _recorded(ledger, outcome) if Field.RECORDED in kind.fields else {}
        subject = _subject(campaign, cell, question, _of(reduced, record, outcome), recorded)
        applies, _ = contained(kind, partial(kind.applies, subject))
        if not applies:  # a kind that raised has no label of this trial
            continue
        made = _input(campaign, ledger, kind, cell, outcome, recorded)
        if made is None:
            continue
        name = input_digest(campaign.run_key, kind.name, made)
        works[name] = _Work(name, made)
        if outcome.key not in record.labelled.get(kind.name, {}):
            links.append(Entry("labelled", f"{outcome.key}/{kind.name}", {"input": name}))
    _write(ledger, links)
    return sorted(works.values(), key=lambda work: digest(f"{campaign.spec.seed}|{work.digest}".encode()))


def _reduced(campaign: Campaign, record: Record, kinds: Iterable[str]) -> dict[str, dict[str, Json]]:
    """Reduced values of earlier kinds: kind → input digest → value."""
    found: dict[str, dict[str, Json]] = {}
    for kind in campaign.kinds:
        if kind.name in kinds:
            seats = [_labeller_row(seat) for seat in campaign.seats_of(kind.name)]
            found[kind.name] = {name: row.value for name, row in label_rows(record, kind, seats).items()}
    return found


def _labeller_row(seat: Seat) -> LabellerRow:
    return LabellerRow(seat.kind, seat.ordinal, seat.name, seat.family)


def _of(reduced: Mapping[str, Mapping[str, Json]], record: Record, outcome: Outcome) -> dict[str, Json]:
    values: dict[str, Json] = {}
    for kind, by_input in reduced.items():
        name = record.labelled.get(kind, {}).get(outcome.key)
        values[kind] = None if name is None else by_input.get(name)
    return values


def _subject(
    campaign: Campaign, cell: Cell, question: Question, labels: Mapping[str, Json], recorded: Mapping[str, str]
) -> LabelSubject:
    system, condition = campaign.pairs[cell.pair]
    return LabelSubject(
        question_kind=question.kind,
        has_reference=bool(question.references),
        grounded=campaign.systems[system].traits.grounded,
        contract=campaign.contracts[condition].value,
        labels=labels,
        recorded_labels=frozenset(recorded),
    )


def _recorded(ledger: Ledger, outcome: Outcome) -> Mapping[str, str]:
    row = ledger.get("text", f"{outcome.key}/recorded")
    return {} if row is None or row.text is None else json.loads(row.text)


def _input(
    campaign: Campaign, ledger: Ledger, kind: LabelKind, cell: Cell, outcome: Outcome, recorded: Mapping[str, str]
) -> LabelInput | None:
    """What the trial's answer is labelled as; None where nothing is left of it but thinking, so nobody can say."""
    candidate = _scrubbed(campaign, cell, _answer(ledger, outcome)).text
    if not candidate.strip():
        return None
    question = campaign.questions[cell.question]
    return build_input(
        kind,
        question=question.forms[cell.form].text,
        references=(*question.references, *question.aliases),
        candidate=candidate,
        recorded=recorded,
    )


def _tasks(
    campaign: Campaign,
    ledger: Ledger,
    kind: LabelKind,
    seats: Sequence[Seat],
    works: Sequence[_Work],
    round_: int,
    inheritance: Inheritance,
    retry: bool,
) -> Iterator[Task[Completion]]:
    """Labellings of one round that are not in the ledger. A repair round asks only seats without a usable label."""
    record, histories = read_record(ledger), read_histories(ledger)
    for work in works:
        for seat in seats:
            if round_ and seat_votes(record, kind.name, seat.ordinal, work.digest, round_ - 1)[1].non_label is None:
                continue
            key = label_key(kind.name, seat.ordinal, work.digest, round_)
            depends = _label_input(campaign, seat, work, round_)
            done = record.outcomes.get(key)
            if done is not None and histories[key].ended and not (retry and _lost(done)):
                continue
            if done is None and inheritance.take(ledger, key, depends):
                continue
            unparsed = _unparsed(ledger, record, kind, seat, work, round_) if round_ else None
            yield Task(
                key=key,
                endpoint=seat.endpoint,
                input=depends,
                run=partial(_label, campaign, seat, work, unparsed),
                encode=partial(_encode, kind),
                classify=seat.labeller.classify,
                history=histories.get(key, History()),
                cost_usd=priced,
            )


def _lost(outcome: Outcome) -> bool:
    """Whether a labeller gave nothing at all; what did not parse was said, and is repaired, not asked again."""
    return outcome.fault is not None or outcome.body.get("non_label") == NonLabel.UNAVAILABLE.value


def _label_input(campaign: Campaign, seat: Seat, work: _Work, round_: int) -> str:
    """Digest of all that one label depends on."""
    return keyed_digest(campaign.run_key, ["label", seat.kind, dict(seat.config), work.digest, round_])


def _label(campaign: Campaign, seat: Seat, work: _Work, unparsed: str | None, call: Call) -> Completion:
    request = build_request(campaign.run_key, seat.kind, work.input, unparsed)
    with lend_call(call) as handle:
        return seat.labeller.label(request, handle.wire)


def _encode(kind: LabelKind, completion: Completion, key: str) -> Encoded:
    """A labeller's reply as entries: its text, and the label in it or why there is none."""
    reply = text_entry(f"{key}/reply", completion.text)
    texts = {"reply": reply}
    if completion.raw:
        texts["raw"] = raw_entry(f"{key}/raw", completion.raw)
    if completion.sent:
        texts["sent"] = text_entry(f"{key}/sent", canonical(dict(completion.sent)).decode())
    body: dict[str, Json] = {
        "outcome": completion.outcome.value,
        "texts": {role: entry.body_digest for role, entry in texts.items()},
        **_label_of(kind, completion),
        **reported(completion),
    }
    return Encoded(entries=tuple(texts.values()), body=body)


def _label_of(kind: LabelKind, completion: Completion) -> dict[str, Json]:
    vote = read_vote(kind, 0, completion)
    return {"value": vote.value} if vote.non_label is None else {"non_label": vote.non_label.value}


def _unparsed(ledger: Ledger, record: Record, kind: LabelKind, seat: Seat, work: _Work, round_: int) -> str | None:
    """The seat's own reply of the round before, when there was one that did not parse."""
    before = record.label_outcome(kind.name, seat.ordinal, work.digest, round_ - 1)
    row = None if before is None else ledger.get("text", f"{before.key}/reply")
    return None if row is None or not row.text else str(row.text)
