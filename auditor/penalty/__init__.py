"""The core's own analysis: penalty-aware scores, canaries, comparisons, exclusions and the panel's agreement."""

from __future__ import annotations

from auditor.penalty.analysis import PenaltyAnalysis

__all__ = ["PenaltyAnalysis"]
