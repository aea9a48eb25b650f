"""Findings as plain tables: CSV that is safe to open in a spreadsheet, and JSON Lines for programs."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_report_writers"]


@hookimpl
def auditor_report_writers() -> list[Offer]:
    """The writer ``tables``."""
    return [Offer("tables", "CSV and JSON Lines, one file a table", "auditor_tables.writer:TablesWriter")]
