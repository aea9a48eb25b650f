"""Where the demo's files are in the installed package.

Invariant: every path lies inside the package, so that the demo runs from a wheel as it does from a source tree.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

__all__ = ["demo", "demo_llm", "folder"]


def folder() -> Path:
    """The folder that holds the spec, the documents and the question files."""
    return Path(str(files("auditor_demo_corpus")))


def demo() -> Path:
    """Path of the spec."""
    return folder() / "demo.yaml"


def demo_llm() -> Path:
    """Path of the spec with a language model in this process."""
    return folder() / "demo-llm.yaml"
