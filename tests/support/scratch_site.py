"""A folder of made-up distributions, found as a site-packages folder would be, for tests of discovery.

Invariant: what a test adds here is gone from ``sys.path`` and ``sys.modules`` when the ``with`` block ends.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from auditor.discovery import candidates, discover, examine
from auditor.plugins import PluginRecord, Plugins

__all__ = ["ScratchSite", "run_auditor", "run_python"]


class ScratchSite:
    """Distributions of hand-made metadata and modules under one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._modules_before: frozenset[str] = frozenset()

    def __enter__(self) -> ScratchSite:
        discover()  # its cache must not come to hold what is made here
        self._modules_before = frozenset(sys.modules)
        sys.path.insert(0, str(self.folder))
        importlib.invalidate_caches()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.path.remove(str(self.folder))
        for name in frozenset(sys.modules) - self._modules_before:
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(self.folder)):
                del sys.modules[name]

    def add(
        self,
        distribution: str,
        modules: Mapping[str, str],
        entries: Mapping[str, str] | None = None,
        *,
        version: str = "1.0",
    ) -> None:
        """Write a distribution. ``modules``: source by path; ``entries``: by default, one entry a top-level module."""
        for path, source in modules.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(textwrap.dedent(source), encoding="utf-8")
        if entries is None:
            tops = sorted({path.partition("/")[0].removesuffix(".py") for path in modules})
            entries = {top.removeprefix("auditor_"): top for top in tops}
        lines = ["[auditor]", *(f"{name} = {value}" for name, value in entries.items())]
        self.add_raw(distribution, "\n".join(lines).encode(), version=version)

    def add_raw(self, distribution: str, entry_points: bytes, *, version: str = "1.0") -> None:
        """Write a distribution's metadata alone, its ``entry_points.txt`` as given."""
        info = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        (info / "entry_points.txt").write_bytes(entry_points)

    def plugins(self, *, shipped: bool = False) -> Plugins:
        """What discovery makes of this folder, with or without the installed distributions beside it."""
        if shipped:
            return examine(candidates())
        return examine(candidates(importlib.metadata.distributions(path=[str(self.folder)])))

    def record(self, name: str, distribution: str | None = None, *, shipped: bool = False) -> PluginRecord:
        """The record of one entry point."""
        found = [
            r
            for r in self.plugins(shipped=shipped).records
            if r.name == name and distribution in {None, r.distribution}
        ]
        assert len(found) == 1, f"{name}: {found}"
        return found[0]


def run_python(
    *arguments: str,
    path: Path | Sequence[Path] = (),
    timeout_s: float = 60,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in a child process, with the folders of ``path`` in front of what it imports from."""
    places = [str(place) for place in ((path,) if isinstance(path, Path) else path)]
    places += [place for place in (os.environ.get("PYTHONPATH"),) if place]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(places), **(environment or {})}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout_s,
        env=variables,
        check=False,
    )


def run_auditor(
    *arguments: str,
    path: Path | Sequence[Path] = (),
    timeout_s: float = 60,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a child process, as its console script does."""
    code = "import sys; from auditor.cli import cli; sys.argv[0] = 'auditor'; sys.exit(cli())"
    return run_python("-c", code, *arguments, path=path, timeout_s=timeout_s, environment=environment)
