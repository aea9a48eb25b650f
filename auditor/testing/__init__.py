"""Contract tests and test doubles for plugin authors.

Subclass a contract in a test file of the plugin, say how the plugin is made, and pytest runs the whole contract::

    from auditor.testing import SystemContract

    class TestAcmeSearch(SystemContract):
        def make(self, folder):
            return AcmeSearch(AcmeConfig())

Each test's docstring says what it checks. ``auditor.testing.doubles`` holds an echo system, an echo judge and a chat
model with scripted replies, for tests of everything that needs one of these and no vendor.
"""

from __future__ import annotations

from auditor.testing.analysis import AnalysisContract
from auditor.testing.doubles import EchoJudge, EchoSystem, ScriptedChatModel, ScriptedWork, SpySystem, no_wire
from auditor.testing.label_kind import LabelKindContract
from auditor.testing.labeller import LabellerContract
from auditor.testing.package import PluginPackageContract
from auditor.testing.planted import Planted, planted, told
from auditor.testing.source import CorpusSourceContract, QuestionSourceContract
from auditor.testing.system import SystemContract
from auditor.testing.writer import ReportWriterContract

__all__ = [
    "AnalysisContract",
    "CorpusSourceContract",
    "EchoJudge",
    "EchoSystem",
    "LabelKindContract",
    "LabellerContract",
    "Planted",
    "PluginPackageContract",
    "QuestionSourceContract",
    "ReportWriterContract",
    "ScriptedChatModel",
    "ScriptedWork",
    "SpySystem",
    "SystemContract",
    "no_wire",
    "planted",
    "told",
]
