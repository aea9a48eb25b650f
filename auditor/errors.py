"""The error tree, and the exit code that each branch of it gives the command line.

AuditorError                      1   anything of ours that nobody foresaw
├── ConfigurationError            3   the user's input is wrong: names file, line, key, nearest right name
│   ├── SpecError                 3   audit.yaml
│   ├── CorpusError               3   documents, manifest
│   └── QuestionError             3   questions, references, proofs
├── PluginError                   4   a plugin does not load, is unknown, or breaks its contract
├── RunError                      5   a run that cannot start, go on or end
│   ├── IncompleteRun             5   ended, but cells were not asked or votes are missing
│   ├── ChangedRun                6   protocol, code or world differ from what the run was begun with
│   └── LockedRun                 7   another process holds the run folder
├── StorageError                  8   disk full, folder read-only, file cannot be opened
├── LedgerError                  10   entries do not form one whole chain (tampered, truncated, foreign)
│   └── UnsealedLedger           11   whole as far as it goes, but nothing vouches for its tail
├── SignatureError               10   a signed report is not, byte for byte, what was signed
├── NotVouched                   12   verifies, but who signed is unknown or not whom was asked for
├── NotChecked                   13   something needed for the check is missing
└── CallError                     1   one call to a system or model failed; carries its fault
    ├── JudgeFailed               1   a labeller gave no usable label, after repair
    └── Abandoned                 1   the engine gave the call up; its ports refuse further work

Faults of calls are values (``Fault``), not classes: a vendor plugin maps each of its SDK's errors to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

__all__ = [
    "Abandoned",
    "AuditorError",
    "CallError",
    "ChangedRun",
    "ConfigurationError",
    "CorpusError",
    "ExitCode",
    "Fault",
    "FaultReport",
    "IncompleteRun",
    "JudgeFailed",
    "LedgerError",
    "LockedRun",
    "NotChecked",
    "NotVouched",
    "PluginError",
    "QuestionError",
    "RunError",
    "SignatureError",
    "SpecError",
    "StorageError",
    "UnsealedLedger",
]


class ExitCode(IntEnum):
    """What the ``auditor`` command says to the shell. Documented in docs/exit-codes.md."""

    OK = 0
    FAILED = 1
    USAGE = 2
    CONFIGURATION = 3
    PLUGIN = 4
    INCOMPLETE = 5
    CHANGED = 6
    LOCKED = 7
    STORAGE = 8
    TAMPERED = 10
    NOT_SEALED = 11
    NOT_VOUCHED = 12
    NOT_CHECKED = 13
    INTERRUPTED = 130


class Fault(StrEnum):
    """Why a call failed. The engine decides by it whether to send again, wait, or stop the endpoint."""

    TIMEOUT = "timeout"  # past its deadline; the call is abandoned, never sent again
    TRANSIENT = "transient"  # 5xx, connection reset: sent again with back-off
    RATE_LIMITED = "rate_limited"  # 429: sent again no earlier than Retry-After says
    PERMANENT = "permanent"  # the request itself is refused: never sent again
    AUTHENTICATION = "authentication"  # stops the endpoint
    QUOTA_EXHAUSTED = "quota_exhausted"  # stops the endpoint
    CONTRACT = "contract"  # the vendor's reply breaks its own documentation
    INTERNAL = "internal"  # the plugin raised something it does not know


RETRIED_FAULTS = frozenset({Fault.TRANSIENT, Fault.RATE_LIMITED})
STOPPING_FAULTS = frozenset({Fault.AUTHENTICATION, Fault.QUOTA_EXHAUSTED})


@dataclass(frozen=True, slots=True)
class FaultReport:
    """What ``classify(error)`` returns.

    ``retry_after`` is the vendor's header as sent (seconds, or an HTTP date); ``retry_after_ms`` likewise.
    The engine parses and bounds both, so a plugin passes them on unread.
    """

    fault: Fault
    message: str
    retry_after: str | None = None
    retry_after_ms: str | None = None
    request_id: str | None = None


class AuditorError(Exception):
    """Root of every error that this project raises on purpose."""

    exit_code = ExitCode.FAILED


class ConfigurationError(AuditorError):
    """The user's input is wrong. The text says where and what to do.

    :param file: path as the user named it. :param line: 1-based, when known.
    """

    exit_code = ExitCode.CONFIGURATION

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None) -> None:
        place = "" if file is None else file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}" if place else message)
        self.message, self.file, self.line = message, file, line


class SpecError(ConfigurationError):
    """audit.yaml has an unknown key, a wrong type, or names something that does not exist."""


class CorpusError(ConfigurationError):
    """The corpus is empty, unreadable, or leads out of its folder."""


class QuestionError(ConfigurationError):
    """A question is malformed: duplicate id, missing reference, broken proof."""


class PluginError(AuditorError):
    """A plugin does not load, is unknown, or breaks its contract."""

    exit_code = ExitCode.PLUGIN


class RunError(AuditorError):
    """A run cannot start, go on or end."""

    exit_code = ExitCode.INCOMPLETE


class IncompleteRun(RunError):
    """The run ended with cells not asked."""


class ChangedRun(RunError):
    """What the run depends on differs from what it was begun with; the text names the difference."""

    exit_code = ExitCode.CHANGED


class LockedRun(RunError):
    """Another process holds the run folder."""

    exit_code = ExitCode.LOCKED


class StorageError(AuditorError):
    """Disk full, folder read-only, file not to be opened. What is already written stays whole."""

    exit_code = ExitCode.STORAGE


class LedgerError(AuditorError):
    """The entries do not form one whole chain. Carries the first entry that is wrong, when one can be named."""

    exit_code = ExitCode.TAMPERED

    def __init__(self, message: str, *, sequence: int | None = None) -> None:
        super().__init__(message if sequence is None else f"entry {sequence}: {message}")
        self.sequence = sequence


class UnsealedLedger(LedgerError):
    """The chain holds, but no seal stands at its end, so a cut tail would not show."""

    exit_code = ExitCode.NOT_SEALED


class SignatureError(AuditorError):
    """A signed report is not what was signed, or its signature holds more than it may."""

    exit_code = ExitCode.TAMPERED


class NotVouched(AuditorError):
    """Verifies, but the signer is unknown or not the one asked for."""

    exit_code = ExitCode.NOT_VOUCHED


class NotChecked(AuditorError):
    """A check could not be made; the text says what is missing."""

    exit_code = ExitCode.NOT_CHECKED


class CallError(AuditorError):
    """One call failed. Raised by plugins that know the fault, and by the engine's ports."""

    def __init__(self, report: FaultReport, *, provider: str = "", attempt: int = 0) -> None:
        super().__init__(f"{provider + ': ' if provider else ''}{report.fault}: {report.message}")
        self.report, self.provider, self.attempt = report, provider, attempt


class JudgeFailed(CallError):
    """A labeller gave no usable label."""


class Abandoned(CallError):
    """The engine gave this call up (deadline, shutdown); its ports refuse further work."""
