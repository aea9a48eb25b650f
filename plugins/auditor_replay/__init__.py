"""Recorded answers stand in for a system: the recording replayed, its questions, and its own reviews as a label."""

from __future__ import annotations

from auditor.plugin import Offer, hookimpl

__all__ = ["auditor_label_kinds", "auditor_question_sources", "auditor_systems"]


@hookimpl
def auditor_systems() -> list[Offer]:
    """The kind ``replay``."""
    return [Offer("replay", "recorded answers, looked up by question text", "auditor_replay.system:Replay")]


@hookimpl
def auditor_question_sources() -> list[Offer]:
    """The source ``recording``."""
    return [Offer("recording", "the questions of a recording", "auditor_replay.question:RecordingSource")]


@hookimpl
def auditor_label_kinds() -> list[Offer]:
    """The label kind ``reviewed``."""
    return [Offer("reviewed", "the grade that a recording carries", "auditor_replay.review:ReviewedKind")]
