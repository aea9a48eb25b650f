"""Weights: where a GGUF file is, and what it is.

Invariant: a file is named by its digest in the protocol, never by its path; a package that holds one is not imported.
"""

from __future__ import annotations

import hashlib
import importlib.util
from functools import lru_cache
from pathlib import Path

from auditor.canonical import ALGORITHM
from auditor.errors import ConfigurationError

__all__ = ["MAGIC", "weights_digest", "weights_of_package"]

MAGIC = b"GGUF"
_BLOCK_BYTES = 1 << 20


def weights_of_package(package: str) -> Path:
    """The one GGUF file in an installed package. Raises ``ConfigurationError`` that says what is missing."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ConfigurationError(f"package {package!r} is not installed: install it (with --no-deps), or name a file")
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    found = sorted(path for folder in folders for path in folder.glob("*.gguf"))
    if len(found) != 1:
        raise ConfigurationError(f"package {package!r} holds {len(found)} GGUF files, not one")
    return found[0]


def weights_digest(path: Path) -> str:
    """SHA-256 of the file. Raises ``ConfigurationError`` where it cannot be read or is no GGUF file."""
    try:
        state = path.stat()
        return _digest(path, state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error.strerror}", file=path.name) from error


@lru_cache(maxsize=8)
def _digest(path: Path, size_bytes: int, changed_ns: int) -> str:
    hashed = hashlib.sha256()
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ConfigurationError("is no GGUF file", file=path.name)
        file.seek(0)
        while block := file.read(_BLOCK_BYTES):
            hashed.update(block)
    return f"{ALGORITHM}:{hashed.hexdigest()}"
