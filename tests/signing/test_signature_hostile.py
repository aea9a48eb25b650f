"""Files made to break whoever reads them, under a signature that holds: a clear line each, no traceback, in bounds."""

from __future__ import annotations

import hashlib
import json
import re
import resource
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import ExitCode, NotChecked, SignatureError, StorageError
from auditor.signing import check
from auditor.signing.attachment import LIMITS, read_attachments
from auditor.signing.check import check_report, read_report
from auditor.signing.cms import assembled, canonical_token, read_signature, read_token, signed_attributes
from auditor.signing.sign import sign_pdf
from scratch_site import run_auditor
from signing_kit import NOW, identity, small_pdf

SIGNATURE = b"9 0 obj\n<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M(D:20261130120000Z)"
SIGNATURE += b"/ByteRange [0 ########## ########## ##########]/Contents <%s>\n" % (b"0" * 8000)
SIGNATURE += b"/Reference[<</Type/SigRef/TransformMethod/DocMDP/TransformParams<</P 1/V/1.2>>>>]>>\nendobj\n"
FIELD = b"8 0 obj\n<</FT/Sig/T(S)/V 9 0 R>>\nendobj\n"


def hand_signed(before: bytes, after: bytes = b"") -> bytes:
    """``before``, a signature, ``after``; the signature holds over all of it, whatever it is."""
    signer = identity("Hostile", number=8)
    data = before + SIGNATURE + after
    start = data.index(b"/Contents <") + len(b"/Contents ")
    end = data.index(b">", start) + 1
    numbers = [b"%010d" % number for number in (start, end, len(data) - end)]
    data = re.sub(rb"#{10}", lambda _: numbers.pop(0), data)
    digest = hashlib.sha256(data[:start] + data[end:]).digest()
    attributes = signed_attributes(digest, signer.certificates)
    message = assembled(signer.certificates, signer.certificate, attributes, signer.key().sign(attributes.dump()))
    return data[: start + 1] + message.hex().upper().encode().ljust(end - start - 2, b"0") + data[end - 1 :]


def document(objects: bytes, trailer: bytes = b"<</Root 1 0 R/Size 20>>") -> bytes:
    """A file with a cross-reference table that is right, signed by hand."""
    draft = _with_table(objects, trailer, len(b"%PDF-1.7\n" + FIELD + objects) + len(SIGNATURE))
    return hand_signed(b"%PDF-1.7\n" + FIELD + objects, draft)


def _with_table(objects: bytes, trailer: bytes, table: int) -> bytes:
    whole = b"%PDF-1.7\n" + FIELD + objects + SIGNATURE
    trailer = trailer.replace(b"@@", b"%d" % table)
    rows = b"".join(
        b"%s 1\n%010d 00000 n \n" % (found[1], found.start()) for found in re.finditer(rb"(?m)^(\d+) 0 obj", whole)
    )
    return b"xref\n0 1\n0000000000 65535 f \n" + rows + b"trailer\n" + trailer + b"\nstartxref\n%d\n%%%%EOF\n" % table


CATALOG = b"1 0 obj\n<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[8 0 R]>>/Perms<</DocMDP 9 0 R>>%s>>\nendobj\n"
DEEP = 100_000

HOSTILE: Mapping[str, bytes] = {
    "no structure": hand_signed(b"%PDF-1.7\n"),
    "no structure, but an end": hand_signed(b"%PDF-1.7\n", b"startxref\n0\n%%EOF\n"),
    "deep arrays": document(CATALOG % (b"/Names" + b"[" * DEEP + b"]" * DEEP)),
    "deep dictionaries": document(CATALOG % (b"/Names" + b"<</A" * DEEP + b" 1" + b">>" * DEEP)),
    "an array that never ends": document(CATALOG % (b"/Names" + b"[" * DEEP)),
    "a number of 100,000 digits": document(CATALOG % (b"/Names " + b"9" * DEEP)),
    "an object that is itself": document(CATALOG % b"/Names 7 0 R" + b"7 0 obj\n7 0 R\nendobj\n"),
    "a name tree that is its own child": document(
        CATALOG % b"/Names<</EmbeddedFiles 7 0 R>>" + b"7 0 obj\n<</Kids[7 0 R]/Names[]>>\nendobj\n"
    ),
    "fields that are their own children": document(
        (CATALOG % b"").replace(b"[8 0 R]", b"[7 0 R]") + b"7 0 obj\n<</T(a)/Kids[7 0 R 8 0 R]>>\nendobj\n"
    ),
    "a table that comes before itself": document(CATALOG % b"", b"<</Root 1 0 R/Size 20/Prev @@>>"),
    "a table of a billion rows": hand_signed(
        b"%PDF-1.7\n", b"xref\n0 999999999\ntrailer\n<</Root 1 0 R>>\nstartxref\n8500\n%%EOF\n"
    ),
    "a file of a huge size": document(CATALOG % b"", b"<</Root 1 0 R/Size 999999999999999999999999>>"),
    "no catalog": document(b"", b"<</Size 20>>"),
    "a catalog that is a number": document(b"1 0 obj\n17\nendobj\n"),
    "encrypted": document(
        CATALOG % b"" + b"7 0 obj\n<</Filter/Standard/V 9>>\nendobj\n",
        b"<</Root 1 0 R/Size 20/Encrypt 7 0 R/ID[(a)(b)]>>",
    ),
    "attachments without an end": document(
        CATALOG % b"/Names<</EmbeddedFiles<</Names[(findings.json)7 0 R(findings.json)7 0 R]>>>>"
        + b"7 0 obj\n<</F(findings.json)/EF<</F 7 0 R>>>>\nendobj\n"
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_structure(name: str, file_of: Callable[[bytes], Path]) -> None:
    """A failed line within seconds; nothing but the lines."""
    begun = time.monotonic()
    report = check_report(file_of(HOSTILE[name]))
    assert time.monotonic() - begun < 10
    failed = [line for line in report.checks if line.state.value == "failed"]
    assert [line.name for line in failed] in (["signature"], ["attachments"])
    assert len(failed[0].detail) < 300
    assert report.exit_code is ExitCode.TAMPERED


def test_hand_signing_works() -> None:
    """The files above fail for their structure: the same way of signing gets a plain one as far as its attachments."""
    with pytest.raises(SignatureError, match="carries"):
        read_report(document(CATALOG % b""))


def test_attachment_that_unpacks_to_far_more_than_its_cap() -> None:
    """It is refused at its cap, without ever standing in memory."""
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(bytes(2**20)) for _ in range(200)) + packer.flush()
    head = (
        b"7 0 obj\n<</F(findings.json)/EF<</F 6 0 R>>>>\nendobj\n6 0 obj\n<</Filter/FlateDecode/Length %d>>\nstream\n"
    )
    tree = CATALOG % b"/Names<</EmbeddedFiles<</Names[(findings.json)7 0 R]>>>>"
    data = document(tree + head % len(packed) + packed + b"\nendstream\nendobj\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(SignatureError, match="larger than"):
        read_report(data)
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 120 * 1024


@pytest.mark.parametrize("filters", [b"/Crypt", b"[/FlateDecode/FlateDecode]", b"/ASCIIHexDecode"])
def test_attachment_packed_otherwise(filters: bytes) -> None:
    """Only what our own signing writes is unpacked."""
    tree = CATALOG % b"/Names<</EmbeddedFiles<</Names[(findings.json)7 0 R]>>>>"
    entry = b"7 0 obj\n<</F(findings.json)/EF<</F 6 0 R>>>>\nendobj\n"
    stream = b"6 0 obj\n<</Filter%s/Length 2>>\nstream\n{}\nendstream\nendobj\n" % filters
    with pytest.raises(SignatureError, match="packed in an unknown way"):
        read_report(document(tree + entry + stream))


def changed(attached: Mapping[str, bytes], name: str, data: bytes) -> dict[str, bytes]:
    """The attachments with one of them replaced."""
    return {**attached, name: data}


@pytest.mark.parametrize("name", sorted(LIMITS))
@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"null", b"{", b"\xff\xfe", b'{"a":NaN}', b"[" * 200_000, b'{"a":' + b"9" * 100_000 + b"}", b"{}"],
    ids=lambda data: repr(data[:12]),
)
def test_hostile_json(name: str, data: bytes, attached: Mapping[str, bytes]) -> None:
    """Attachments that are no JSON object, or not the one that belongs there."""
    with pytest.raises(SignatureError):
        read_attachments(changed(attached, name, data))


@pytest.mark.parametrize("part", ["measurement", "operations", "sections", "blocks", "trials", "name"])
@pytest.mark.parametrize("value", [None, 3, "x", [], {}, [[[]]]])
def test_findings_of_another_form(
    part: str, value: Any, attached: Mapping[str, bytes], finished_run: Path, file_of: Callable[[bytes], Path]
) -> None:
    """Findings whose parts have other types: never an exception, and never passed."""
    findings = json.loads(attached["findings.json"])
    holder = {
        "measurement": findings,
        "operations": findings,
        "sections": findings["measurement"],
        "trials": findings["measurement"],
        "blocks": findings["measurement"]["sections"][0],
        "name": findings["measurement"]["sections"][0],
    }[part]
    holder[part] = value
    files = changed(attached, "findings.json", json.dumps(findings).encode())
    report = check_report(
        file_of(sign_pdf(small_pdf(), files, identity("Signer").key(), NOW)), ledger=finished_run, wanted=None
    )
    assert report.exit_code is ExitCode.TAMPERED
    assert "passed" not in [line.state.value for line in report.checks if line.name == "findings"]


@pytest.mark.parametrize(
    "data", [b"", b"0", b"00", b"30820000", b"3080" * 5000, b"FF" * 4000, b"30" * 3 + b"0" * 3001, b"g" * 10, b"\xff\n"]
)
def test_hostile_cms(data: bytes) -> None:
    """Contents that are no message."""
    with pytest.raises(SignatureError):
        read_signature(data, bytes(32))
    for read in (canonical_token, lambda der: read_token(der, b"")):
        with pytest.raises(SignatureError):
            read(data)


def test_file_that_is_too_large(file_of: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """More than any report: not read into memory, and said so."""
    monkeypatch.setattr(check, "_FILE_BYTES", 100)
    with pytest.raises(NotChecked, match="larger than"):
        check_report(file_of(bytes(101)))


def test_what_is_no_file(tmp_path: Path) -> None:
    """A folder and a pipe are refused, not waited for."""
    import os

    os.mkfifo(tmp_path / "pipe.pdf")
    (tmp_path / "folder.pdf").mkdir()
    for name in ("pipe.pdf", "folder.pdf", "nothing.pdf"):
        with pytest.raises(StorageError):
            check_report(tmp_path / name)


def test_names_cannot_reach_the_terminal(file_of: Callable[[bytes], Path], attached: Mapping[str, bytes]) -> None:
    """A certificate's name is a stranger's text: escapes and direction marks are shown, not sent."""
    signer = identity("Ev\u202eil \x1b[2J name", number=7)
    path = file_of(sign_pdf(small_pdf(), attached, signer.key(), NOW))
    done = run_auditor("verify", str(path))
    assert done.returncode == ExitCode.NOT_VOUCHED
    assert "\\u202e" in done.stdout and "\\x1b" in done.stdout
    assert not re.search("[\u202e\x1b]", done.stdout + done.stderr)
