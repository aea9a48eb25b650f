"""The report as one self-contained HTML file: every number, every figure, every trial."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_report_writers"]


@hookimpl
def auditor_report_writers() -> list[Offer]:
    """The writer ``html``."""
    return [
        Offer(
            "html", "one HTML file that works from disk, with a page for each trial", "auditor_html.writer:HtmlWriter"
        )
    ]
