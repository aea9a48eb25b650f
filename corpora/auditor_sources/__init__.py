"""Sources that read local files: folders of documents, and JSON Lines of questions."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_corpus_sources", "auditor_question_sources"]


@hookimpl
def auditor_corpus_sources() -> list[Offer]:
    """The folder source."""
    return [Offer("folder", "all files below a folder, byte for byte", "auditor_sources.folder:FolderSource")]


@hookimpl
def auditor_question_sources() -> list[Offer]:
    """The JSON Lines source."""
    return [Offer("jsonl", "one question a line", "auditor_sources.questions:JsonLinesSource")]
