"""``simulated-memory``: a SIMULATION of a model that answers from memory, for comparison without a key.

It reads prepared answers from a file and makes up the rest. It says so in its traits, and every table repeats it.
Invariant: an answer depends on the text that was asked and the file alone; nothing tells it which question that is.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from auditor.canonical import canonical, clean_text, digest
from auditor.corpus import Corpus
from auditor.errors import ConfigurationError
from auditor.jsonl import JsonLine, read_json_lines
from auditor.model import TransportOutcome
from auditor.path import local_path, read_bytes
from auditor.suggestion import did_you_mean
from auditor.system import EvidenceSupport, Reply, Request, Store, System, SystemTraits, Work
from auditor_local.expectation import Expected, expected

__all__ = ["MemoryConfig", "SimulatedMemory"]

_SIMULATED = "a simulation of a guessing memory: prepared and made-up answers, no model"
_KEYS = ("question", "answer")
_PEOPLE = ("Anna Lindqvist", "Marco Bellini", "Priya Raman", "Tomasz Zielinski", "Helen Okafor", "Jonas Weber")
_MONTHS = ("January", "March", "April", "June", "September", "November")
_SENTENCES = (
    "It is part of the standard edition.",
    "It was moved to the northern site.",
    "It is handled by the service team.",
    "It uses the second generation of the controller.",
    "It is the blue variant.",
)


class MemoryConfig(BaseModel):
    """Settings of one simulated memory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    memory: Path = Field(description='JSON Lines of {"question": text, "answer": text}, relative to the spec.')
    seed: int = Field(default=0, description="Varies what is made up for questions that the file does not hold.")


class SimulatedMemory(System):
    """See the module."""

    config_model = MemoryConfig
    config: MemoryConfig

    @property
    def traits(self) -> SystemTraits:
        """A baseline: not grounded, no evidence, and a plain word that it is simulated."""
        return SystemTraits(
            grounded=False, evidence=EvidenceSupport.NONE, takes_system_prompt=False, simulated=_SIMULATED
        )

    @property
    def inputs(self) -> Mapping[str, str]:
        """The digest of the file of prepared answers."""
        try:
            return {"memory": digest(read_bytes(local_path(self.config.memory, Path())))}
        except OSError as error:
            raise ConfigurationError(f"cannot be read: {error.strerror}", file=str(self.config.memory)) from error

    def open(self, corpus: Corpus, work: Work) -> Store:
        """Read the prepared answers; the corpus is not looked at."""
        return Store("simulated-memory", {}, _read(local_path(self.config.memory, Path())))

    def ask(self, store: Store, request: Request) -> Reply:
        """The prepared answer to this very text, else one made up from the text and the seed."""
        with request.wire():
            remembered: Mapping[str, str] = store.handle
            answer = remembered.get(_wording(request.text))
            text = _guess(request.text, self.config.seed) if answer is None else answer
        raw = canonical({"answer": text, "prepared": answer is not None})
        return Reply(TransportOutcome.TEXT, text, raw=raw)


def _read(path: Path) -> Mapping[str, str]:
    shown, made, lines = path.name, dict[str, str](), dict[str, int]()
    for line in read_json_lines(path, shown=shown, error=ConfigurationError):
        question, answer = _pair(line, shown)
        first = lines.setdefault(_wording(question), line.number)
        if first != line.number:
            raise ConfigurationError(f"the question stands on line {first} too", file=shown, line=line.number)
        made[_wording(question)] = answer
    return made


def _pair(line: JsonLine, shown: str) -> tuple[str, str]:
    for key in line.fields:
        if key not in _KEYS:
            raise ConfigurationError(f"unknown key {key!r}{did_you_mean(key, _KEYS)}", file=shown, line=line.number)
    question, answer = (line.fields.get(key) for key in _KEYS)
    if not isinstance(question, str) or not isinstance(answer, str) or not question.strip() or not answer.strip():
        raise ConfigurationError("'question' and 'answer' must both be text", file=shown, line=line.number)
    return clean_text(question)[0], clean_text(answer)[0]


def _wording(text: str) -> str:
    """The text as it is compared: NFC, every run of white space one space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _guess(text: str, seed: int) -> str:
    """A confident invention of the kind that the question asks for; a function of text and seed."""
    hashed = hashlib.sha256(f"{seed}\n{_wording(text)}".encode("utf-8", "replace")).digest()
    kind = expected(text)
    if kind is Expected.NUMBER:
        return f"It is {3 + hashed[0] % 95}."
    if kind is Expected.DATE:
        return f"It was on {1 + hashed[1] % 28} {_pick(_MONTHS, hashed[2])} {1990 + hashed[0] % 35}."
    if kind is Expected.PERSON:
        return f"It was {_pick(_PEOPLE, hashed[0])}."
    return _pick(_SENTENCES, hashed[0])


def _pick(choices: Sequence[str], number: int) -> str:
    return choices[number % len(choices)]
