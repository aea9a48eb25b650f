"""Checking a signed report, line by line: signature, signer, timestamp, attachments, chain, seal, findings.

Invariants: what is not checked is never reported as passed; no plugin is loaded, no socket opened; nothing beyond
pyHanko and the standard library is needed but for the last line, which recomputes the findings.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from auditor.errors import AuditorError, ConfigurationError, ExitCode, NotChecked, SignatureError
from auditor.ledger import Check, CheckState, VerifyReport, verify
from auditor.ledger.database import open_regular
from auditor.signing.attachment import LIMITS, Attached, LedgerState, read_attachments
from auditor.signing.certificate import Wanted, ancestry, check_path, fingerprint, is_self_signed, name_of
from auditor.signing.cms import Signature, read_signature
from auditor.signing.disclosure import require_disclosure
from auditor.signing.document import Document, open_document
from auditor.signing.envelope import open_envelope

__all__ = ["SignedReport", "check_report", "read_report"]

_FILE_BYTES: Final = 2**28
_NO_LEDGER: Final = "no ledger was given; --ledger RUN does"


@dataclass(frozen=True, slots=True)
class SignedReport:
    """The checks of a signed report, and what they come to."""

    path: Path
    checks: tuple[Check, ...]
    exit_code: ExitCode


@dataclass(frozen=True, slots=True)
class _Report:
    signature: Signature
    document: Document

    @property
    def moment(self) -> datetime:
        """When it was signed: what the authority says, or what the signer claims."""
        stamp = self.signature.timestamp
        return self.document.claimed if stamp is None else stamp.time


@dataclass(slots=True)
class _Lines:
    """The lines so far. ``open``: something that was asked for could not be checked."""

    checks: list[Check]
    open: bool = False

    def passed(self, name: str, detail: str) -> None:
        self.checks.append(Check(name, CheckState.PASSED, detail))

    def failed(self, name: str, detail: str) -> None:
        self.checks.append(Check(name, CheckState.FAILED, detail))

    def unchecked(self, names: Collection[str], why: str, *, asked: bool = False) -> None:
        self.open = self.open or asked
        self.checks.extend(Check(name, CheckState.NOT_CHECKED, why) for name in names)

    def exit_code(self) -> ExitCode:
        """Tampered before unvouched before not checked; the signer's line alone never means tampered."""
        failed = {check.name for check in self.checks if check.state is CheckState.FAILED}
        if failed - {"signer"}:
            return ExitCode.TAMPERED
        if failed:
            return ExitCode.NOT_VOUCHED
        if self.open:
            return ExitCode.NOT_CHECKED
        vouched = any(check.name == "signer" and check.state is CheckState.PASSED for check in self.checks)
        return ExitCode.OK if vouched else ExitCode.NOT_VOUCHED


def check_report(
    path: Path, *, ledger: Path | None = None, wanted: Wanted | None = None, trusted: Collection[str] = ()
) -> SignedReport:
    """All checks of a signed PDF.

    :param ledger: run folder, ledger file or JSONL export that the report is said to rest on. :param wanted: whom it
        has to be signed by. :param trusted: third parties' analyses that may be loaded to recompute their sections.
    Raises ``StorageError`` when the file cannot be read; all else is in the lines.
    """
    lines = _Lines([])
    attached = _check_file(_read_file(path), wanted, lines)
    if attached is None:
        lines.unchecked(("chain", "seal", "findings"), "the report they have to belong to does not hold")
    elif ledger is None:
        lines.unchecked(("chain", "seal", "findings"), _NO_LEDGER)
    else:
        _check_ledger(ledger, attached, trusted, lines)
    return SignedReport(path, tuple(lines.checks), lines.exit_code())


def read_report(data: bytes) -> tuple[Signature, Document, Attached]:
    """A signed report whose signature and attachments hold, whoever signed it; ``SignatureError`` otherwise."""
    report = _open(data)
    attached = read_attachments(report.document.attachments)
    return report.signature, report.document, attached


def _read_file(path: Path) -> bytes:
    with os.fdopen(open_regular(path), "rb") as file:
        data = file.read(_FILE_BYTES + 1)
    if len(data) > _FILE_BYTES:
        raise NotChecked(f"{path}: larger than {_FILE_BYTES} bytes, more than any report")
    return data


def _open(data: bytes) -> _Report:
    """Bytes first: the structure is read only when a signature holds over all of them."""
    envelope = open_envelope(data)
    signature = read_signature(envelope.contents, envelope.digest)
    return _Report(signature, open_document(data, envelope, LIMITS))


def _check_file(data: bytes, wanted: Wanted | None, lines: _Lines) -> Attached | None:
    try:
        report = _open(data)
    except SignatureError as error:
        lines.failed("signature", str(error))
        lines.unchecked(("signer", "timestamp", "attachments"), "the signature does not hold")
        return None
    level = "B-B" if report.signature.timestamp is None else "B-T"
    lines.passed("signature", f"PAdES {level} over all {len(data)} bytes; certifies the file and forbids any change")
    _check_signer(report, wanted, lines)
    _check_timestamp(report, lines)
    return _check_attachments(report, lines)


def _check_signer(report: _Report, wanted: Wanted | None, lines: _Lines) -> None:
    path = report.signature.path
    who = f"{name_of(path[0])}, {fingerprint(path[0])}"
    try:
        check_path(path, report.moment)
    except SignatureError as error:
        lines.failed("signer", f"{who}: {error}")
        return
    if wanted is None:
        lines.unchecked(("signer",), f"{who}: identity not vouched for, {_standing(report)}; --signer makes it binding")
    elif wanted.fingerprint == fingerprint(path[0]):
        lines.passed("signer", f"{who}: the one asked for")
    elif (authority := _authority(report, wanted)) is not None:
        lines.passed("signer", f"{who}: under {authority}, which was asked for")
    else:
        lines.failed("signer", f"{who}: another than the one asked for, {wanted.fingerprint}")


def _standing(report: _Report) -> str:
    path = report.signature.path
    if len(path) == 1:
        own = is_self_signed(path[0])
        return "self-signed" if own else "and its issuer's certificate is not in the file"
    return f"its chain ends with {name_of(path[-1])}, {fingerprint(path[-1])}"


def _authority(report: _Report, wanted: Wanted) -> str | None:
    """Name of the wanted certificate where the signer's path leads up to it."""
    path = report.signature.path
    if wanted.certificate is not None:
        path = ancestry(path[0], (*path[1:], wanted.certificate))
    for place, certificate in enumerate(path):
        if fingerprint(certificate) == wanted.fingerprint:
            try:
                check_path(path[: place + 1], report.moment)
            except SignatureError:
                return None
            return name_of(certificate)
    return None


def _check_timestamp(report: _Report, lines: _Lines) -> None:
    stamp = report.signature.timestamp
    if stamp is None:
        claimed = report.document.claimed.isoformat()
        lines.unchecked(("timestamp",), f"there is none; {claimed} is the signer's own claim")
        return
    who = f"{name_of(stamp.path[0])}, {fingerprint(stamp.path[0])}"
    lines.passed("timestamp", f"{stamp.time.isoformat()} by {who}: an authority that nobody here vouches for")


def _check_attachments(report: _Report, lines: _Lines) -> Attached | None:
    try:
        attached = read_attachments(report.document.attachments)
        require_disclosure(attached.protocol)
    except (SignatureError, ConfigurationError) as error:
        lines.failed("attachments", str(error))
        return None
    lines.passed("attachments", f"{', '.join(sorted(LIMITS))}; the findings name this protocol and this seal")
    return attached


def _check_ledger(path: Path, attached: Attached, trusted: Collection[str], lines: _Lines) -> None:
    file = path / "ledger.sqlite" if path.is_dir() else path
    try:
        report = verify(file)
    except AuditorError as error:
        lines.unchecked(("chain", "seal", "findings"), str(error), asked=True)
        return
    broken = [check for check in report.checks if check.state is not CheckState.PASSED and check.name in _CHAIN]
    if broken:
        lines.failed("chain", f"{broken[0].name}: {broken[0].detail}")
        lines.unchecked(("seal", "findings"), "the ledger is not whole")
        return
    lines.passed("chain", f"{report.count} entries follow from each other{_withheld(report)}")
    if _check_seal(report, attached.ledger, lines):
        _check_findings(file, attached, report.count, trusted, lines)
    else:
        lines.unchecked(("findings",), "this is not the ledger that the report was signed over")


_CHAIN: Final = frozenset({"form", "database", "chain", "bodies", "structure", "seals"})


def _withheld(report: VerifyReport) -> str:
    return f"; {report.withheld} texts withheld" if report.withheld else ""


def _check_seal(report: VerifyReport, signed: LedgerState, lines: _Lines) -> bool:
    found = f"{report.count} entries, head {report.head}"
    if (report.count, report.head) != (signed.count, signed.head):
        lines.failed("seal", f"{found}; signed were {signed.count} entries, head {signed.head[:80]}")
        return False
    if report.seal is None:
        lines.failed("seal", f"{found}, but no seal stands at the end")
        return False
    lines.passed("seal", f"sealed; {found}, as signed")
    return True


def _check_findings(file: Path, attached: Attached, count: int, trusted: Collection[str], lines: _Lines) -> None:
    """Last, and apart: only this needs the auditor's own analyses and what they stand on."""
    if attached.findings is None:
        lines.unchecked(("findings",), attached.unread, asked=True)
        return
    from auditor.signing.recompute import recomputed

    try:
        checks = recomputed(attached.findings, attached.protocol_digest, file, count, trusted)
    except NotChecked as error:
        lines.unchecked(("findings",), str(error), asked=True)
        return
    lines.checks.extend(checks)
    lines.open = lines.open or any(check.state is CheckState.NOT_CHECKED for check in checks)
