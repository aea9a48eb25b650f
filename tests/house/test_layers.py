"""Who imports whom: the core no plugin, a plugin no other, and a start of the program nothing heavy (DESIGN §2)."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from auditor.cli.group import COMMANDS
from auditor.discovery import CORE_NAMES
from auditor.testing.package import PluginPackageContract, imports_of
from scratch_site import run_python
from source_tree import core_files, parsed, plugin_files, plugin_packages

_PLUGINS = sorted(plugin_packages())
_HEAVY = {
    "anthropic", "bm25s", "formulaic", "genai_prices", "google", "httpx", "httpx2", "jinja2", "matplotlib", "numpy",
    "openai", "pandas", "patsy", "pydantic", "pyhanko", "reportlab", "requests", "rich", "scipy", "sklearn",
    "statsmodels", "wordllama", "xlsxwriter", "yaml",
}  # fmt: skip
# A vendor has no name in the core; these are the ones a careless branch would test for.
_VENDORS = (
    "openai",
    "gemini",
    "google",
    "anthropic",
    "claude",
    "customgpt",
    "cohere",
    "mistral",
    "pageindex",
    "vectara",
)
_MODULES = "import json, sys; import {module}; print(json.dumps(sorted({{m.partition('.')[0] for m in sys.modules}})))"


@pytest.mark.parametrize("path", core_files(), ids=lambda path: path.name)
def test_core_imports_no_plugin(path: Path) -> None:
    """No file of the core imports a plugin package, not even inside a function."""
    imported = {name.partition(".")[0] for name, _ in imports_of(path.read_text(encoding="utf-8"))}
    assert not imported & set(_PLUGINS)
    assert not {name for name in imported if name.startswith("auditor_")}


@pytest.mark.parametrize("path", plugin_files(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_plugin_imports_no_other(path: Path) -> None:
    """No file of a plugin imports another plugin: what two need belongs into the core."""
    own = next(package for package, folder in plugin_packages().items() if path.is_relative_to(folder))
    imported = {name.partition(".")[0] for name, _ in imports_of(path.read_text(encoding="utf-8"))}
    assert not imported & (set(_PLUGINS) - {own})


@pytest.mark.parametrize("path", plugin_files(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_plugin_uses_no_private_part_of_the_core(path: Path) -> None:
    """A shipped plugin stands on the same public names as a third party's."""
    private = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "auditor"
        for alias in node.names
        if alias.name.startswith("_") or any(part.startswith("_") for part in (node.module or "").split("."))
    ]
    assert not private


@pytest.mark.parametrize("path", plugin_files(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_plugin_neither_sleeps_nor_prints(path: Path) -> None:
    """Waiting and output are the engine's and the command line's."""
    calls = {ast.unparse(node.func) for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)}
    assert not calls & {"print", "time.sleep", "sleep", "asyncio.sleep"}


@pytest.mark.parametrize("path", core_files(), ids=lambda path: path.name)
def test_core_knows_no_vendor(path: Path) -> None:
    """No name, attribute or string of the core's code is a vendor's; examples in docstrings may name one."""
    tree = parsed(path)
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    for node in ast.walk(tree):
        words = []
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            words.append(node.value)
        elif isinstance(node, (ast.Name, ast.Attribute, ast.FunctionDef, ast.ClassDef, ast.arg)):
            words += [getattr(node, field) for field in ("id", "attr", "name", "arg") if hasattr(node, field)]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            words += [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
        for word in words:
            assert not [vendor for vendor in _VENDORS if vendor in word.lower()], f"{path.name}: {word[:80]!r}"


@pytest.mark.parametrize("package", _PLUGINS)
class TestPackages:
    """Every shipped package keeps the contract that a third party's has to keep."""

    def contract(self, name: str) -> PluginPackageContract:
        """The contract over one package."""

        class Contract(PluginPackageContract):
            package = name

        return Contract()

    def test_is_loaded(self, package: str) -> None:
        """Discovery refuses nothing of it."""
        self.contract(package).test_is_loaded()

    def test_init_is_light(self, package: str) -> None:
        """Finding it imports the front door and the standard library only."""
        self.contract(package).test_init_imports_only_the_front_door()

    def test_offers(self, package: str) -> None:
        """Each offer loads and is what its hook says."""
        self.contract(package).test_every_offer_keeps_its_contract()

    def test_described(self, package: str) -> None:
        """Files and offers have docstrings."""
        self.contract(package).test_is_described()


def test_import_is_light() -> None:
    """``import auditor``, and finding all plugins, load none of the heavy packages."""
    for module in ("auditor", "auditor.plugin", "auditor.discovery; auditor.discovery.discover()"):
        done = run_python("-c", _MODULES.format(module=module))
        assert done.returncode == 0, done.stderr
        assert not set(json.loads(done.stdout)) & _HEAVY, module


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("run", "--help")])
def test_help_is_light(arguments: tuple[str, ...]) -> None:
    """The program's help loads none of the heavy packages and no plugin's target."""
    code = (
        "import atexit, json, sys\n"
        "atexit.register(lambda: sys.stderr.write('MODULES ' + json.dumps(sorted(sys.modules))))\n"
        f"sys.argv = ['auditor', *{arguments!r}]\n"
        "from auditor.cli import cli\n"
        "cli()\n"
    )
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stderr.partition("MODULES ")[2]))
    assert not {name.partition(".")[0] for name in loaded} & _HEAVY
    allowed = set(_PLUGINS)
    assert not {name for name in loaded if name.startswith("auditor_") and name not in allowed}


def test_names_of_the_core_are_reserved() -> None:
    """Each command of the core is a name that no plugin can offer."""
    assert CORE_NAMES["auditor_commands"] == frozenset(COMMANDS)
