"""Run folders: how a design finds its run, and where the files of a run lie.

Invariant: a folder is made exclusively, so two runs never share one, whatever the clock says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from auditor.errors import StorageError

__all__ = ["RunFolder", "find_runs", "new_folder", "newest_run"]

_NAME = re.compile(r"(?P<name>[a-z0-9-]+)-(?P<digest>[0-9a-f]{12})-(?P<number>[0-9]+)")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """``runs/<name>-<digest>-<n>/`` and what it holds."""

    path: Path

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.name

    @property
    def number(self) -> int:
        """n: counts the runs of one design."""
        match = _NAME.fullmatch(self.name)
        return int(match["number"]) if match else 0

    @property
    def ledger(self) -> Path:
        """The ledger."""
        return self.path / "ledger.sqlite"

    @property
    def findings(self) -> Path:
        """The findings, written when the run ends."""
        return self.path / "findings.json"

    @property
    def cache(self) -> Path:
        """Files that can be made again."""
        return self.path / "cache"


def find_runs(runs: Path, name: str, design_digest: str) -> tuple[RunFolder, ...]:
    """Folders of one design, oldest first."""
    prefix = _prefix(name, design_digest)
    found = (RunFolder(path) for path in _listed(runs) if path.name.startswith(prefix) and path.is_dir())
    return tuple(sorted(found, key=lambda folder: folder.number))


def newest_run(runs: Path) -> RunFolder | None:
    """The run whose ledger was touched last."""
    ledgers = [path / "ledger.sqlite" for path in _listed(runs) if _NAME.fullmatch(path.name)]
    existing = [path for path in ledgers if path.is_file()]
    return RunFolder(max(existing, key=lambda path: path.stat().st_mtime_ns).parent) if existing else None


def new_folder(runs: Path, name: str, design_digest: str) -> RunFolder:
    """A folder of its own for a new run; raises ``StorageError`` where none can be made."""
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:  # also a link to nowhere: no number would ever be free in it
        raise StorageError(f"cannot make the folder of runs {runs}: {error.strerror}") from error
    existing = find_runs(runs, name, design_digest)
    number = existing[-1].number if existing else 0
    while True:
        number += 1
        path = runs / f"{_prefix(name, design_digest)}{number}"
        try:
            path.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            raise StorageError(f"cannot make the run folder {path}: {error.strerror}") from error
        return RunFolder(path)


def _prefix(name: str, design_digest: str) -> str:
    return f"{name}-{design_digest.removeprefix('sha256:')[:12]}-"


def _listed(runs: Path) -> Iterator[Path]:
    try:
        yield from sorted(runs.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"cannot read {runs}: {error.strerror}") from error
