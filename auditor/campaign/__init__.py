"""The campaign: from a spec to findings, stage by stage, each of which can stop and go on."""

from __future__ import annotations

from auditor.campaign.run import RunOptions, RunResult, RunState, prepare_campaign, run_campaign

__all__ = ["RunOptions", "RunResult", "RunState", "prepare_campaign", "run_campaign"]
