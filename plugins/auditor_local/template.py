"""Templates of this package: what a chat model is told, as files with a version.

Invariant: a template is cut at its slots when it is read; passages and questions are put in between and never searched.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

from auditor.canonical import clean_text, digest
from auditor.model import Message, Role
from auditor.prompts import Prompt

__all__ = ["messages", "template"]


@cache
def template(name: str) -> Prompt:
    """The template ``prompts/<name>.txt``."""
    data = (resources.files(__package__) / "prompts" / f"{name}.txt").read_bytes()
    head, _, text = data.decode("utf-8").partition("\n---\n")
    return Prompt(name, int(head.removeprefix("version: ")), digest(data), text.strip())


def messages(of: Prompt, values: Mapping[str, str]) -> tuple[Message, ...]:
    """The template's messages with each slot's value in its place."""
    return tuple(
        Message(
            Role(turn.role),
            "".join(values[part] if place % 2 else part for place, part in enumerate(turn.parts)),
        )
        for turn in of.turns
    )


def shown(value: str) -> str:
    """A text as a model is given it: without what UTF-8 cannot carry."""
    return clean_text(value)[0]
