"""Reading with a chat model: retrieved passages and the question in a template, an answer with or without citations.

Invariant: what was retrieved is put in as data, numbered in the order of retrieval; nothing of the answer is repaired.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from auditor.errors import CallError, Fault, FaultReport
from auditor.model import Completion, Limits
from auditor.system import Citation, ModelPort, Ports, Reply
from auditor_local.reader import Passage
from auditor_local.template import messages, shown, template

__all__ = ["chat_port", "cited", "complete", "reply_of"]

_MARK = re.compile(r"\[\s*(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*\]")


def chat_port(ports: Ports, name: str) -> ModelPort:
    """The chat model of this port. Raises ``CallError`` that says what the spec lacks."""
    if name not in ports.models:
        raise CallError(FaultReport(Fault.PERMANENT, f"the spec names no model for it: add models: {{{name}: NAME}}"))
    return ports.models[name]


def complete(
    port: ModelPort, name: str, *, prompt: str, question: str, passages: Sequence[Passage], limits: Limits
) -> Completion:
    """What the model says to the question, told by the template ``name`` and the audit's prompt."""
    numbered = "\n\n".join(f"[{number}] {passage.text}" for number, passage in enumerate(passages, 1))
    values = {"PROMPT": shown(prompt), "PASSAGES": shown(numbered), "QUESTION": shown(question)}
    return port.complete(messages(template(name), values), limits=limits)


def cited(answer: str, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """The passages that the answer cites by number, each once, in order; numbers that no passage has do not count."""
    numbers = [int(number) for mark in _MARK.findall(answer) for number in re.split(r"\D+", mark)]
    named = dict.fromkeys(number for number in numbers if 1 <= number <= len(passages))
    return tuple(Citation(passages[number - 1].document, passages[number - 1].text) for number in named)


def reply_of(completion: Completion) -> Reply:
    """A completion as a system's reply. What the call cost stands with the call, which is an entry of its own."""
    return Reply(
        outcome=completion.outcome,
        text=completion.text,
        usage=completion.usage,
        model=completion.model,
        request_id=completion.request_id,
        sent=completion.sent,
        raw=completion.raw,
        finish_reason=completion.finish_reason,
        capped=completion.capped,
    )
