"""Folders under plugins/, canaries/, corpora/ and reports/ are the entry points of pyproject.toml, no more, no less."""

from __future__ import annotations

from importlib.metadata import distribution

from source_tree import PLUGIN_ROOTS, REPOSITORY, entry_points, plugin_packages, project


def test_folders_are_entry_points() -> None:
    """Each package folder is registered under its own name without the prefix; no entry points elsewhere."""
    assert entry_points() == {name.removeprefix("auditor_"): name for name in plugin_packages()}


def test_entry_points_are_sorted() -> None:
    """The table is in order, so that two branches that add a line each do not both add it at the end."""
    assert list(entry_points()) == sorted(entry_points())


def test_packages_have_the_prefix() -> None:
    """Each package is called ``auditor_*`` and is a real package; the roots themselves are none."""
    for name, folder in plugin_packages().items():
        assert name.startswith("auditor_")
        assert (folder / "__init__.py").is_file()
    for root in PLUGIN_ROOTS:
        assert not (REPOSITORY / root / "__init__.py").exists()


def test_installed_metadata_is_current() -> None:
    """What is installed knows the same entry points; when this fails, run ``pip install -e .`` again."""
    installed = {e.name: e.value for e in distribution("rag-auditor").entry_points if e.group == "auditor"}
    assert installed == entry_points()


def test_wheel_takes_every_root() -> None:
    """The wheel's build names each root, so that no package is left behind."""
    wheel = project()["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert set(wheel["sources"]) == set(PLUGIN_ROOTS)
    assert {f"/{root}/auditor_*" for root in PLUGIN_ROOTS} <= set(wheel["include"])
