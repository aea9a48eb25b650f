"""The ``auditor`` command: one file a subcommand, imported only when it is called.

Invariant: ``auditor --help`` imports neither a subcommand nor anything heavy; what leaves this package for a terminal
went through ``auditor.cli.text``.
"""

from __future__ import annotations

from auditor.cli.group import cli

__all__ = ["cli"]
