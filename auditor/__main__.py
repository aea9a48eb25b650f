"""``python -m auditor``: the same as the command ``auditor``."""

from __future__ import annotations

from auditor.cli import cli

if __name__ == "__main__":
    cli()
