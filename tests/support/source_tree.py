"""The source tree as the guards of tests/house read it: files, imports, functions."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

__all__ = [
    "PLUGIN_ROOTS",
    "REPOSITORY",
    "Function",
    "core_files",
    "entry_points",
    "functions",
    "parsed",
    "plugin_files",
    "plugin_packages",
    "project",
    "text_files",
]

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PLUGIN_ROOTS = ("plugins", "canaries", "corpora", "reports")
_TEXT_SUFFIXES = {".py", ".md", ".toml", ".yaml", ".yml", ".json", ".jsonl", ".txt", ".cfg", ".html", ".css", ".js", ""}
_SKIPPED = {".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "__pycache__", "runs"}


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the source tree. ``lines`` counts from its ``def`` to its end, docstring included."""

    path: Path
    name: str
    lines: int

    @property
    def place(self) -> str:
        """Where it stands, for a message."""
        return f"{self.path.relative_to(REPOSITORY)}:{self.name} ({self.lines} lines)"


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def core_files() -> list[Path]:
    """Python files of the core."""
    return sorted((REPOSITORY / "auditor").rglob("*.py"))


def plugin_packages() -> dict[str, Path]:
    """Folders of the plugin packages, by module name."""
    return {
        folder.name: folder
        for root in PLUGIN_ROOTS
        for folder in sorted((REPOSITORY / root).iterdir())
        if folder.is_dir() and folder.name != "__pycache__" and any(folder.rglob("*.py"))
    }


def plugin_files() -> list[Path]:
    """Python files of all plugin packages."""
    return sorted(path for folder in plugin_packages().values() for path in folder.rglob("*.py"))


def functions(paths: list[Path]) -> Iterator[Function]:
    """All functions and methods of the files."""
    for path in paths:
        for node in ast.walk(parsed(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield Function(path, node.name, (node.end_lineno or node.lineno) - node.lineno + 1)


def text_files() -> list[Path]:
    """Files of the repository that people read, without what tools make."""
    found = []
    for path in REPOSITORY.rglob("*"):
        parts = path.relative_to(REPOSITORY).parts
        if path.is_file() and path.suffix in _TEXT_SUFFIXES and not _SKIPPED & set(parts):
            found.append(path)
    return sorted(found)


@cache
def project() -> dict[str, Any]:
    """``pyproject.toml``."""
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def entry_points() -> dict[str, str]:
    """The entry points of the group ``auditor`` as ``pyproject.toml`` states them."""
    table: dict[str, str] = project()["project"]["entry-points"]["auditor"]
    return table
