"""The package keeps the contract of plugins and offers its prover under the name that specs use."""

from __future__ import annotations

from auditor.discovery import discover
from auditor.testing.package import PluginPackageContract


class TestKnowledgeGapPackage(PluginPackageContract):
    """See the contract."""

    package = "auditor_knowledge_gap"


def test_prover_is_offered() -> None:
    """``knowledge-gap`` is found through the hook."""
    from auditor_knowledge_gap.builder import KnowledgeGap

    assert discover().canary_builder("knowledge-gap") is KnowledgeGap
