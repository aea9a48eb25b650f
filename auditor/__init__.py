"""rag-auditor: does this RAG product answer from the documents it was given, or decline, and how sure are we?

``auditor.open(run)`` gives a finished run as data frames and typed findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    from auditor.archive import Run

__all__ = ["__version__", "open"]

__version__ = "0.1.0"


def open(run: str | PathLike[str]) -> Run:
    """A run folder, or a ledger file in it, read only. See ``auditor.archive.Run``."""
    from auditor.archive import Run

    return Run(run)
