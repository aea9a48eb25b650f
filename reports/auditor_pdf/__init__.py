"""Findings as a PDF that one can send: cover, first page, every section, method, violated canaries, glossary."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_report_writers"]


@hookimpl
def auditor_report_writers() -> list[Offer]:
    """The writer ``pdf``."""
    return [Offer("pdf", "one PDF file to send and to sign", "auditor_pdf.writer:PdfWriter")]
