"""One finished run, and reports signed over it in each way that a report can be signed; made once a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from auditor.signing.attachment import attachments_of
from auditor.signing.sign import sign_pdf
from signing_kit import KINDS, NOW, Signed, chain, identity, local_authority, small_pdf, small_run, stamper


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run with a complete disclosure. Not to be changed."""
    return small_run(tmp_path_factory.mktemp("signed-run"))


@pytest.fixture(scope="session")
def attached(finished_run: Path) -> Mapping[str, bytes]:
    """The files that belong into its report."""
    return attachments_of(finished_run / "ledger.sqlite", finished_run / "findings.json")


@pytest.fixture(scope="session")
def signed_reports(attached: Mapping[str, bytes]) -> Mapping[str, Signed]:
    """Signed reports by kind: one key alone, a chain of three, each with and without a timestamp."""
    made = {}
    for kind in KINDS:
        signer = chain() if kind in {"chain", "stamped-chain"} else identity("Signer")
        authority = local_authority(stamper(three_levels=kind == "stamped-chain")) if "stamped" in kind else None
        made[kind] = Signed(sign_pdf(small_pdf(), attached, signer.key(), NOW, authority), signer)
    return made


@pytest.fixture(params=KINDS)
def signed(request: pytest.FixtureRequest, signed_reports: Mapping[str, Signed]) -> Signed:
    """Each kind in turn."""
    return signed_reports[str(request.param)]


@pytest.fixture
def file_of(tmp_path: Path) -> Callable[[bytes], Path]:
    """Writes bytes as a report."""

    def write(data: bytes) -> Path:
        path = tmp_path / "report.pdf"
        path.write_bytes(data)
        return path

    return write
