"""The rules of a signature one by one, each broken by somebody who holds the key and could sign again (DESIGN §5)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import pytest
from asn1crypto import cms, core  # type: ignore[import-untyped] # the package has no types
from cryptography.hazmat.primitives.asymmetric import ec
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.fields import MDPPerm, SigFieldSpec, SigSeedSubFilter
from pyhanko.sign.signers.cms_embedder import PdfCMSEmbedder, SigIOSetup, SigMDPSetup, SigObjSetup
from pyhanko.sign.signers.pdf_byterange import SignatureObject
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko_certvalidator import ValidationContext

from auditor.errors import SignatureError
from auditor.signing.certificate import der_of
from auditor.signing.check import read_report
from auditor.signing.cms import assembled, read_signature, signed_attributes
from auditor.signing.envelope import open_envelope
from auditor.signing.sign import sign_pdf
from signing_kit import NOW, Identity, Signed, chain, identity, local_authority, small_pdf, stamper

DIGEST = hashlib.sha256(b"a file").digest()


def message(signer: Identity, *, token: bytes | None = None, **changes: Any) -> bytes:
    """A signature over ``DIGEST``; ``changes``: other certificates or attributes than the right ones."""
    attributes = changes.get("attributes", signed_attributes(DIGEST, signer.certificates))
    certificates = changes.get("certificates", signer.certificates)
    return assembled(certificates, signer.certificate, attributes, signer.key().sign(attributes.dump()), token)


def contents(der: bytes, padding: int = 64) -> bytes:
    """As it stands in a file."""
    return der.hex().upper().encode() + b"0" * padding


def doctored(der: bytes, change: Any) -> bytes:
    """The message with ``change`` made to its parts, encoded again."""
    loaded = cms.ContentInfo.load(der)
    change(loaded["content"])
    again: bytes = loaded.dump(force=True)
    assert again != der
    return again


def test_right_form_is_read() -> None:
    """What is broken below holds as it is."""
    for signer in (identity("Signer"), identity("Signer", kind="ec"), chain(), chain("ec")):
        assert read_signature(contents(message(signer)), DIGEST).path == signer.certificates


def test_other_digest() -> None:
    """A signature over another file."""
    with pytest.raises(SignatureError, match="changed after it was signed"):
        read_signature(contents(message(identity("Signer"))), hashlib.sha256(b"another").digest())


def _version(data: Any) -> None:
    data["version"] = "v3"


def _signer_version(data: Any) -> None:
    data["signer_infos"][0]["version"] = "v3"


def _second_signer(data: Any) -> None:
    data["signer_infos"].append(data["signer_infos"][0].copy())


def _algorithm(data: Any) -> None:
    data["signer_infos"][0]["signature_algorithm"]["algorithm"] = "rsassa_pkcs1v15"


def _digests(data: Any) -> None:
    data["digest_algorithms"].append({"algorithm": "sha512"})


def _unsigned(data: Any) -> None:
    attribute = cms.CMSAttribute({"type": "1.2.3.4", "values": [core.OctetString(b"hidden")]})
    data["signer_infos"][0]["unsigned_attrs"] = cms.CMSAttributes([attribute])


def _revocations(data: Any) -> None:
    data["crls"] = cms.RevocationInfoChoices([])


def _stranger(data: Any) -> None:
    other = cms.CertificateChoices("certificate", cms.Certificate.load(der_of(identity("Other", number=9).certificate)))
    data["certificates"].append(other)


@pytest.mark.parametrize(
    "change",
    [_version, _signer_version, _second_signer, _algorithm, _digests, _unsigned, _revocations, _stranger],
    ids=lambda change: str(change.__name__).strip("_"),
)
def test_what_nothing_protects_may_not_differ(change: Any) -> None:
    """Parts that no signature covers, each changed so that validators still accept it."""
    der = doctored(message(identity("Signer")), change)
    with pytest.raises(SignatureError):
        read_signature(contents(der), DIGEST)


def test_certificate_left_out() -> None:
    """A chain may be signed without its root; one that is taken out later, any of the three, is missed."""
    signer = chain()
    kept = Identity(signer.private, signer.certificates[:2])
    assert len(read_signature(contents(message(kept)), DIGEST).path) == 2
    named_all = signed_attributes(DIGEST, signer.certificates)
    for gone in range(3):
        left = [c for place, c in enumerate(signer.certificates) if place != gone]
        with pytest.raises(SignatureError, match="taken out of it|not in the signature|nothing binds"):
            read_signature(contents(message(signer, certificates=left, attributes=named_all)), DIGEST)


def test_certificate_that_nothing_binds() -> None:
    """A certificate that neither the attributes name nor the signer's path reaches, or that only seems to be above."""
    signer, other = identity("Signer"), identity("Other", number=9)
    attributes = signed_attributes(DIGEST, signer.certificates)
    both = message(signer, certificates=(signer.certificate, other.certificate), attributes=attributes)
    with pytest.raises(SignatureError, match="nothing binds"):
        read_signature(contents(both), DIGEST)
    unnamed = chain()
    middle = unnamed.certificates[:2]
    only_own = signed_attributes(DIGEST, unnamed.certificates[:1])
    with pytest.raises(SignatureError, match="nothing binds"):  # its issuer is missing: no signature protects it
        read_signature(contents(message(unnamed, certificates=middle, attributes=only_own)), DIGEST)
    assert read_signature(contents(message(unnamed, attributes=only_own)), DIGEST).path == unnamed.certificates


def test_another_certificate_of_the_same_key() -> None:
    """The attributes bind the certificate, not only its key."""
    one, two = identity("Signer"), identity("Signer")
    assert one.private is two.private
    attributes = signed_attributes(DIGEST, one.certificates)
    swapped = assembled(two.certificates, two.certificate, attributes, one.key().sign(attributes.dump()))
    with pytest.raises(SignatureError, match="[Ss]igning certificate"):
        read_signature(contents(swapped), DIGEST)


def test_no_certificate_named() -> None:
    """PAdES asks for the attribute; without it nothing binds the certificate."""
    signer = identity("Signer")
    attributes = cms.CMSAttributes(list(signed_attributes(DIGEST, signer.certificates))[:2])
    with pytest.raises(SignatureError, match="name another certificate"):
        read_signature(contents(message(signer, attributes=attributes)), DIGEST)


def certified(**setup: Any) -> bytes:
    """A report signed with other settings than ours, by a key that could have used the right ones."""
    signer = identity("Signer")
    permissions = setup.get("permissions", MDPPerm.NO_CHANGES)
    writer = IncrementalPdfFileWriter(BytesIO(small_pdf()))
    steps = PdfCMSEmbedder(new_field_spec=SigFieldSpec("Signature")).write_cms("Signature", writer)
    next(steps)
    subfilter = setup.get("subfilter", SigSeedSubFilter.PADES)
    placeholder = SignatureObject(timestamp=NOW, subfilter=subfilter, bytes_reserved=8000)
    certify = permissions is not None
    mdp = SigMDPSetup(md_algorithm="sha256", certify=certify, docmdp_perms=permissions)
    steps.send(SigObjSetup(sig_placeholder=placeholder, mdp_setup=mdp))
    prepared, output = steps.send(SigIOSetup(md_algorithm="sha256"))
    attributes = signed_attributes(prepared.document_digest, signer.certificates)
    steps.send(assembled(signer.certificates, signer.certificate, attributes, signer.key().sign(attributes.dump())))
    made: bytes = output.getvalue()
    return made


@pytest.mark.parametrize(
    ("setup", "why"),
    [
        ({"permissions": None}, "forbid all changes"),
        ({"permissions": MDPPerm.FILL_FORMS}, "forbid all changes"),
        ({"permissions": MDPPerm.ANNOTATE}, "forbid all changes"),
        ({"subfilter": SigSeedSubFilter.ADOBE_PKCS7_DETACHED}, "not of the kind"),
        ({}, "carries"),
    ],
)
def test_signature_certifies_and_forbids_changes(setup: Mapping[str, Any], why: str) -> None:
    """Any DocMDP but "no changes" fails, as does another kind of signature; the right one gets as far as its files."""
    with pytest.raises(SignatureError, match=why):
        read_report(certified(**setup))


def test_another_validator_agrees(signed: Signed) -> None:
    """pyHanko's own validator finds each kind intact, trusted under the authority, and without a change."""
    from asn1crypto import x509 as asn1

    roots = [asn1.Certificate.load(der_of(signed.signer.certificates[-1]))]
    (embedded,) = PdfFileReader(BytesIO(signed.data)).embedded_signatures
    stamps = [asn1.Certificate.load(der) for der in _token_roots(signed.data)]
    context = ValidationContext(trust_roots=roots, allow_fetching=False, moment=NOW)
    stamp_context = ValidationContext(trust_roots=stamps, allow_fetching=False, moment=NOW)
    status = validate_pdf_signature(embedded, context, ts_validation_context=stamp_context)
    assert status.bottom_line
    assert embedded.docmdp_level is MDPPerm.NO_CHANGES
    assert (status.timestamp_validity is None) == (not stamps)


def _token_roots(data: bytes) -> list[bytes]:
    stamp = read_report(data)[0].timestamp
    return [] if stamp is None else [der_of(stamp.path[-1])]


def test_signature_is_deterministic_in_its_claims(attached: Mapping[str, bytes]) -> None:
    """The time is the one that is handed in, and the same key over the same bytes gives the same signature."""
    signer = identity("Signer")
    one = sign_pdf(small_pdf(), attached, signer.key(), NOW)
    assert read_report(one)[1].claimed == NOW
    attributes = signed_attributes(open_envelope(one).digest, signer.certificates)
    again = assembled(signer.certificates, signer.certificate, attributes, signer.key().sign(attributes.dump()))
    assert open_envelope(one).contents.startswith(again.hex().upper().encode())


def test_elliptic_curves_sign_too(attached: Mapping[str, bytes]) -> None:
    """ECDSA signatures vary in length; the room for them is enough every time."""
    signer = identity("Signer", kind="ec")
    assert isinstance(signer.private, ec.EllipticCurvePrivateKey)
    for _ in range(8):
        assert read_report(sign_pdf(small_pdf(), attached, signer.key(), NOW))


def test_signing_twice_is_refused(attached: Mapping[str, bytes]) -> None:
    """A signed file is not signed again: the result would not verify, and is not returned as a report."""
    signer = identity("Signer").key()
    once = sign_pdf(small_pdf(), attached, signer, NOW)
    with pytest.raises(SignatureError):
        read_report(sign_pdf(once, {}, signer, NOW, local_authority(stamper())))


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"no pdf at all", b"%PDF-1.7\n%%EOF"])
def test_what_is_no_pdf_is_not_signed(data: bytes, attached: Mapping[str, bytes]) -> None:
    """One clear error."""
    with pytest.raises(SignatureError, match="cannot be signed"):
        sign_pdf(data, attached, identity("Signer").key(), NOW)
