"""The code record names what changed between two starts, and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor.code_record import DistributionRecord, code_record, differences
from auditor.plugins import Offered
from scratch_site import ScratchSite

PLUGIN = """
from auditor.plugin import Offer, hookimpl

@hookimpl
def auditor_systems():
    return [Offer("acme", "Acme", "auditor_acme_scratch.system:Acme")]
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[ScratchSite]:
    """A site with one package of two files."""
    with ScratchSite(tmp_path) as made:
        modules = {"auditor_acme_scratch/__init__.py": PLUGIN, "auditor_acme_scratch/system.py": "Acme = 1\n"}
        made.add("acme-scratch", modules)
        yield made


def used(site: ScratchSite) -> tuple[Offered, ...]:
    """The offers of the scratch plugin."""
    return site.plugins().systems()


def test_equal_code_gives_an_equal_record(site: ScratchSite) -> None:
    """The record is the same twice, compiled files or not, and names Python, the auditor and what it requires."""
    first = code_record(used(site))
    cache = site.folder / "auditor_acme_scratch" / "__pycache__"
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    (cache / "system.cpython-311.pyc").write_bytes(b"junk")
    assert code_record(used(site))["acme-scratch"] == first["acme-scratch"]
    assert {"python", "rag-auditor", "acme-scratch", "numpy", "click"} <= set(first)
    assert first["rag-auditor"].digest and first["acme-scratch"].digest
    assert first["numpy"] == DistributionRecord(first["numpy"].version, None)


@pytest.mark.parametrize("change", ["edit", "add", "remove", "rename"])
def test_changed_file_is_named(site: ScratchSite, change: str) -> None:
    """A file that is edited, added, removed or renamed shows, though the version stays."""
    before = code_record(used(site))
    file = site.folder / "auditor_acme_scratch" / "system.py"
    if change == "edit":
        file.write_text("Acme = 2\n", encoding="utf-8")
    elif change == "add":
        file.with_name("data.txt").write_text("", encoding="utf-8")
    elif change == "remove":
        file.unlink()
    else:
        file.rename(file.with_name("other.py"))
    changed = differences(before, code_record(used(site)))
    assert "acme-scratch: still 1.0, but its files differ" in changed
    assert not [line for line in changed if not line.startswith(("acme-scratch", "rag-auditor"))]


def test_upgrade_of_a_dependency_is_named() -> None:
    """A dependency of another version, a new one and a lost one are each a sentence."""
    before = code_record()
    now = {**before, "numpy": DistributionRecord("99.0"), "extra": DistributionRecord("1.0")}
    del now["pandas"]
    assert differences(before, now) == (
        "extra: added (1.0)",
        f"numpy: {before['numpy'].version} became 99.0",
        f"pandas: removed ({before['pandas'].version})",
    )
    assert differences(before, before) == ()


def test_plugin_that_is_not_used_does_not_count(site: ScratchSite) -> None:
    """A plugin that a protocol does not name may change without stopping the run."""
    assert "acme-scratch" not in code_record()
