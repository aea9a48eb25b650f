"""YAML text as plain values that remember their lines.

Read is a bounded, safe subset of YAML 1.2: text, whole numbers, decimals (kept as ``Decimal``), true, false, null,
lists and mappings with ASCII keys. Invariant: nothing is guessed. A duplicate key, a tag, an alias bomb, a NUL or a
lone surrogate is an error with its line, and ``on``, ``no``, ``012`` or ``1:30`` stay the text that they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from auditor.canonical import Json, decimal_text
from auditor.errors import SpecError

__all__ = ["NUMBER", "Document", "KeyPath", "dotted", "frozen_form", "parse_key", "read_document"]

KeyPath: TypeAlias = tuple["str | int", ...]

_MAX_BYTES = 512 * 1024
_MAX_DEPTH = 32
_MAX_NODES = 50_000
_MAX_DIGITS = {"int": 15, "float": 30}  # an integer stays below 2**53
_MAX_EXPONENT = 30

_PREFIX = "tag:yaml.org,2002:"
NUMBER = r"^[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"
_RESOLVERS: tuple[tuple[str, str, str], ...] = (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    ("float", NUMBER, "-+.0123456789"),
    ("null", r"^(?:~|null|Null|NULL|)$", "~nN\0"),
    ("merge", r"^<<$", "<"),
)


class _Loader(yaml.SafeLoader):
    """Composes nodes; the resolvers of YAML 1.1 (sexagesimal numbers, timestamps, yes and no) are left out."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


for _name, _pattern, _first in _RESOLVERS:
    _Loader.add_implicit_resolver(_PREFIX + _name, re.compile(_pattern), [c if c != "\0" else "" for c in _first])


@dataclass(frozen=True, slots=True)
class Document:
    """The values of one file. ``lines``: 1-based line of each key and list item."""

    file: str
    data: Any
    lines: Mapping[KeyPath, int]

    def line_of(self, path: KeyPath) -> int:
        """Line of ``path``, or of its nearest parent that is in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def dotted(path: KeyPath) -> str:
    """``("systems", 0, "kind")`` as ``systems[0].kind``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def parse_key(key: str) -> KeyPath:
    """``systems[0].kind`` as ``("systems", 0, "kind")``."""
    parts: list[str | int] = []
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", key):
        parts.append(int(index) if index else name)
    return tuple(parts)


def frozen_form(value: Any) -> Json:
    """``value`` in the ledger's subset: decimals become text."""
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, Mapping):
        return {str(key): frozen_form(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [frozen_form(item) for item in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"{type(value).__name__} has no frozen form")


def read_document(path: Path) -> Document:
    """The values of the file at ``path``. Raises ``SpecError`` with file and line."""
    file = str(path)
    try:
        with path.open("rb") as handle:
            data = handle.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SpecError(f"cannot be read: {reason}", file=file) from error
    if len(data) > _MAX_BYTES:
        raise SpecError(f"is larger than {_MAX_BYTES // 1024} kB, which no spec needs", file=file)
    return _parse(_decoded(data, file), file)


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SpecError(
            f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8", file=file, line=line
        ) from error


def _parse(text: str, file: str) -> Document:
    try:
        _check_shape(text, file)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "is not YAML"
        raise SpecError(f"YAML: {problem}", file=file, line=mark.line + 1 if mark else None) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SpecError(
            f"character U+{ord(text[error.position]):04X} is not allowed in YAML", file=file, line=line
        ) from error
    except ValueError as error:  # an escape such as "\U00110000", which the scanner passes to chr()
        raise SpecError(f"YAML: {error}", file=file) from error
    if node is None:
        raise SpecError("is empty", file=file, line=1)
    walk = _Walk(file)
    return Document(file, walk.value(node, ()), walk.lines)


def _check_shape(text: str, file: str) -> None:
    """Depth and size, before anything recursive reads the text."""
    depth = documents = 0
    for count, event in enumerate(yaml.parse(text, Loader=_Loader)):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
        if depth > _MAX_DEPTH or count > _MAX_NODES:
            raise SpecError("is nested too deeply or holds too many values", file=file, line=line)
        if documents > 1:
            raise SpecError("holds a second document; one file is one spec", file=file, line=line)


@dataclass(slots=True)
class _Walk:
    """Turns composed nodes into values. An alias is walked again wherever it stands, so ``seen`` bounds the whole."""

    file: str
    lines: dict[KeyPath, int] = field(default_factory=dict)
    seen: int = 0
    above: list[yaml.Node] = field(default_factory=list)

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self.lines.setdefault(path, node.start_mark.line + 1)
        self.seen += 1
        if self.seen > _MAX_NODES or len(path) > _MAX_DEPTH or any(node is parent for parent in self.above):
            raise self.error(node, "an alias repeats too much, or itself")
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node)
        self.above.append(node)
        value = self.sequence(node, path) if isinstance(node, yaml.SequenceNode) else self.mapping(node, path)
        self.above.pop()
        return value

    def sequence(self, node: yaml.SequenceNode, path: KeyPath) -> list[Any]:
        if node.tag != _PREFIX + "seq":
            raise self.error(node, f"tag {node.tag} is not supported")
        return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]

    def mapping(self, node: yaml.Node, path: KeyPath) -> dict[str, Any]:
        if node.tag != _PREFIX + "map":
            raise self.error(node, f"tag {node.tag} is not supported")
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.key(key_node)
            if key in values:
                first = self.lines[(*path, key)]
                raise self.error(key_node, f'{dotted((*path, key))}: key "{key}" stands twice (first on line {first})')
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            values[key] = self.value(value_node, (*path, key))
        return values

    def key(self, node: yaml.Node) -> str:
        if node.tag == _PREFIX + "merge":
            raise self.error(node, "merge keys (<<) are not supported; write the keys out")
        if not isinstance(node, yaml.ScalarNode) or node.tag != _PREFIX + "str":
            raise self.error(node, "a key must be text; put it in quotes")
        key = self.scalar(node)
        if not (isinstance(key, str) and key.isascii() and key.isprintable() and 0 < len(key) <= 200):
            raise self.error(node, "a key must be 1 to 200 printable ASCII characters")
        return key

    def scalar(self, node: yaml.ScalarNode) -> Any:
        text: str = node.value
        kind = node.tag.removeprefix(_PREFIX)
        if kind == "str":
            return self.text(node, text)
        matches = {name: re.match(pattern, text) for name, pattern, _ in _RESOLVERS}
        if kind not in ("bool", "int", "float", "null") or not matches[kind]:
            raise self.error(node, f"tag {node.tag} is not supported here")
        if kind == "bool":
            return text.lower() == "true"
        if kind == "null":
            return None
        return self.number(node, text, kind)

    def number(self, node: yaml.ScalarNode, text: str, kind: str) -> int | Decimal:
        mantissa = re.split("[eE]", text, maxsplit=1)[0]
        if sum(map(str.isdigit, mantissa)) > (most := _MAX_DIGITS[kind]):
            raise self.error(node, f"a number may have {most} digits here; put it in quotes if it is a name")
        if kind == "int":
            return int(text)
        number = Decimal(text)
        if number and abs(number.adjusted()) > _MAX_EXPONENT:
            raise self.error(node, f"a number must lie between 1e-{_MAX_EXPONENT} and 1e{_MAX_EXPONENT}")
        return number

    def text(self, node: yaml.ScalarNode, text: str) -> str:
        if "\0" in text:
            raise self.error(node, "text may not hold a NUL character")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise self.error(node, "text holds half of a surrogate pair")
        return text

    def error(self, node: yaml.Node, message: str) -> SpecError:
        return SpecError(message, file=self.file, line=node.start_mark.line + 1)
