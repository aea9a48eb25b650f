"""Signing the report of a run: what has to hold first, and the file put in place of the unsigned one."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from auditor.archive import Run, verify_run
from auditor.errors import RunError, StorageError
from auditor.ledger import CheckState
from auditor.signing.attachment import attachments_of
from auditor.signing.check import read_report
from auditor.signing.disclosure import require_disclosure
from auditor.signing.keys import SigningKey
from auditor.signing.sign import sign_pdf
from auditor.signing.timestamp import Authority

__all__ = ["require_signable", "sign_report"]


def require_signable(run: Run) -> None:
    """Raise unless the report of ``run`` may be signed: ``ConfigurationError`` without a complete disclosure,
    ``RunError`` when its ledger is not whole and sealed, or its findings do not follow from it.
    """
    require_disclosure(run.skeleton.body)
    report = verify_run(run.folder.path)
    failed = [check for check in report.checks if check.state is CheckState.FAILED]
    if failed:
        raise RunError(f"{run.folder.path} does not verify, so its report is not signed: {failed[0].detail}")


def sign_report(run: Run, pdf: Path, key: SigningKey, now: datetime, authority: Authority | None = None) -> None:
    """Sign ``pdf``, a report of ``run`` that ``require_signable`` let pass, in its place.

    A kill leaves the unsigned file or the signed one. Raises ``SignatureError``, ``CallError``, ``StorageError``.
    """
    attachments = attachments_of(run.folder.ledger, run.folder.findings)
    beside = pdf.with_name(pdf.name + ".part")
    try:
        signed = sign_pdf(pdf.read_bytes(), attachments, key, now, authority)
        read_report(signed)
        with beside.open("wb") as file:
            file.write(signed)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(pdf)
    except OSError as error:
        raise StorageError(f"{pdf}: cannot write the signed report: {error.strerror or error}") from error
