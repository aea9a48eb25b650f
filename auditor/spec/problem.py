"""What is wrong with a spec, in the author's terms: file, line, dotted key, what was expected, the nearest name."""

from __future__ import annotations

import difflib
import json
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ValidationError

from auditor.errors import SpecError
from auditor.spec.document import Document, KeyPath, dotted

__all__ = ["Problem", "nearest", "problems_of", "shown", "spec_error", "value_at"]

_SHOWN_PROBLEMS = 8
_SHOWN_CHARACTERS = 60
_SHOWN_NAMES = 12
_EXPECTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_from_float": "a whole number",
    "number_expected": "a number",
    "decimal_type": "a number",
    "decimal_parsing": "a number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text (put it in quotes)",
    "path_type": "a path as text",
    "list_type": "a list",
    "tuple_type": "a list",
    "model_type": "a mapping of settings",
    "model_attributes_type": "a mapping of settings",
    "dict_type": "a mapping of settings",
    "mapping_type": "a mapping of settings",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, at ``path`` of the document."""

    path: KeyPath
    message: str


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean "x"?``, or the names there are, or nothing."""
    names = sorted(set(known))
    match = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if not match:
        folded = {other.casefold().replace("_", "-"): other for other in names}
        match = difflib.get_close_matches(name.casefold().replace("_", "-"), folded, n=1, cutoff=0.6)
        match = [folded[match[0]]] if match else []
    if match:
        return f'; did you mean "{match[0]}"?'
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return f" (there are: {', '.join(names[:_SHOWN_NAMES])}{more})"


def spec_error(document: Document, problems: Sequence[Problem]) -> SpecError:
    """One error for all ``problems``, in the order of their lines."""
    ordered = sorted(problems, key=lambda problem: document.line_of(problem.path))
    texts = [f"{dotted(p.path)}: {p.message}" if p.path else p.message for p in ordered]
    lines = [document.line_of(p.path) for p in ordered]
    rest = [
        f"{document.file}:{line}: {text}"
        for line, text in zip(lines[1:_SHOWN_PROBLEMS], texts[1:_SHOWN_PROBLEMS], strict=True)
    ]
    if len(texts) > _SHOWN_PROBLEMS:
        rest.append(f"and {len(texts) - _SHOWN_PROBLEMS} more")
    return SpecError("\n".join([texts[0], *rest]), file=document.file, line=lines[0])


def problems_of(
    error: ValidationError,
    model: type[BaseModel],
    document: Document,
    prefix: KeyPath = (),
    *,
    mask: Callable[[str], str] = str,
) -> list[Problem]:
    """The author's problems in what pydantic says of the values at ``prefix``. ``mask`` hides values of variables."""
    data = value_at(document.data, prefix)
    errors = error.errors(include_url=False, include_input=False)
    found = [(_path(item["loc"], data, item["type"]), item) for item in errors]
    unknown = {path for path, item in found if item["type"] == "extra_forbidden"}
    problems = []
    for path, item in found:
        if item["type"] == "too_short" and any(
            len(other) > len(path) and other[: len(path)] == path for other, _ in found
        ):
            continue  # pydantic counts only the items that are right
        if item["type"] == "missing" and any(_is_misspelt(path, other) for other in unknown):
            continue  # told already, as the misspelt key
        problems.append(Problem((*prefix, *_place(path, item["type"])), mask(_message(path, item, model, data))))
    return problems


def _place(path: KeyPath, kind: str) -> KeyPath:
    """A missing key is shown where it is missing."""
    return path[:-1] if kind == "missing" else path


def _is_misspelt(missing: KeyPath, unknown: KeyPath) -> bool:
    if missing[:-1] != unknown[:-1] or not missing:
        return False
    return bool(difflib.get_close_matches(str(unknown[-1]), [str(missing[-1])], cutoff=0.6))


def _path(loc: Sequence[str | int], data: Any, kind: str) -> KeyPath:
    """The parts of pydantic's location that are keys of ``data``; it also names branches of unions and validators."""
    path: list[str | int] = []
    for part in loc:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            continue
        path.append(part)
    if kind == "missing" and loc and isinstance(data, Mapping):
        path.append(loc[-1])
    return tuple(path)


def value_at(data: Any, path: KeyPath) -> Any:
    """The value at ``path`` of ``data``; None where there is none."""
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _message(path: KeyPath, item: Any, model: type[BaseModel], data: Any) -> str:
    kind, context = item["type"], item.get("ctx") or {}
    if kind == "extra_forbidden":
        return f'unknown key "{path[-1]}"{nearest(str(path[-1]), _keys(model, path[:-1]))}'
    if kind == "missing":
        block, keys = value_at(data, path[:-1]), _keys(model, path[:-1])
        spare = [key for key in block if key not in keys] if isinstance(block, Mapping) else []
        match = difflib.get_close_matches(str(path[-1]), spare, n=1, cutoff=0.6)
        hint = f' ("{match[0]}" is there; was that meant?)' if match else ""
        return f'key "{path[-1]}" is missing{hint}'
    value = value_at(data, path)
    if kind in ("enum", "literal_error"):
        names = _choices(context.get("expected", ""))
        return (
            f"expected one of {', '.join(names)}, found {shown(value)}{nearest(str(value), names).partition(' (')[0]}"
        )
    if kind in _EXPECTED:
        return f"expected {_EXPECTED[kind]}, found {shown(value)}"
    if kind == "one_of":
        return str(item["msg"]) + _nearest_key(value, _keys(model, path))
    if kind in ("too_short", "too_long"):
        bound = f"at least {context['min_length']}" if kind == "too_short" else f"at most {context['max_length']}"
        return f"expected {bound} of them, found {len(value) if isinstance(value, (list, Mapping)) else shown(value)}"
    text = str(item["msg"])
    if kind == "odd_panel":
        return text
    if text.startswith("Input should be "):
        return f"expected {text.removeprefix('Input should be ')}, found {shown(value)}"
    return f"{text[:1].lower()}{text[1:]}, found {shown(value)}"


def _nearest_key(value: Any, keys: Collection[str]) -> str:
    """The hint for a block in which none of the keys that matter is there."""
    for key in value if isinstance(value, Mapping) else ():
        if key not in keys and (match := difflib.get_close_matches(key, keys, n=1, cutoff=0.6)):
            return f'; did you mean "{match[0]}" by "{key}"?'
    return ""


def _choices(expected: str) -> list[str]:
    return [part.strip().strip("'") for part in expected.replace(" or ", ", ").split(",") if part.strip()]


def shown(value: Any) -> str:
    """``value`` as it may be quoted in a message: short, and in quotes where it is text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, Decimal)):
        return str(value)
    if isinstance(value, str):
        text = value if len(value) <= _SHOWN_CHARACTERS else value[:_SHOWN_CHARACTERS] + "…"
        return f"the text {json.dumps(text, ensure_ascii=False)}"
    return "a mapping" if isinstance(value, Mapping) else "a list"


def _keys(model: type[BaseModel], path: KeyPath) -> list[str]:
    """Names of the keys that the block at ``path`` of ``model`` may hold."""
    annotation: Any = model
    for part in path:
        annotation = _inside(annotation, part)
    block = _block(annotation)
    if block is None:
        return []
    return [field.alias or name for name, field in block.model_fields.items()]


def _inside(annotation: Any, part: str | int) -> Any:
    """The annotation one step down."""
    block = _block(annotation)
    if block is not None:
        names = {field.alias or name: name for name, field in block.model_fields.items()}
        return block.model_fields[names[part]].annotation if isinstance(part, str) and part in names else None
    for option in _options(annotation):
        arguments = [argument for argument in typing.get_args(option) if argument is not Ellipsis]
        if arguments:
            return arguments[-1]
    return None


def _block(annotation: Any) -> type[BaseModel] | None:
    for option in _options(annotation):
        if isinstance(option, type) and issubclass(option, BaseModel):
            return option
    return None


def _options(annotation: Any) -> list[Any]:
    """The members of a union, without None and without ``Annotated``."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _options(typing.get_args(annotation)[0])
    if origin is typing.Union or origin is types.UnionType:
        return [option for member in typing.get_args(annotation) for option in _options(member)]
    return [] if annotation is None or annotation is type(None) else [annotation]
