"""The contract of plugin packages, as tests: light to import, apart from other plugins, everything offered loads."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from abc import ABC
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from auditor.discovery import discover
from auditor.plugins import Offered, PluginRecord, PluginState
from auditor.testing.check import must

__all__ = ["PluginPackageContract", "imports_of", "load_as"]

# What the front door itself brings in; a plugin's ``__init__`` adds nothing from outside the standard library to it.
_CHILD = """
import sys
import auditor.plugin
before = set(sys.modules)
import {package}
added = {{name.partition(".")[0] for name in set(sys.modules) - before}}
sys.stdout.write(" ".join(sorted(added - set(sys.stdlib_module_names) - {{"auditor", "{package}"}})))
"""


def imports_of(source: str) -> Iterator[tuple[str, bool]]:
    """Modules that a source file imports, and whether they stand under ``if TYPE_CHECKING``."""
    tree = ast.parse(source)
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for branch in node.body
        for inner in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in typing_only) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module, id(node) in typing_only


def load_as(offered: Offered) -> object:
    """Load an offer through the façade, which holds it against its contract."""
    singular = {
        "auditor_analyses": "analysis",
        "auditor_sandboxes": "sandbox",
    }.get(offered.hook, offered.hook.removeprefix("auditor_").removesuffix("s"))
    loaded: object = getattr(discover(), singular)(offered.name)
    return loaded


class PluginPackageContract(ABC):
    """Set ``package`` to the module that the entry point names. The package must be installed."""

    package: ClassVar[str]

    def record(self) -> PluginRecord:
        """The package's record in discovery."""
        found = [record for record in discover().records if record.module == self.package]
        must(len(found) == 1, f"{self.package} has {len(found)} entry points in the group auditor")
        return found[0]

    def files(self) -> tuple[Path, ...]:
        """The package's source files."""
        spec = importlib.util.find_spec(self.package)
        must(spec is not None and spec.origin is not None, f"{self.package} cannot be found")
        assert spec is not None and spec.origin is not None  # noqa: S101 - for the type checker; checked above
        return tuple(sorted(Path(spec.origin).parent.rglob("*.py")))

    def test_is_loaded(self) -> None:
        """Discovery loads the package, and refuses nothing of it."""
        record = self.record()
        must(record.state is PluginState.LOADED, f"{record.state}: {record.reason}")

    def test_init_imports_only_the_front_door(self) -> None:
        """``__init__`` imports ``auditor.plugin`` and the standard library, in the text and in fact."""
        init = self.files()[0].parent / "__init__.py"
        for name, typing_only in imports_of(init.read_text(encoding="utf-8")):
            allowed = name == "auditor.plugin" or name.partition(".")[0] in sys.stdlib_module_names
            must(allowed or typing_only, f"{self.package} imports {name} when it is found")
        done = subprocess.run(  # noqa: S603 - our own interpreter and a fixed program
            [sys.executable, "-c", _CHILD.format(package=self.package)], capture_output=True, text=True, check=False
        )
        must(done.returncode == 0, done.stderr)
        must(done.stdout == "", f"finding {self.package} imports {done.stdout}")

    def test_imports_no_other_plugin(self) -> None:
        """No file of the package imports another plugin: what two need belongs into the core."""
        others = {record.module.partition(".")[0] for record in discover().records} - {self.package}
        for path in self.files():
            for name, _ in imports_of(path.read_text(encoding="utf-8")):
                must(name.partition(".")[0] not in others, f"{path.name} imports {name}")

    def test_every_offer_keeps_its_contract(self) -> None:
        """Each offer loads and is what its hook says."""
        for offered in self.record().offers:
            load_as(offered)

    def test_is_described(self) -> None:
        """The package, its hooks and what they offer have docstrings."""
        for path in self.files():
            must(bool(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))), f"{path.name} has no docstring")
        for offered in self.record().offers:
            if offered.hook not in {"auditor_bundled_specs", "auditor_commands"}:
                must(bool((offered.load().__doc__ or "").strip()), f"{offered.offer.target} has no docstring")
