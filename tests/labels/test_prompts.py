"""Prompt templates: versioned files whose digest is part of the protocol, and whose slots no data can reach."""

from __future__ import annotations

from importlib import resources

import pytest

from auditor import prompts
from auditor.canonical import digest
from auditor.errors import ConfigurationError


def test_every_template_has_a_version_and_the_digest_of_its_file() -> None:
    """What is hashed is what is read, byte for byte."""
    assert prompts.names() == ("answer-standard", "answer-strict", "repair", "stance", "verdict")
    for name in prompts.names():
        prompt = prompts.load(name)
        assert prompt.version >= 1
        assert prompt.digest == digest((resources.files(prompts) / f"{name}.txt").read_bytes())


def test_answer_prompts_are_plain_text_and_differ() -> None:
    """Systems get text without slots; ``standard`` and ``strict`` are names a spec may use."""
    standard, strict = prompts.load("standard"), prompts.load("strict")
    assert standard.name == "answer-standard"
    assert standard.text != strict.text
    assert standard.turns == strict.turns == ()
    assert "<<" not in standard.text + strict.text


@pytest.mark.parametrize(
    ("name", "slots"),
    [
        ("verdict", {"QUESTION", "REFERENCES", "CANDIDATE"}),
        ("stance", {"QUESTION", "CANDIDATE"}),
        ("repair", {"UNPARSED"}),
    ],
)
def test_a_labellers_prompt_shows_what_its_kind_may_see(name: str, slots: set[str]) -> None:
    """The stance prompt has no slot for a reference."""
    assert {slot for turn in prompts.load(name).turns for slot in turn.slots} == slots


def test_an_unknown_prompt_is_named_with_those_there_are() -> None:
    """The message lists the names."""
    with pytest.raises(ConfigurationError, match="answer-standard"):
        prompts.load("stern")
