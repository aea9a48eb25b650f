"""Strict reading of a labeller's reply: exactly one JSON object with one value of a closed set, or ``Unparseable``.

Invariant: there is no default and no guess. A reply that a careful reader could take in two ways does not parse
(DESIGN §4, rule 2; FAULTS §1, items 1, 3, 4, 6, 8, 25).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Never

from auditor.label import Unparseable
from auditor.scrub import strip_thinking

__all__ = ["read_choice", "read_object"]

_MAX_CHARACTERS = 100_000
_FENCE_OPEN = re.compile(r"[ \t]{0,3}(`{3,})[ \t]{0,4}[A-Za-z0-9_+-]{0,16}[ \t]*+")


def read_choice(text: str, field: str, choices: Sequence[str]) -> str:
    """The value of ``field`` in the one object of ``text``, which must be one of ``choices`` (case does not matter).

    Raises ``Unparseable`` also where the reply says two things: under a second spelling of the field, deeper in the
    object, or in the prose around the fenced block.
    """
    found, prose = _read(text)
    value = found.get(field)
    if not isinstance(value, str):
        raise Unparseable(f"no text under {field!r}")
    chosen = _chosen(value, choices)
    if chosen is None:
        raise Unparseable(f"{field!r} is none of {', '.join(choices)}: {value[:60]!r}")
    said = [*_under(found, field), *_in_prose(prose, field, choices)]
    if any(not isinstance(other, str) or _chosen(other, choices) != chosen for other in said):
        raise Unparseable(f"{field!r} has two values")
    return chosen


def _chosen(value: str, choices: Sequence[str]) -> str | None:
    return next((str(choice) for choice in choices if value.strip().casefold() == choice), None)


def _under(found: dict[str, Any], field: str) -> Iterator[Any]:
    """Every value that stands under ``field``, however it is written and at any depth."""
    left: list[Any] = [found]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left += one.values()
            yield from (value for key, value in one.items() if key.strip().casefold() == field)
        elif isinstance(one, list):
            left += one


def _in_prose(prose: str, field: str, choices: Sequence[str]) -> Iterator[str]:
    """Every choice that prose gives the field: ``verdict: incorrect``, ``the verdict is "incorrect"``."""
    named = "|".join(map(re.escape, choices))
    for match in re.finditer(rf"\b{re.escape(field)}\b\W{{0,8}}(?:is\b\W{{0,8}})?({named})\b", prose, re.IGNORECASE):
        yield match[1]


def read_object(text: str) -> dict[str, Any]:
    """The JSON object that ``text`` is, or that stands in its fenced blocks.

    Comments and raw line breaks inside strings are read; equal objects count as one. Raises ``Unparseable`` for
    anything else: prose with a loose object, two different objects, a cut object, a key given twice with two values.
    """
    return _read(text)[0]


def _read(text: str) -> tuple[dict[str, Any], str]:
    """The object, and the prose around its fenced blocks."""
    if len(text) > _MAX_CHARACTERS:
        raise Unparseable(f"longer than {_MAX_CHARACTERS} characters")
    body = _trimmed(text)
    if not body.startswith("{"):  # an object may quote a thinking tag; only what stands before one is thought
        body = _trimmed(strip_thinking(body)[0])
    if not body:
        raise Unparseable("empty")
    objects, prose = (_objects(body), "") if body[0] == "{" else _fenced_objects(body)
    first = objects[0]
    if any(_marked(other) != _marked(first) for other in objects[1:]):
        raise Unparseable(f"{len(objects)} objects that differ")
    return first, prose


def _trimmed(text: str) -> str:
    return text.strip().lstrip("\ufeff").strip()


def _marked(value: dict[str, Any]) -> str:
    """A form in which 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)


def _fenced_objects(body: str) -> tuple[list[dict[str, Any]], str]:
    blocks, outside = _fenced_blocks(body)
    if not blocks:
        raise Unparseable("no JSON object and no fenced block")
    if "{" in outside or "}" in outside:
        raise Unparseable("an object outside the fenced block")
    return [found for block in blocks for found in _objects(block.strip())], outside


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
