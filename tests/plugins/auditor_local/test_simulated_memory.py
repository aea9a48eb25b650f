"""The simulated memory knows texts, not questions; it says that it is simulated, and it never declines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auditor.errors import ConfigurationError
from auditor.model import Limits
from auditor.system import EvidenceSupport, Request, System
from auditor.testing import ScriptedWork, SystemContract
from auditor.testing.system import corpus_of
from auditor_local.memory import MemoryConfig, SimulatedMemory


def memory(folder: Path, *lines: object, seed: int = 0) -> SimulatedMemory:
    """A memory with these lines in its file."""
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (folder / "memory.jsonl").write_text(text, "utf-8")
    return SimulatedMemory(MemoryConfig(memory=folder / "memory.jsonl", seed=seed))


def ask(system: SimulatedMemory, folder: Path, text: str, opaque_id: str = "0") -> str:
    """The text of one answer."""
    store = system.open(corpus_of({}), ScriptedWork(folder))
    return system.ask(store, Request(text, "Answer.", Limits(), opaque_id)).text


class TestMemoryContract(SystemContract):
    """The contract of systems."""

    def make(self, folder: Path) -> System:
        """The system."""
        return memory(folder, {"question": "What does an anvil weigh?", "answer": "It weighs 45 kg."})


def test_it_says_that_it_is_simulated(tmp_path: Path) -> None:
    """Not grounded, no evidence, and a plain word that every table repeats."""
    traits = memory(tmp_path, "").traits
    assert (traits.grounded, traits.evidence) == (False, EvidenceSupport.NONE)
    assert "simulation" in traits.simulated


def test_a_prepared_answer_is_found_by_the_text_alone(tmp_path: Path) -> None:
    """White space and Unicode form do not matter, words do, and no id does."""
    system = memory(tmp_path, {"question": "How  long is\nthe caf\u00e9?", "answer": "Nine metres."})
    for text in ("How long is the cafe\u0301?", " How long is the caf\u00e9? "):
        assert (
            ask(system, tmp_path, text, opaque_id="1") == ask(system, tmp_path, text, opaque_id="2") == "Nine metres."
        )
    assert ask(system, tmp_path, "How long was the café?") != "Nine metres."


def test_it_makes_up_the_rest_by_seed(tmp_path: Path) -> None:
    """An unknown text gets a confident invention of the right kind: the same each time, another under another seed."""
    question = "How many doors has the depot?"
    assert ask(memory(tmp_path), tmp_path, question) == ask(memory(tmp_path), tmp_path, question)
    assert len({ask(memory(tmp_path, seed=seed), tmp_path, question) for seed in range(8)}) > 3
    assert any(character.isdigit() for character in ask(memory(tmp_path), tmp_path, question))
    assert ask(memory(tmp_path), tmp_path, "Who built it?").startswith("It was ")
    for text in ("", "\u202e\x00", "x" * 200_000, "When?"):
        assert "know" not in ask(memory(tmp_path), tmp_path, text)


def test_the_file_is_an_input_of_the_protocol(tmp_path: Path) -> None:
    """Another file is another system."""
    one = memory(tmp_path, {"question": "a", "answer": "b"}).inputs
    assert one == memory(tmp_path, {"question": "a", "answer": "b"}).inputs
    assert one != memory(tmp_path, {"question": "a", "answer": "c"}).inputs


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"question": "a", "anwser": "b"}, r"memory\.jsonl:2: unknown key 'anwser'; did you mean 'answer'"),
        ({"question": "a", "answer": ""}, r"memory\.jsonl:2: 'question' and 'answer' must both be text"),
        ({"question": "q ", "answer": "b"}, r"memory\.jsonl:2: the question stands on line 1 too"),
        ("[]", r"memory\.jsonl:2: not one JSON object"),
    ],
)
def test_a_broken_file_is_said_with_line(tmp_path: Path, line: object, message: str) -> None:
    """Nothing of it is guessed."""
    system = memory(tmp_path, {"question": "q", "answer": "a"}, line)
    with pytest.raises(ConfigurationError, match=message):
        system.open(corpus_of({}), ScriptedWork(tmp_path))
