"""A package of a third party, built and installed, is found, listed and used without a change in the core."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

from auditor.hookspecs import HOOK_VERSIONS
from scratch_site import ScratchSite, run_auditor, run_python

_LOAD_ALL = """
import json, sys
from auditor.discovery import discover
from auditor.testing.package import load_as
plugins = discover()
record = next(r for r in plugins.records if r.name == "acme")
loaded = {o.hook: getattr(load_as(o), "__name__", str(load_as(o))) for o in record.offers}
heard = sys.modules["auditor_acme"].HEARD
from auditor.event import RunEnded
plugins.notify(RunEnded("r", complete=True))
print(json.dumps({
    "state": record.state, "reason": record.reason, "distribution": record.distribution, "version": record.version,
    "hooks": {h.name: h.version for h in record.hooks}, "loaded": loaded, "heard": len(heard),
    "spec": str(plugins.bundled_spec("acme")),
    "others": sorted(r.name for r in plugins.records if r.state == "loaded"),
}))
"""


def test_acme_uses_every_hook() -> None:
    """The package in the tests implements each hook of the specification, so that each is exercised here."""
    source = (Path(__file__).parent / "acme_project/auditor_acme/__init__.py").read_text(encoding="utf-8")
    functions = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    assert functions == set(HOOK_VERSIONS)


def test_built_package_is_found_and_every_hook_works(acme_site: Path) -> None:
    """Each hook of an installed wheel is found, versioned, loaded and held against its contract; events reach it."""
    done = run_python("-c", _LOAD_ALL, path=acme_site)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["state"], found["reason"]) == ("loaded", "")
    assert (found["distribution"], found["version"]) == ("auditor-acme", "2.3.4")
    assert found["hooks"] == HOOK_VERSIONS
    assert set(found["loaded"]) == set(HOOK_VERSIONS) - {"auditor_on_event"}
    assert found["heard"] == 1
    assert Path(found["spec"]).is_file()
    assert {"acme", "local", "replay"} <= set(found["others"])


def test_command_of_the_package(acme_site: Path) -> None:
    """The package's command stands in ``auditor --help`` and runs."""
    listed = run_auditor("--help", path=acme_site)
    assert "acme-hello" in listed.stdout and "Say hello from Acme" in listed.stdout, listed.stderr
    done = run_auditor("acme-hello", "--name", "Turku", path=acme_site)
    assert (done.returncode, done.stdout) == (0, "Acme says hello to Turku.\n"), done.stderr


def test_package_is_listed(acme_site: Path) -> None:
    """``auditor plugins --json`` names the distribution, its version, and each kind that it offers."""
    done = run_auditor("plugins", "--json", path=acme_site)
    assert done.returncode == 0, done.stderr
    text = json.dumps(next(row for row in _rows(json.loads(done.stdout)) if row.get("name") == "acme"))
    for expected in ("auditor-acme", "2.3.4", "acme-search", "acme-contains", "acme-states", "acme-hello"):
        assert expected in text


def _rows(listed: object) -> list[dict[str, object]]:
    found = listed["plugins"] if isinstance(listed, dict) else listed
    assert isinstance(found, list)
    return found


def test_acme_without_its_plugin_metadata_is_absent(tmp_path: Path) -> None:
    """A package that registers nothing is not guessed from its name."""
    with ScratchSite(tmp_path) as site:
        site.add("quiet", {"auditor_quiet.py": "raise AssertionError"}, {})
        assert site.plugins().records == ()
        assert "auditor_quiet" not in sys.modules
