"""Findings on standard output."""

from __future__ import annotations

import click

from auditor.cli.output import is_terminal, say, width
from auditor.cli.tables import section_lines
from auditor.findings import Findings

__all__ = ["show_findings"]


def show_findings(findings: Findings) -> None:
    """Every section, in the order of the findings."""
    emphasis = _bold if is_terminal() else str
    for number, section in enumerate(findings.sections):
        if number:
            say()
        for line in section_lines(section, width(), emphasis=emphasis):
            say(line)


def _bold(text: str) -> str:
    return click.style(text, bold=True)
