"""Timestamps: asked for over loopback, brought into one form, and worth nothing over anything else (DESIGN §5)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asn1crypto import cms, core, tsp  # type: ignore[import-untyped] # the package has no types
from asn1crypto import x509 as asn1
from cryptography.x509.oid import ExtendedKeyUsageOID

from auditor.errors import CallError, ConfigurationError, Fault, SignatureError
from auditor.signing.certificate import der_of
from auditor.signing.check import read_report
from auditor.signing.cms import assembled, canonical_token, read_signature, read_token, signed_attributes
from auditor.signing.sign import sign_pdf
from auditor.signing.timestamp import http_authority
from signing_kit import NOW, Identity, http_stamper, identity, local_authority, small_pdf, stamper, stamper_of

STAMPING = [ExtendedKeyUsageOID.TIME_STAMPING]
SIGNATURE = b"any signature"


def token(source: Any, signature: bytes = SIGNATURE) -> bytes:
    """A canonical token over ``signature``."""
    return local_authority(source)(signature)


def raw_token(source: Any) -> bytes:
    """A token as an authority sends it."""
    imprint = {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": hashlib.sha256(SIGNATURE).digest()}
    request = tsp.TimeStampReq({"version": 1, "message_imprint": imprint, "cert_req": True})
    der: bytes = source.request_tsa_response(request)["time_stamp_token"].dump()
    return der


@pytest.mark.parametrize("three_levels", [False, True])
def test_over_http(three_levels: bool, attached: Mapping[str, bytes]) -> None:
    """A report stamped by an authority on loopback: the time is the authority's, with its whole chain."""
    later = NOW + timedelta(hours=1)
    with http_stamper(stamper(three_levels=three_levels, time=later)) as url:
        data = sign_pdf(small_pdf(), attached, identity("Signer").key(), NOW, http_authority(url, os.urandom))
    signature, document, _ = read_report(data)
    assert signature.timestamp is not None
    assert (signature.timestamp.time, document.claimed) == (later, NOW)
    assert len(signature.timestamp.path) == (3 if three_levels else 1)


@pytest.mark.parametrize(
    ("reply", "status", "fault"),
    [
        (b"no token", 200, Fault.CONTRACT),
        (b"", 200, Fault.CONTRACT),
        (bytes(2**17 + 1), 200, Fault.CONTRACT),
        (b"", 302, Fault.TRANSIENT),
        (b"", 500, Fault.TRANSIENT),
        (bytes.fromhex("30053003020102"), 200, Fault.CONTRACT),
        (bytes.fromhex("30053003020100"), 200, Fault.CONTRACT),
    ],
)
def test_authority_that_does_not_stamp(reply: bytes, status: int, fault: Fault) -> None:
    """One clear error; nothing is signed without the timestamp that was asked for. The last two: refused, and empty."""
    with http_stamper(stamper(), reply, status) as url, pytest.raises(CallError, match="timestamp authority") as caught:
        http_authority(url, os.urandom)(SIGNATURE)
    assert caught.value.report.fault is fault


def test_authority_that_is_not_there() -> None:
    """Nobody listens at the address."""
    with http_stamper(stamper()) as url:
        pass
    with pytest.raises(CallError, match="not reached"):
        http_authority(url, os.urandom)(SIGNATURE)


def test_reply_to_another_request() -> None:
    """A recorded reply holds another nonce."""
    with http_stamper(stamper()) as url:
        imprint = {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": hashlib.sha256(SIGNATURE).digest()}
        old = tsp.TimeStampReq({"version": 1, "message_imprint": imprint, "nonce": core.Integer(5), "cert_req": True})
        recorded = stamper().request_tsa_response(old).dump()
    with http_stamper(stamper(), recorded) as url, pytest.raises(CallError, match="did not send a timestamp"):
        http_authority(url, os.urandom)(SIGNATURE)


@pytest.mark.parametrize("url", ["", "tsa.example", "file:///etc/passwd", "ftp://x/", "https://"])
def test_address(url: str) -> None:
    """HTTP alone."""
    with pytest.raises(ConfigurationError, match="http"):
        http_authority(url, os.urandom)


def test_token_over_another_signature() -> None:
    """A token moved from one report to another."""
    made = token(stamper())
    assert read_token(made, SIGNATURE).time == NOW
    with pytest.raises(SignatureError, match="over another signature"):
        read_token(made, b"another")


def test_moved_token_in_a_report() -> None:
    """The same inside a whole signature: nothing else about it is wrong."""
    signer = identity("Signer").key()
    attributes = signed_attributes(bytes(32), signer.certificates)
    value = signer.sign(attributes.dump())
    right, wrong = token(stamper(), value), token(stamper(), b"another")
    for made, holds in ((right, True), (wrong, False)):
        der = assembled(signer.certificates, signer.certificates[0], attributes, value, made)
        contents = der.hex().upper().encode()
        if holds:
            assert read_signature(contents, bytes(32)).timestamp
        else:
            with pytest.raises(SignatureError, match="over another signature"):
                read_signature(contents, bytes(32))


@pytest.mark.parametrize(
    "purposes", [(), (ExtendedKeyUsageOID.CODE_SIGNING,), (*STAMPING, ExtendedKeyUsageOID.OCSP_SIGNING)]
)
def test_certificate_that_is_not_for_timestamps(purposes: Any) -> None:
    """RFC 3161 §2.3: that purpose and no other."""
    made = token(stamper_of(identity("TSA", number=6, purposes=purposes)))
    with pytest.raises(SignatureError, match="not for timestamps"):
        read_token(made, SIGNATURE)


def test_certificate_that_had_expired() -> None:
    """At the time that the token states."""
    ended = identity("TSA", number=6, purposes=STAMPING, ends=datetime(2026, 6, 1, tzinfo=UTC))
    with pytest.raises(SignatureError, match="was not valid at"):
        read_token(token(stamper_of(ended)), SIGNATURE)


def _with(der: bytes, change: Any) -> bytes:
    loaded = cms.ContentInfo.load(der)
    change(loaded["content"])
    made: bytes = loaded.dump(force=True)
    return made


def _crls(data: Any) -> None:
    data["crls"] = cms.RevocationInfoChoices([])


def _unsigned(data: Any) -> None:
    attribute = cms.CMSAttribute({"type": "1.2.3.4", "values": [core.OctetString(b"hidden")]})
    data["signer_infos"][0]["unsigned_attrs"] = cms.CMSAttributes([attribute])


def _stranger(data: Any) -> None:
    other = asn1.Certificate.load(der_of(identity("Other", number=9).certificate))
    data["certificates"].append(cms.CertificateChoices("certificate", other))


def _version(data: Any) -> None:
    data["version"] = "v4"


@pytest.mark.parametrize("change", [_crls, _unsigned, _stranger, _version], ids=lambda c: str(c.__name__).strip("_"))
def test_unprotected_parts_are_left_out_and_then_refused(change: Any) -> None:
    """What an authority adds is dropped when its token is taken; what is added afterwards is refused."""
    sent = raw_token(stamper(three_levels=True))
    clean = canonical_token(sent)
    assert read_token(clean, SIGNATURE).time == NOW
    assert _with(sent, change) != sent
    assert canonical_token(_with(sent, change)) == clean
    with pytest.raises(SignatureError):
        read_token(_with(clean, change), SIGNATURE)


def test_chain_without_its_root_is_left_out() -> None:
    """An intermediate whose issuer is missing is protected by nothing; the authority's own certificate stays."""
    root = identity("TSA root", number=4, authority=True)
    middle = identity("TSA intermediate", root, number=5, authority=True)
    own = identity("TSA", middle, number=6, purposes=STAMPING)
    source = stamper_of(own)
    source.certs_to_embed = source.certs_to_embed[:1]
    made = token(source)
    assert read_token(made, SIGNATURE).path == (own.certificate,)


def even_root() -> Identity:
    """A root whose signature ends with a bit that is not set, so that its count of unused bits may lie."""
    while True:
        root = identity("TSA root", number=4, authority=True)
        if root.certificate.signature[-1] % 2 == 0:
            return root


def test_unused_bits_before_a_signature() -> None:
    """One byte of a certificate that its issuer's signature does not cover, and that parsers accept with two values."""
    root = even_root()
    made = token(stamper_of(identity("TSA", root, number=6, purposes=STAMPING)))
    place = made.index(b"\x00" + root.certificate.signature)
    lying = made[:place] + b"\x01" + made[place + 1 :]
    assert len(read_token(made, SIGNATURE).path) == 2
    with pytest.raises(SignatureError, match="nothing binds"):
        read_token(lying, SIGNATURE)


def test_other_digests_of_an_authority() -> None:
    """An authority may sign with SHA-512; one that still uses SHA-1 is refused."""
    source = stamper()
    source.override_md = "sha512"
    assert read_token(token(source), SIGNATURE).time == NOW
    source.override_md = "sha1"
    with pytest.raises(SignatureError, match="sha1"):
        read_token(token(source), SIGNATURE)
