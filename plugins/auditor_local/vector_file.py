"""Vectors as cached files: named by the digest of all they are made from, and checked when they are read.

Invariant: what comes back is what was written, or is made again; a broken file is never an index.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from auditor.canonical import digest
from auditor_local.embedding import Vectors

__all__ = ["cached"]


def cached(folder: Path, key: str, make: Callable[[], Vectors]) -> Vectors:
    """The vectors under ``key`` (a digest), read from ``folder`` or made and written there."""
    path = folder / f"vectors-{key.rpartition(':')[2]}.npy"
    found = _read(path)
    if found is not None:
        return found
    made = make()
    _write(path, made)
    return made


def _read(path: Path) -> Vectors | None:
    import numpy as np

    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    if head.decode("ascii", "replace") != digest(body):
        return None
    loaded: Vectors = np.load(io.BytesIO(body), allow_pickle=False)
    return loaded


def _write(path: Path, vectors: Vectors) -> None:
    """Whole or not at all: two processes may write the same file."""
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, vectors, allow_pickle=False)
    body = buffer.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".vectors-")
    with os.fdopen(handle, "wb") as file:
        file.write(digest(body).encode("ascii") + b"\n" + body)
    Path(name).replace(path)
