"""The code record: which code a run was begun with, so that an upgrade between two starts is noticed (DESIGN §3, Runs).

Invariant: equal code gives an equal record, wherever it is installed and however (wheel, editable, folder on the path):
packages are digested from the files on disk, never from what an installer noted down.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from auditor.canonical import canonical, digest
from auditor.discovery import SHIPPED_DISTRIBUTION
from auditor.errors import PluginError
from auditor.plugins import Offered

__all__ = ["DistributionRecord", "code_record", "differences"]

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


@dataclass(frozen=True, slots=True)
class DistributionRecord:
    """One distribution. ``digest`` covers its packages that the run uses; None for a dependency, known by version."""

    version: str
    digest: str | None = None


def code_record(used: Iterable[Offered] = ()) -> Mapping[str, DistributionRecord]:
    """Python, the auditor, the plugins used, and everything they require, by normalised name.

    :param used: the offers that a protocol names. Digests cover ``auditor`` and their packages.
    Raises ``PluginError`` when a package's files cannot be found.
    """
    packages: dict[str, set[str]] = {SHIPPED_DISTRIBUTION: {"auditor"}}
    versions = {SHIPPED_DISTRIBUTION: _version(SHIPPED_DISTRIBUTION) or "unknown"}
    for offered in used:
        packages.setdefault(offered.distribution, set()).add(offered.module)
        versions.setdefault(offered.distribution, offered.version)
    record = {name: DistributionRecord(version) for name, version in _required(sorted(packages)).items()}
    for name, modules in packages.items():
        record[name] = DistributionRecord(versions[name], _packages_digest(modules))
    record["python"] = DistributionRecord(platform.python_version())
    return dict(sorted(record.items()))


def differences(before: Mapping[str, DistributionRecord], now: Mapping[str, DistributionRecord]) -> tuple[str, ...]:
    """What changed from one record to another, one sentence a distribution."""
    lines = []
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if old == new:
            continue
        if old is None or new is None:
            lines.append(f"{name}: {'added' if old is None else 'removed'} ({(old or new or _NOTHING).version})")
        elif old.version != new.version:
            lines.append(f"{name}: {old.version} became {new.version}")
        else:
            lines.append(f"{name}: still {new.version}, but its files differ")
    return tuple(lines)


_NOTHING = DistributionRecord("unknown")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _required(roots: Iterable[str]) -> dict[str, str]:
    """Versions of the installed distributions that ``roots`` require, at any depth.

    A requirement under an extra counts when it is installed and the extra is a root's own or was asked for: whoever
    installed it may be using it, and a spurious name here costs a question, a missing one a wrong number.
    """
    found: dict[str, str] = {}
    queue: list[tuple[str, frozenset[str] | None]] = [(root, None) for root in roots]
    seen: set[tuple[str, frozenset[str] | None]] = set()
    while queue:
        name, extras = queue.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        found[name] = distribution.version
        queue += _requirements(distribution, extras)
    return found


def _requirements(
    distribution: importlib.metadata.Distribution, extras: frozenset[str] | None
) -> Iterator[tuple[str, frozenset[str] | None]]:
    for line in distribution.requires or ():
        match = _REQUIREMENT.match(line)
        wanted = _EXTRA.search(line.partition(";")[2])
        if match and (wanted is None or extras is None or wanted[1] in extras):
            asked = frozenset(part.strip() for part in (match[2] or "").split(",") if part.strip())
            yield _normal(match[1]), asked


def _packages_digest(names: Iterable[str]) -> str:
    return digest(canonical([[name, *_files(name)] for name in sorted(names)]))


def _files(package: str) -> list[list[str]]:
    """Path and digest of each file of a package (or of a single module), without what Python compiles beside them."""
    spec = importlib.util.find_spec(package)
    if spec is None or (spec.origin is None and not spec.submodule_search_locations):
        raise PluginError(f"the files of package {package} cannot be found")
    if not spec.submodule_search_locations:
        return [[Path(str(spec.origin)).name, _file_digest(Path(str(spec.origin)))]]
    listed = []
    for root in map(Path, spec.submodule_search_locations):
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in {".pyc", ".pyo"}:
                name = path.relative_to(root).as_posix().encode("ascii", "backslashreplace").decode()
                listed.append([name, _file_digest(path)])
    return sorted(listed)


def _file_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
