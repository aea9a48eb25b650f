"""From a spec file to a ``LoadedSpec``, and from a plugin's block in it to the plugin's own config model.

Invariant: what a run freezes (``LoadedSpec.source``) holds every design setting with its variables filled in, and every
plugin's block with its variables unexpanded, so that neither a machine's folders nor a secret enters a protocol.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from auditor.canonical import Json
from auditor.errors import SpecError
from auditor.path import local_path, read_bytes
from auditor.spec.document import Document, KeyPath, frozen_form, parse_key, read_document
from auditor.spec.grammar import CorpusSpec, QuestionsSpec, Spec
from auditor.spec.problem import Problem, nearest, problems_of, shown, spec_error, value_at
from auditor.spec.reference import reference_problems
from auditor.spec.variable import Expansion, expand

__all__ = ["LoadedSpec", "Place", "load_spec", "parse_config"]

_Model = TypeVar("_Model", bound=BaseModel)

# Blocks that belong to plugins: top key, depth, own key.
_OPEN_BLOCKS = frozenset(
    {
        ("systems", 3, "config"),
        ("models", 3, "config"),
        ("stance", 2, "config"),
        ("panel", 4, "config"),
        ("labels", 3, "config"),
        ("analyses", 3, "settings"),
    }
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a spec a block stands: for messages, and for the folder that its relative paths start from."""

    base: Path
    document: Document
    path: KeyPath = ()
    expansion: Expansion | None = None

    @classmethod
    def outside(cls, base: Path, name: str) -> Place:
        """For a config that stands in no file. ``name`` is shown in messages instead."""
        return cls(base, Document(name, {}, {}))

    def error(self, message: str, key: str = "") -> SpecError:
        """An error at ``key`` of this block."""
        path = (*self.path, *parse_key(key))
        return spec_error(self.document, [Problem(path, self.masked(message))])

    def masked(self, text: str) -> str:
        """``text`` without the values of variables."""
        return text if self.expansion is None else self.expansion.masked(text)


@dataclass(frozen=True, slots=True)
class LoadedSpec:
    """A valid spec with its origin.

    ``base``: the folder that relative paths start from. ``source``: what is frozen, in the ledger's subset of JSON.
    """

    spec: Spec
    path: Path
    base: Path
    source: Mapping[str, Json]
    document: Document
    expansion: Expansion

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the environment variables that the spec uses."""
        return tuple(sorted(self.expansion.variables))

    def frozen(self, *path: str | int) -> Json:
        """What is frozen of the value at ``path``; None where the spec says nothing."""
        value: Json = value_at(self.source, path)
        return value

    def error(self, path: KeyPath, message: str, known: Collection[str] = ()) -> SpecError:
        """An error at ``path``, with the nearest of the ``known`` names to the value that stands there."""
        value = value_at(self.document.data, path)
        hint = nearest(value, known) if isinstance(value, str) and known else ""
        return spec_error(self.document, [Problem(path, self.expansion.masked(message) + hint)])

    def parse_config(self, model: type[_Model], raw: Mapping[str, Any], path: KeyPath) -> _Model:
        """``raw``, which stands at ``path``, as the plugin's config model: see ``parse_config`` of this module."""
        return parse_config(model, raw, Place(self.base, self.document, path, self.expansion))

    def read_text(self, file: str, *path: str | int) -> str:
        """Text of a file that the spec names at ``path``: UTF-8, line ends as ``\\n``."""
        try:
            return read_bytes(local_path(Path(file), self.base)).decode("utf-8-sig").replace("\r\n", "\n")
        except OSError as error:
            reason = error.strerror or str(error)
        except UnicodeDecodeError:
            reason = "it is not UTF-8 text"
        written = value_at(self.document.data, (*path, "file"))
        raise self.error(path, f"{shown(written)} cannot be read: {reason}")

    def line_of(self, key: str) -> int:
        """1-based line of a dotted key (``systems[0].kind``), or of its nearest parent that is in the file."""
        return self.document.line_of(parse_key(key))

    def place(self, key: str = "") -> Place:
        """The block at a dotted key, for ``parse_config`` and for messages."""
        return Place(self.base, self.document, parse_key(key), self.expansion)


def load_spec(path: Path, *, environment: Mapping[str, str] | None = None) -> LoadedSpec:
    """The spec at ``path``. Raises ``SpecError`` that names file, line, key and the nearest right name."""
    document = read_document(path)
    if not isinstance(document.data, dict):
        raise SpecError("expected a mapping of settings (name: …)", file=document.file, line=document.line_of(()))
    expansion = expand(document, os.environ if environment is None else environment)
    try:
        spec = Spec.model_validate(expansion.data)
    except ValidationError as error:
        raise spec_error(document, problems_of(error, Spec, document, mask=expansion.masked)) from error
    if problems := reference_problems(spec):
        raise spec_error(document, problems)
    base = path.parent.absolute()
    return LoadedSpec(spec, path, base, _source(document.data, expansion.data), document, expansion)


def _source(written: Mapping[str, Any], expanded: Mapping[str, Any]) -> Mapping[str, Json]:
    """What is frozen: ``expanded`` with the blocks that belong to plugins, and paths, as ``written``."""
    return {key: frozen_form(_design(written[key], expanded[key], (key,))) for key in written}


def _design(written: Any, expanded: Any, path: KeyPath) -> Any:
    if _is_open(path):
        return written
    if isinstance(written, dict):
        return {key: _design(written[key], expanded[key], (*path, key)) for key in written}
    if isinstance(written, list):
        pairs = zip(written, expanded, strict=True)
        return [_design(old, new, (*path, index)) for index, (old, new) in enumerate(pairs)]
    return expanded


def _is_open(path: KeyPath) -> bool:
    """Whether the block at ``path`` belongs to a plugin, or is a path of this machine."""
    names = tuple(part for part in path if isinstance(part, str))
    if names[0] == "corpus":
        return len(names) == 2 and names[1] not in CorpusSpec.model_fields
    if names[0] == "questions":
        return len(names) == 2 and names[1] not in QuestionsSpec.model_fields
    return (*names[:1], len(path), path[-1]) in _OPEN_BLOCKS or names[-2:] == ("prompt", "file")


def parse_config(model: type[_Model], raw: Mapping[str, Any], where: Place) -> _Model:
    """``raw`` as the plugin's config model, with every path made absolute against the spec's folder.

    Unknown keys are refused also where the model would ignore them. Raises ``SpecError`` at the line of the key.
    """
    allows = model.model_config.get("extra") == "allow"
    try:
        config = model.model_validate(dict(raw), extra=None if allows else "forbid")
    except ValidationError as error:
        document = where.document if where.document.lines else Document(where.document.file, raw, {})
        raise spec_error(document, problems_of(error, model, document, where.path, mask=where.masked)) from error
    except ValueError as error:  # a validator of the plugin's own that raises outside of pydantic's rules
        raise where.error(f"{model.__name__}: {error}") from error
    return _with_paths(config, where.base)


def _with_paths(config: _Model, base: Path) -> _Model:
    changed = {}
    for name in type(config).model_fields:
        value = getattr(config, name)
        new = _absolute(value, base)
        if new is not value:
            changed[name] = new
    return config.model_copy(update=changed) if changed else config


def _absolute(value: Any, base: Path) -> Any:
    """``value`` with every path in it made absolute; the same object when it holds none."""
    if isinstance(value, Path):
        return local_path(value, base)
    if isinstance(value, BaseModel):
        return _with_paths(value, base)
    if isinstance(value, Mapping):
        items = {key: _absolute(item, base) for key, item in value.items()}
        return value if all(items[key] is value[key] for key in items) else items
    if isinstance(value, (list, tuple)):
        parts = [_absolute(item, base) for item in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return tuple(parts) if isinstance(value, tuple) else parts
    return value
