"""The plugin that docs/hooks.md shows: what a reader copies from the page works as it stands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from auditor.plugins import PluginState
from scratch_site import ScratchSite, run_python
from source_tree import REPOSITORY

_FILE = re.compile(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_documented_plugin_keeps_its_contracts(tmp_path: Path) -> None:
    """Its four files, copied from the page: found, loaded, and every contract test passes."""
    shown = dict(_FILE.findall((REPOSITORY / "docs" / "hooks.md").read_text(encoding="utf-8")))
    assert set(shown) == {"pyproject.toml", "auditor_acme/__init__.py", "auditor_acme/system.py", "test_acme.py"}
    project = tomllib.loads(shown.pop("pyproject.toml"))["project"]
    site = ScratchSite(tmp_path)
    site.add(project["name"], shown, project["entry-points"]["auditor"], version=project["version"])
    with site:
        assert site.record("acme").state is PluginState.LOADED
    options = ("-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path))
    done = run_python("-m", "pytest", *options, str(tmp_path / "test_acme.py"), path=tmp_path)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^\d+ passed in", done.stdout, re.MULTILINE), done.stdout  # and none was skipped
