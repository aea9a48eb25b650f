"""Wrong behaviours that are switched in one at a time, each with the test that must then fail.

Invariant: the tree that is sabotaged is a copy; the working tree is only read.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import yaml

__all__ = ["Copy", "Outcomes", "Sabotage", "load", "names_a_test", "problems"]

_ROOTS = ("plugins", "canaries", "corpora", "reports")
_COPIED = ("auditor", *_ROOTS, "tests", "docs", "pyproject.toml", "README.md", "CHANGELOG.md", "Makefile", "LICENSE")
_RULE = re.compile(r"(DESIGN|METHODS|FAULTS|STYLE|EMBEDDED)\b")


@dataclass(frozen=True, slots=True)
class Sabotage:
    """One wrong behaviour. ``old`` occurs once in ``file`` and becomes ``new``; then ``test`` must fail."""

    room: str
    name: str
    rule: str
    file: str
    old: str
    new: str
    test: str

    @property
    def id(self) -> str:
        """A name among all rooms."""
        return f"{self.room}-{self.name}"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What one run of pytest said. ``outcomes``: by test, of the phase that decided."""

    exit_code: int
    outcomes: Mapping[str, str]
    output: str

    def of(self, test: str) -> list[str]:
        """Outcomes of a test and, when it has parameters, of each of its cases."""
        return [
            said for name, said in self.outcomes.items() if name == test or name.startswith((f"{test}[", f"{test}::"))
        ]


def load(folder: Path) -> list[Sabotage]:
    """All sabotages of a folder, by file and order. Raises ``ValueError`` with file and position on a malformed one."""
    found = []
    wanted = {field.name for field in fields(Sabotage)} - {"room"}
    for path in sorted(folder.glob("*.yaml")):
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(entries, list):
            raise ValueError(f"{path.name}: not a list")
        for number, entry in enumerate(entries, 1):
            if not isinstance(entry, dict) or set(entry) != wanted:
                raise ValueError(f"{path.name}: entry {number} does not have exactly the keys {sorted(wanted)}")
            if not all(isinstance(value, str) for value in entry.values()):
                raise ValueError(f"{path.name}: entry {number} has a value that is no text")
            found.append(Sabotage(path.stem, **entry))
    return found


def problems(sabotage: Sabotage, repository: Path) -> list[str]:
    """Why a sabotage cannot be carried out; empty when it can."""
    said = []
    path = repository / sabotage.file
    if not _RULE.match(sabotage.rule):
        said.append(f"{sabotage.rule!r} does not begin with the document that holds the rule")
    if not path.is_file():
        return [*said, f"no file {sabotage.file}"]
    count = path.read_text(encoding="utf-8").count(sabotage.old)
    if count != 1:
        said.append(f"its old text occurs {count} times in {sabotage.file}")
    if sabotage.old == sabotage.new:
        said.append("it changes nothing")
    if not names_a_test(sabotage.test, repository):
        said.append(f"no test {sabotage.test}")
    return said


def names_a_test(test: str, repository: Path) -> bool:
    """Whether a test id names a test of the repository, one of a contract's base class included."""
    file, *scopes = test.partition("[")[0].split("::")
    path = repository / file
    if not scopes or not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    contracts = "\n".join(f.read_text(encoding="utf-8") for f in (repository / "auditor" / "testing").glob("*.py"))
    inherited = text + contracts if len(scopes) > 1 else text  # a contract's tests stand in its base class
    return _defines(text, scopes[0]) and all(_defines(inherited, scope) for scope in scopes[1:])


def _defines(text: str, scope: str) -> bool:
    return re.search(rf"^\s*(?:def|class) {re.escape(scope)}\b", text, re.MULTILINE) is not None


class Copy:
    """A copy of the source tree that is imported in place of the installed one."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.repository, self.folder = repository, folder
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".hypothesis")
        for name in _COPIED:
            source = repository / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=ignored)
            elif source.is_file():
                shutil.copy(source, folder / name)

    @contextmanager
    def sabotaged(self, sabotage: Sabotage) -> Iterator[None]:
        """The copy with one wrong behaviour in it."""
        path = self.folder / sabotage.file
        right = path.read_text(encoding="utf-8")
        path.write_text(right.replace(sabotage.old, sabotage.new), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(right, encoding="utf-8")

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables with which any Python process, also a test's child, imports the copy.

        Without compiled files: two versions of one second and one size would share them.
        """
        places = [self.folder, *(self.folder / root for root in _ROOTS), self.folder / "tests" / "support"]
        shared = os.environ.get("AUDITOR_SHARED") or str(self.repository.parent / "shared")
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, places)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "AUDITOR_SHARED": shared,
        }

    def run(self, tests: Sequence[str], timeout_s: float = 300) -> Outcomes:
        """Run some tests of the copy in a process of their own."""
        log = self.folder / "outcomes.jsonl"
        log.unlink(missing_ok=True)
        options = ["-q", "--tb=short", "-p", "outcome_log", "-p", "no:cacheprovider", "-p", "no:xdist"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**self.environment, "OUTCOME_LOG": str(log)},
            timeout=timeout_s,
            check=False,
        )
        return Outcomes(done.returncode, _decided(log), done.stdout + done.stderr)


def _decided(log: Path) -> dict[str, str]:
    """By test: ``passed``, ``failed`` or ``skipped`` by its own call, or ``broken`` when a fixture failed."""
    outcomes: dict[str, str] = {}
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
        entry = json.loads(line)
        test, phase, outcome = entry["test"], entry["phase"], entry["outcome"]
        if phase == "call":
            outcomes[test] = outcome
        elif outcome == "failed":
            outcomes.setdefault(test, "broken")
        elif outcome == "skipped":
            outcomes[test] = "skipped"
    return outcomes
