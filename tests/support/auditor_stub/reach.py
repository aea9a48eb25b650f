"""All that an object leads to without a call: attributes and properties, closures, bound and partial arguments."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

found: list[str] = []  # what tests look at; filled only while ``digging``
digging = False

_CODE = (type, types.ModuleType, types.CodeType, types.BuiltinFunctionType)


def dig(*things: object) -> None:
    """Keep what can be reached from ``things``, in the moment in which a plugin is given them."""
    if digging:
        found.extend(reachable(things))


def reachable(start: object) -> Iterator[str]:
    """Every text that can be reached from ``start``, and the kind of every object."""
    left, seen = [start], set[int]()
    kept: list[object] = []  # ids are of living objects only
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, _CODE):
            continue
        seen.add(id(one))
        kept.append(one)
        if isinstance(one, str):
            yield one
        elif isinstance(one, bytes):
            yield one.decode("utf-8", "replace")
        else:
            yield f"{type(one).__module__}.{type(one).__qualname__}"
            left += _next(one)


def _next(one: Any) -> list[object]:
    if isinstance(one, Mapping):
        return [*one.keys(), *one.values()]
    if isinstance(one, (list, tuple, set, frozenset)):
        return list(one)
    if isinstance(one, types.FunctionType):
        return [*(cell.cell_contents for cell in one.__closure__ or ()), *(one.__defaults__ or ())]
    if isinstance(one, types.MethodType):
        return [one.__self__, one.__func__]
    if isinstance(one, partial):
        return [one.func, one.args, one.keywords]
    if not type(one).__module__.startswith("auditor"):  # a path has parents without end
        return [vars(one)] if hasattr(one, "__dict__") else []
    return [value for name in dir(one) if not name.startswith("__") for value in _attribute(one, name)]


def _attribute(one: object, name: str) -> list[object]:
    try:
        return [getattr(one, name)]
    except Exception:  # noqa: BLE001 - a property may raise anything
        return []
