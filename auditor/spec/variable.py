"""``${NAME}`` and ``${NAME:-default}`` in a spec's text values.

Variables stand for what differs between machines (folders, hosts). Invariant: a message never shows the value of a
variable, since it may be a secret; ``Expansion.masked`` puts the name back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from auditor.errors import SpecError
from auditor.spec.document import Document, KeyPath, dotted

__all__ = ["Expansion", "expand"]

_VARIABLE = re.compile(r"(?P<escaped>\$\$\{)|\$\{(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\})?")
_SHORTEST_MASKED = 4


@dataclass(frozen=True, slots=True)
class Expansion:
    """A document's values with variables filled in.

    ``variables``: those that are used, with their values; None where the default in the spec stood in.
    """

    data: Any
    variables: Mapping[str, str | None] = field(default_factory=dict)

    def masked(self, text: str) -> str:
        """``text`` with the variables' values replaced by their names."""
        known = [(value, name) for name, value in self.variables.items() if value and len(value) >= _SHORTEST_MASKED]
        for value, name in sorted(known, key=lambda item: (-len(item[0]), item)):
            text = text.replace(value, f"${{{name}}}")
        return text


def expand(document: Document, environment: Mapping[str, str]) -> Expansion:
    """Fill in variables. A missing one without a default is a ``SpecError`` that names it; ``$${`` stands for ``${``.

    As in a shell, the default also stands in for a variable that is set but empty.
    """
    used: dict[str, str | None] = {}

    def walk(value: Any, path: KeyPath) -> Any:
        if isinstance(value, dict):
            return {key: walk(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [walk(item, (*path, index)) for index, item in enumerate(value)]
        return fill(value, path) if isinstance(value, str) and "${" in value else value

    def fill(text: str, path: KeyPath) -> str:
        def one(match: re.Match[str]) -> str:
            if match["escaped"]:
                return "${"
            name = match["name"]
            if name is None:
                raise _error(document, path, 'write ${NAME} or ${NAME:-default}; "$${" stands for a plain "${"')
            value = _value(document, path, name, match["default"], environment)
            used[name] = value if environment.get(name) else used.get(name)
            return value

        return _VARIABLE.sub(one, text)

    return Expansion(walk(document.data, ()), used)


def _value(document: Document, path: KeyPath, name: str, default: str | None, environment: Mapping[str, str]) -> str:
    value = environment.get(name)
    if default is not None and not value:
        return default
    if value is None:
        raise _error(document, path, f"environment variable {name} is not set (a default is written ${{{name}:-…}})")
    if "\0" in value or not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        raise _error(document, path, f"environment variable {name} does not hold UTF-8 text")
    return value


def _error(document: Document, path: KeyPath, message: str) -> SpecError:
    return SpecError(f"{dotted(path)}: {message}", file=document.file, line=document.line_of(path))
