"""The extractive reader reads two sentences together, holds numbers apart, and quotes or declines if it must cite."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from auditor.model import Limits
from auditor.system import Reply, Request, System
from auditor.testing import ScriptedWork, SystemContract
from auditor.testing.system import corpus_of
from auditor_local.policy import Policy
from auditor_local.system import LocalConfig, LocalRag
from auditor_local.term import terms

_NOTES = """NOTES ON THE HERON

5.2.1   2 December 2025
        - the lamp blinks twice
5.1.0   11 November 2024
        - burst mode with a median of eleven
"""
_DOCUMENTS = {
    "heron.md": "# Heron 3.4\n\nThe spare pack KA-309 is a battery with screws. Its life is eight years.\n",
    "old.md": "# Heron 3.1\n\nRelease date: 4 May 2021. The old pack cost 1,450 EUR.\n",
    "notes.txt": _NOTES,
    "staff.md": "# Staff\n\nIngrid Lowe leads the yard in Tromsø. The yard has 96 people.\n",
}


def ask(folder: Path, text: str, **config: object) -> Reply:
    """One answer over the small corpus."""
    system = LocalRag(LocalConfig.model_validate({"policy": "answer_always", **config}))
    store = system.open(corpus_of(_DOCUMENTS), ScriptedWork(folder))
    return system.ask(store, Request(text, "", Limits(), "0" * 32))


def evidence(reply: Reply) -> Decimal:
    """The reader's evidence score."""
    return Decimal(json.loads(reply.raw)["evidence"])


class TestCites(SystemContract):
    """The contract of systems, for the policy that cites or declines."""

    def make(self, folder: Path) -> System:
        """The system."""
        return LocalRag(LocalConfig(policy=Policy.CITE_OR_DECLINE, threshold=Decimal("0.5")))


def test_two_sentences_are_read_as_one(tmp_path: Path) -> None:
    """The thing is named in one sentence and its property in the next."""
    reply = ask(tmp_path, "How long is the life of the pack KA-309?")
    assert "KA-309" in reply.text
    assert "eight years" in reply.text


def test_an_item_is_read_with_the_line_above_its_list(tmp_path: Path) -> None:
    """A list of changes stands under its version; the next version is no part of the last item."""
    reply = ask(tmp_path, "Which version brought the burst mode with a median of eleven?")
    assert "5.1.0" in reply.text
    assert "5.2.1" not in reply.text


def test_a_version_is_one_word_and_so_is_a_thousand() -> None:
    """3.4.2 shares no word with 3.4.1, and 1,450 is 1450."""
    assert terms("Version 3.4.2, 1,450 EUR; 0.5 m.") == ["vers", "3.4.2", "1450", "eur", "0.5", "m"]


def test_another_number_is_another_thing(tmp_path: Path) -> None:
    """What is said of 3.1 has little evidence for a question about 3.7."""
    known = evidence(ask(tmp_path, "On which date was Heron 3.1 released?"))
    assert evidence(ask(tmp_path, "On which date was Heron 3.7 released?")) < known - Decimal("0.2")


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("How many people has the yard in Tromsø?", True),
        ("How many people has the yard in Bergen?", False),  # the name is not in the quote
        ("Who leads the yard in Tromsø?", True),
        ("When was the yard in Tromsø founded?", False),  # no date in it
        ("What did the old pack of Heron 3.1 cost?", True),
        ("What did the old pack of Heron 3.4 cost?", False),  # another release
    ],
)
def test_it_cites_a_quote_that_holds_all_names_or_declines(tmp_path: Path, question: str, answered: bool) -> None:
    """Under cite or decline the quote itself, with its headings, has every name and number and the kind asked for."""
    reply = ask(tmp_path, question, policy="cite_or_decline", threshold="0.5")
    assert (reply.text != LocalConfig(policy=Policy.ANSWER_ALWAYS).abstention) is answered
    assert bool(reply.citations) is answered
    if answered:
        (citation,) = reply.citations or ()
        assert citation.quote and citation.quote in reply.text
    assert reply.chunks
