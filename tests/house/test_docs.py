"""What the documentation must name: every hook, exit code, command, option and setting (STYLE §1, Docs)."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import click
import pytest

import auditor.testing
from auditor.cli.group import COMMANDS
from auditor.errors import ExitCode
from auditor.hookspecs import HOOK_VERSIONS
from auditor.spec import schema
from source_tree import REPOSITORY, parsed

DOCS = REPOSITORY / "docs"
_HOOKS = {
    node.name: f"def {node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns) if node.returns else ''}"
    for node in parsed(REPOSITORY / "auditor" / "hookspecs.py").body
    if isinstance(node, ast.FunctionDef)
}


def text(name: str) -> str:
    """A page of the documentation."""
    return (DOCS / name).read_text(encoding="utf-8")


def headings(page: str) -> set[str]:
    """Headings of a page, without marks of code."""
    return {line.lstrip("#").strip().replace("`", "") for line in page.splitlines() if line.startswith("#")}


def test_versions_and_hooks_agree() -> None:
    """Every hook of the specification has a version, and every version a hook."""
    assert set(_HOOKS) == set(HOOK_VERSIONS)


@pytest.mark.parametrize("hook", sorted(_HOOKS))
def test_hook_is_documented_with_its_signature(hook: str) -> None:
    """Each hook has a heading, below it its exact signature, and prose that says what its target is."""
    page = text("hooks.md")
    section = re.search(rf"^### {hook}\n(.*?)(?=^##)", page, re.MULTILINE | re.DOTALL)
    assert section, f"docs/hooks.md has no section {hook}"
    assert f"```python\n{_HOOKS[hook]}\n```" in section[1]
    assert "Target" in section[1] or hook == "auditor_on_event"


def test_no_hook_is_documented_that_does_not_exist() -> None:
    """A hook that was renamed leaves no section behind."""
    assert {h for h in headings(text("hooks.md")) if h.startswith("auditor_")} == set(_HOOKS)


def test_contracts_are_documented() -> None:
    """Each contract that plugin authors can subclass is in the table."""
    contracts = [name for name in auditor.testing.__all__ if name.endswith("Contract")]
    assert not [name for name in contracts if f"| `{name}` |" not in text("hooks.md")]


@pytest.mark.parametrize("code", list(ExitCode), ids=lambda code: code.name)
def test_exit_code_is_documented(code: ExitCode) -> None:
    """Each exit code has a row with its number, in the docs and in the tree of errors.py where an error gives it."""
    assert re.search(rf"^\|\s*`?{int(code)}`?\s*\|", text("exit-codes.md"), re.MULTILINE)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_command_is_documented(command: str) -> None:
    """Each command has a heading, and each of its options stands in the text."""
    page = text("commands.md")
    assert {command, f"auditor {command}"} & headings(page)
    module, _, attribute = COMMANDS[command].target.partition(":")
    loaded = getattr(importlib.import_module(module), attribute)
    assert isinstance(loaded, click.Command)
    options = [opt for p in loaded.params if isinstance(p, click.Option) and not p.hidden for opt in p.opts]
    assert not [option for option in options if option not in page]


def _settings(node: object, found: set[str]) -> set[str]:
    if isinstance(node, dict):
        properties = node.get("properties")
        if isinstance(properties, dict):
            found |= set(properties)
        for value in node.values():
            _settings(value, found)
    elif isinstance(node, list):
        for value in node:
            _settings(value, found)
    return found


@pytest.mark.parametrize("setting", sorted(_settings(schema(), set())))
def test_setting_is_documented(setting: str) -> None:
    """Each key of audit.yaml, at any depth, stands in docs/spec.md as code."""
    assert re.search(rf"`(?:[\w.\[\]]*\.)?{re.escape(setting)}`", text("spec.md"))


def _pages() -> list[Path]:
    return [REPOSITORY / "README.md", REPOSITORY / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


@pytest.mark.parametrize("page", _pages(), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Each relative link of a page names a file that exists."""
    broken = []
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
            broken.append(target)
    assert not broken


def test_docs_are_listed() -> None:
    """Each page of docs/ is linked from the README or from another page."""
    linked = {
        (page.parent / target).resolve()
        for page in _pages()
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    }
    assert not [page for page in _pages()[2:] if page.resolve() not in linked]
