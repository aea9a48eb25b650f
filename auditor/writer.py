"""The contract of report writers: findings in, files out. A writer formats; it computes nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from auditor.findings import Findings, Section

__all__ = ["ReportData", "ReportWriter", "VoteRow"]


@dataclass(frozen=True, slots=True)
class VoteRow:
    """What one labeller said of one unique input, after repair and before. A non-label stands where no vote does."""

    kind: str
    input: str
    labeller: str
    family: str
    vote: str | None
    non_label: str | None
    first_vote: str | None
    first_non_label: str | None
    reduced: str | None


@dataclass(frozen=True, slots=True)
class ReportData:
    """What a writer is given.

    ``texts``: (ledger key → text) of questions, references, answers and evidence; a text that was withheld is absent.
    ``public``: keep texts, evidence, document names and question wording out. ``first_page``: what a reader who is no
    statistician needs, as the core made it from the same record.
    """

    findings: Findings
    protocol: Mapping[str, object]
    texts: Mapping[str, str] = field(default_factory=dict)
    public: bool = False
    votes: tuple[VoteRow, ...] = ()
    first_page: Section | None = None


class ReportWriter(ABC):
    """One format. Stateless."""

    @abstractmethod
    def write(self, data: ReportData, folder: Path) -> Sequence[Path]:
        """Write the report's files into ``folder`` and return their paths. An unknown section is shown by its
        blocks.
        """
