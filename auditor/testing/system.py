"""The contract of systems under audit, as tests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from auditor.canonical import canonical, digest
from auditor.corpus import Corpus, CorpusForm, Document
from auditor.errors import CallError, Fault, FaultReport
from auditor.model import Limits, TransportOutcome
from auditor.system import EvidenceSupport, Reply, Request, Store, System, SystemTraits
from auditor.testing.check import HOSTILE_TEXTS, at_once, must, no_sleep
from auditor.testing.doubles import ScriptedWork

if TYPE_CHECKING:
    import pytest

__all__ = ["SystemContract", "corpus_of"]

_REQUEST_FIELDS = {"text", "prompt", "limits", "opaque_id", "attempt", "settings", "ports", "wire"}
_DOCUMENTS = {
    "a/opening.md": "# Opening\n\nThe depot in Turku opens at seven in the morning.\n",
    "b.txt": "An anvil weighs 45 kg. Deliveries end at 16:30 on Fridays.\n",
}


def _same(data: bytes) -> bytes:
    return data


def corpus_of(documents: Mapping[str, str]) -> Corpus:
    """A given corpus of texts by name."""
    made = []
    for name, text in sorted(documents.items()):
        data = text.encode()
        made.append(Document(name, digest(data), len(data), partial(_same, data)))
    return Corpus(CorpusForm.GIVEN, tuple(made))


class SystemContract(ABC):
    """Override ``make``; override the rest where the system needs it.

    ``deterministic``: equal requests get equal texts; a vendor's twin is, a vendor is not.
    """

    deterministic = True

    @abstractmethod
    def make(self, folder: Path) -> System:
        """The configured system. ``folder``: for files that it reads."""

    def corpus(self) -> Corpus:
        """What ``open`` is given."""
        return corpus_of(_DOCUMENTS)

    def questions(self) -> Sequence[str]:
        """Questions that the system answers with text; at least two that differ."""
        return ("When does the depot in Turku open?", "What does an anvil weigh?")

    def faults(self) -> Sequence[tuple[BaseException, Fault]]:
        """Errors that the system's calls may raise, each with its one fault."""
        return ()

    def request(self, text: str, number: int = 0) -> Request:
        """A request as the core makes it."""
        prompt = "Answer from the documents, or say that you cannot."
        return Request(text, prompt, Limits(output_tokens=256, deadline_s=30), f"{number:032x}")

    def opened(self, folder: Path) -> tuple[System, Store]:
        """The system with an open store."""
        system = self.make(folder)
        return system, system.open(self.corpus(), ScriptedWork(folder))

    def test_request_has_only_the_known_fields(self) -> None:
        """What ``ask`` receives has no place for an id, reference, kind, proof, tag or expected code."""
        must({field.name for field in fields(Request)} == _REQUEST_FIELDS, "Request has fields of no known harm")

    def test_traits_are_plain_and_stable(self, tmp_path: Path) -> None:
        """Traits are values: equal each time, hosts without scheme, family lower-case or unknown."""
        system = self.make(tmp_path)
        traits = system.traits
        must(isinstance(traits, SystemTraits), "traits is a SystemTraits")
        must(traits == system.traits == self.make(tmp_path).traits, "traits are equal each time")
        must(all("/" not in host and host for host in traits.hosts), f"hosts are bare names: {traits.hosts}")
        must(traits.family is None or (traits.family == traits.family.lower() != ""), f"family: {traits.family!r}")
        must(all(isinstance(v, str) for v in traits.metadata.values()), "metadata is text")

    def test_store_can_be_recorded(self, tmp_path: Path) -> None:
        """``open`` gives a store with an id, and what it observed fits the ledger."""
        _, store = self.opened(tmp_path)
        must(bool(store.id.strip()), "a store has an id")
        canonical(store.observed)

    def test_open_goes_on_where_it_stopped(self, tmp_path: Path) -> None:
        """Steps whose results are in the ledger are not run again."""
        first = ScriptedWork(tmp_path)
        self.make(tmp_path).open(self.corpus(), first)
        second = ScriptedWork(tmp_path, earlier=first.results)
        self.make(tmp_path).open(self.corpus(), second)
        must(not second.ran, f"steps were run again on resume: {second.ran}")
        canonical(dict(first.results))

    def test_reply_is_whole(self, tmp_path: Path) -> None:
        """A text reply has text; missing facts are None, never 0; everything fits the ledger."""
        system, store = self.opened(tmp_path)
        for text in self.questions():
            reply = system.ask(store, self.request(text))
            must(reply.outcome is TransportOutcome.TEXT, f"{text!r} got {reply.outcome}")
            _check_reply(reply, system.traits)

    def test_evidence_not_reported_differs_from_none_found(self, tmp_path: Path) -> None:
        """A system that reports evidence gives a tuple, perhaps empty; one that does not gives None."""
        system, store = self.opened(tmp_path)
        for text in self.questions():
            reply = system.ask(store, self.request(text))
            support = system.traits.evidence
            if support is EvidenceSupport.NONE:
                must(reply.chunks is None and reply.citations is None, "evidence NONE, but some is reported")
            else:
                must(reply.chunks is not None or reply.citations is not None, f"evidence {support}, but none reported")
            must(reply.chunks is None or isinstance(reply.chunks, tuple), "chunks is a tuple or None")
            must(reply.citations is None or isinstance(reply.citations, tuple), "citations is a tuple or None")

    def test_asks_do_not_mix(self, tmp_path: Path) -> None:
        """Many asks at once: each reply belongs to its own request, and nothing of a call stays in the system."""
        system, store = self.opened(tmp_path)
        alone = {text: system.ask(store, self.request(text)) for text in self.questions()}
        before = dict(vars(system))
        texts = [text for _ in range(16) for text in self.questions()]
        replies = at_once(lambda n: system.ask(store, self.request(texts[n], n)), range(len(texts)))
        for text, reply in zip(texts, replies, strict=True):
            if self.deterministic:
                must(reply.text == alone[text].text, f"{text!r} got another text in company: {reply.text!r}")
                must(reply.chunks == alone[text].chunks, f"{text!r} got another's evidence in company")
        after = dict(vars(system))
        changed = sorted(name for name in {*before, *after} if before.get(name) is not after.get(name))
        must(not changed, f"ask left state of a call behind: {changed}")

    def test_hostile_text_is_a_reply_or_a_fault(self, tmp_path: Path) -> None:
        """Whatever the text, there is a reply, or an error with one fault; an empty text is never ``text``."""
        system, store = self.opened(tmp_path)
        for text in HOSTILE_TEXTS:
            try:
                reply = system.ask(store, self.request(text))
            except Exception as error:  # noqa: BLE001 - any error will do, if the system knows its fault
                _check_report(system.classify(error))
            else:
                _check_reply(reply, system.traits)

    def test_every_error_has_one_fault(self, tmp_path: Path) -> None:
        """``classify`` maps each known error to its fault, and an unknown one to a fault with a text."""
        system = self.make(tmp_path)
        for error, fault in self.faults():
            report = system.classify(error)
            _check_report(report)
            must(report.fault is fault, f"{error!r} is {report.fault}, not {fault}")
        for error in (RuntimeError("odd"), KeyError("answer"), OSError(), ValueError("")):
            _check_report(system.classify(error))
        known = FaultReport(Fault.QUOTA_EXHAUSTED, "spent")
        must(system.classify(CallError(known)) == known, "a CallError keeps its own report")

    def test_no_print_and_no_sleep(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        """Opening and asking print nothing and wait for nothing but the wire."""
        with no_sleep():
            system, store = self.opened(tmp_path)
            capfd.readouterr()  # a library may announce itself when first loaded
            for text in self.questions():
                system.ask(store, self.request(text))
            system.close(store, ScriptedWork(tmp_path))
        captured = capfd.readouterr()
        must(captured.out == "" and captured.err == "", f"printed: {captured.out}{captured.err}")


def _check_report(report: FaultReport) -> None:
    must(type(report) is FaultReport, f"classify returned {report!r}")
    must(report.fault in Fault, f"{report.fault!r} is no fault")
    must(bool(report.message.strip()), "a fault has a text")


def _check_reply(reply: Reply, traits: SystemTraits) -> None:
    must(isinstance(reply.outcome, TransportOutcome), f"outcome {reply.outcome!r}")
    is_text = reply.outcome is TransportOutcome.TEXT
    must(is_text == bool(reply.text.strip()), f"outcome {reply.outcome} with the text {reply.text[:80]!r}")
    canonical(dict(reply.sent))
    must(isinstance(reply.raw, bytes), "raw is bytes")
    counts = {field.name: getattr(reply.usage, field.name) for field in fields(reply.usage)}
    must(traits.reports_usage or not any(n is not None for n in counts.values()), f"usage not declared: {counts}")
    for name in ("input_tokens", "output_tokens"):
        must(not is_text or counts[name] != 0, f"{name} is 0 beside a text: not reported is None")
    must(all(n is None or n >= 0 for n in counts.values()), f"usage {counts}")
    must(traits.reports_cost or reply.cost_usd is None, "a cost that the traits do not declare")
    must(reply.cost_usd is None or (reply.cost_usd.is_finite() and reply.cost_usd >= 0), f"cost {reply.cost_usd}")
    must(reply.model is None or bool(reply.model.strip()), "an unknown model is None")
