"""Strict reading of a labeller's reply: exactly one JSON object with one value of a closed set, or ``Unparseable``.

Invariant: there is no default and no guess. A reply that a careful reader could take in two ways does not parse
(DESIGN §4, rule 2; FAULTS §1, items 1, 3, 4, 6, 8, 25).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Never

from auditor.label import Unparseable
from auditor.scrub import strip_thinking

__all__ = ["read_choice", "read_object"]

_MAX_CHARACTERS = 100_000
_FENCE_OPEN = re.compile(r"[ \t]{0,3}(`{3,})[ \t]{0,4}[A-Za-z0-9_+-]{0,16}[ \t]*+")


def read_choice(text: str, field: str, choices: Sequence[str]) -> str:
    """The value of ``field`` in the one object of ``text``, which must be one of ``choices`` (case does not matter)."""
    value = read_object(text).get(field)
    if not isinstance(value, str):
        raise Unparseable(f"no text under {field!r}")
    for choice in choices:
        if value.strip().casefold() == choice:
            return str(choice)
    raise Unparseable(f"{field!r} is none of {', '.join(choices)}: {value[:60]!r}")


def read_object(text: str) -> dict[str, Any]:
    """The JSON object that ``text`` is, or that stands in its fenced blocks.

    Comments and raw line breaks inside strings are read; equal objects count as one. Raises ``Unparseable`` for
    anything else: prose with a loose object, two different objects, a cut object, a key given twice with two values.
    """
    if len(text) > _MAX_CHARACTERS:
        raise Unparseable(f"longer than {_MAX_CHARACTERS} characters")
    body = _trimmed(text)
    if not body.startswith("{"):  # an object may quote a thinking tag; only what stands before one is thought
        body = _trimmed(strip_thinking(body)[0])
    if not body:
        raise Unparseable("empty")
    objects = _objects(body) if body[0] == "{" else _fenced_objects(body)
    first = objects[0]
    if any(_marked(other) != _marked(first) for other in objects[1:]):
        raise Unparseable(f"{len(objects)} objects that differ")
    return first


def _trimmed(text: str) -> str:
    return text.strip().lstrip("\ufeff").strip()


def _marked(value: dict[str, Any]) -> str:
    """A form in which 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)


def _fenced_objects(body: str) -> list[dict[str, Any]]:
    blocks, outside = _fenced_blocks(body)
    if not blocks:
        raise Unparseable("no JSON object and no fenced block")
    if "{" in outside or "}" in outside:
        raise Unparseable("an object outside the fenced block")
    return [found for block in blocks for found in _objects(block.strip())]


def _fenced_blocks(body: str) -> tuple[list[str], str]:
    """Contents of the fenced blocks, and what stands outside them. A block that is not closed does not parse."""
    blocks: list[str] = []
    outside: list[str] = []
    inside: list[str] | None = None
    mark = ""
    for line in body.splitlines():
        opening = _FENCE_OPEN.fullmatch(line)
        if inside is None and opening is not None:
            inside, mark = [], opening[1]
        elif inside is not None and line.strip() == mark:
            blocks.append("\n".join(inside))
            inside = None
        else:
            (outside if inside is None else inside).append(line)
    if inside is not None:
        raise Unparseable("a fenced block that is not closed")
    return blocks, "\n".join(outside)


def _objects(text: str) -> list[dict[str, Any]]:
    """One or more JSON objects with nothing but white space between them."""
    text = _without_comments(text)
    found: list[dict[str, Any]] = []
    at = 0
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise Unparseable(f"not JSON: {error}"[:200]) from error
        if not isinstance(value, dict):
            raise Unparseable("JSON, but no object")
        found.append(value)
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
    if not found:
        raise Unparseable("empty")
    return found


_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*+"|//[^\n]*+|/\*', re.DOTALL)


def _without_comments(text: str) -> str:
    """``text`` with ``//`` and ``/* */`` comments blanked, outside strings."""
    parts: list[str] = []
    at = 0
    while (match := _STRING_OR_COMMENT.search(text, at)) is not None:
        parts.append(text[at : match.start()])
        at = match.end()
        if match.group()[0] == '"':
            parts.append(match.group())
        elif match.group() == "/*":
            at = text.find("*/", at) + 2
            if at == 1:
                raise Unparseable("a comment that is not closed")
    parts.append(text[at:])
    return "".join(parts).strip()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"key {key[:40]!r} twice, with two values")
        found[key] = value
    return found


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, strict=False)
