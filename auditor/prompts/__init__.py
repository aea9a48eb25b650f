"""Prompt templates: files with a version, hashed into the protocol.

Invariant: a template is cut at its slots once, when it is read; data is joined in between and never searched for slots,
so that no text under audit can reach the template (DESIGN §4, rule 4).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources

from auditor.canonical import digest
from auditor.errors import ConfigurationError

__all__ = ["Prompt", "Turn", "load", "names"]

_SUFFIX = ".txt"
_HEAD = re.compile(r"version: (\d{1,6})\n---\n")
_TURN = re.compile(r"^\[(system|user)\]\n", re.MULTILINE)
_SLOT = re.compile(r"^<<([A-Z]+)>>$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a template: literal text, slot name, literal text, … (an odd number of parts)."""

    role: str
    parts: tuple[str, ...]

    @property
    def slots(self) -> tuple[str, ...]:
        """Names of the slots, in order."""
        return self.parts[1::2]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One template. ``digest`` covers the file's bytes; ``text`` is what stands below its head."""

    name: str
    version: int
    digest: str
    text: str

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The messages of a labeller's prompt. Empty for a prompt that is plain text."""
        cut = _TURN.split(self.text)
        return tuple(
            Turn(role, tuple(_SLOT.split(body.strip()))) for role, body in zip(cut[1::2], cut[2::2], strict=True)
        )


def names() -> tuple[str, ...]:
    """Names of the shipped prompts. Those that begin with ``answer-`` go to systems under audit."""
    files = (entry.name for entry in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX)))


def load(name: str) -> Prompt:
    """The shipped prompt ``name``; ``standard`` and ``strict`` are short for ``answer-standard``, ``answer-strict``.

    Raises ``ConfigurationError`` that lists the names there are.
    """
    known = names()
    full = name if name in known else f"answer-{name}"
    if full not in known:
        raise ConfigurationError(f"no prompt {name!r}; there are {', '.join(known)}")
    data = (resources.files(__name__) / f"{full}{_SUFFIX}").read_bytes()
    text = data.decode("utf-8")
    head = _HEAD.match(text)
    if head is None:
        raise ConfigurationError(f"prompt {full!r} has no head with a version")
    return Prompt(full, int(head[1]), digest(data), text[head.end() :].strip())
