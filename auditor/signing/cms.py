"""What a signature may consist of: one form, rebuilt from its parts, for signing and for checking alike.

Invariant: ``read_signature`` accepts bytes only if they equal ``assembled`` of the certificates, signed attributes,
signature and (at most) one timestamp token that it validated. A validator's own verdict is not enough: it passes over
bytes that mean nothing to it, and a changed byte there would go unseen (DESIGN §5, Signed PDF).
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from asn1crypto import algos, cms, core, tsp  # type: ignore[import-untyped] # the package has no types
from asn1crypto import x509 as asn1
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.utils import CryptographyDeprecationWarning

from auditor.errors import AuditorError, SignatureError
from auditor.signing.certificate import ancestry, check_path, der_of, is_self_signed

__all__ = [
    "DIGEST",
    "Signature",
    "Timestamp",
    "assembled",
    "canonical_token",
    "read_signature",
    "read_token",
    "signed_attributes",
]

DIGEST: Final = "sha256"
_TOKEN_DIGESTS: Final = frozenset({"sha256", "sha384", "sha512"})
_HEX_DIGITS: Final = b"0123456789ABCDEF"
_TOKEN_ATTRIBUTE: Final = "signature_time_stamp_token"  # noqa: S105 - the name of a CMS attribute

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A token that holds over a signature: when, and by whose certificate (first) under which authorities."""

    time: datetime
    path: tuple[x509.Certificate, ...]


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature that holds: the signer's certificate (first) with those above it, and its timestamp if it has one."""

    path: tuple[x509.Certificate, ...]
    timestamp: Timestamp | None


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a CMS message holds, apart from what its form prescribes."""

    certificates: tuple[x509.Certificate, ...]  # in the message's order
    signer: x509.Certificate
    digest: str
    attributes: Any
    signature: bytes
    unsigned: Any
    content: bytes | None


def signed_attributes(document_digest: bytes, certificates: Sequence[x509.Certificate]) -> Any:
    """The signed attributes of a PAdES signature; all certificates are named, so that none can be changed or left out.

    RFC 5035: the first named is the signer's, the others limit which may stand above it.
    """
    identifiers = [
        tsp.ESSCertIDv2({"hash_algorithm": {"algorithm": DIGEST}, "cert_hash": hashlib.sha256(der_of(c)).digest()})
        for c in certificates
    ]
    return cms.CMSAttributes(
        [
            _attribute("content_type", "data"),
            _attribute("message_digest", document_digest),
            _attribute("signing_certificate_v2", tsp.SigningCertificateV2({"certs": identifiers})),
        ]
    )


def _attribute(name: str, value: Any) -> Any:
    return cms.CMSAttribute({"type": cms.CMSAttributeType(name), "values": (value,)})


def assembled(
    certificates: Sequence[x509.Certificate],
    signer: x509.Certificate,
    attributes: Any,
    signature: bytes,
    token: bytes | None = None,
) -> bytes:
    """DER bytes of the one message that a report's signature may be."""
    unsigned = None if token is None else [_attribute(_TOKEN_ATTRIBUTE, cms.ContentInfo.load(token))]
    parts = _Parts(tuple(certificates), signer, DIGEST, attributes, signature, unsigned, None)
    return _message(parts)


def _message(parts: _Parts) -> bytes:
    digest = algos.DigestAlgorithm({"algorithm": parts.digest})
    serial = {"issuer": _asn1(parts.signer).issuer, "serial_number": parts.signer.serial_number}
    info: dict[str, Any] = {
        "version": "v1",
        "sid": cms.SignerIdentifier({"issuer_and_serial_number": cms.IssuerAndSerialNumber(serial)}),
        "digest_algorithm": digest,
        "signature_algorithm": _signature_algorithm(parts),
        "signed_attrs": parts.attributes,
        "signature": parts.signature,
    }
    if parts.unsigned is not None:
        info["unsigned_attrs"] = cms.CMSAttributes(parts.unsigned)
    content = {"content_type": "data"} if parts.content is None else _token_content(parts.content)
    data = {
        "version": "v1" if parts.content is None else "v3",  # RFC 5652 §5.1: v3 where the content is not plain data
        "digest_algorithms": cms.DigestAlgorithms([digest]),
        "encap_content_info": content,
        "certificates": [cms.CertificateChoices("certificate", _asn1(c)) for c in parts.certificates],
        "signer_infos": [cms.SignerInfo(info)],
    }
    der: bytes = cms.ContentInfo({"content_type": "signed_data", "content": cms.SignedData(data)}).dump()
    return der


def _token_content(content: bytes) -> Any:
    return cms.EncapsulatedContentInfo({"content_type": "tst_info", "content": cms.ParsableOctetString(content)})


def _signature_algorithm(parts: _Parts) -> Any:
    """As the signed attributes state it (RFC 6211); else the one name that key and digest have."""
    stated = _only(parts.attributes, "cms_algorithm_protection", optional=True)
    if stated is not None:
        return algos.SignedDigestAlgorithm.load(stated["signature_algorithm"].untag().dump())
    key = parts.signer.public_key()
    if isinstance(key, rsa.RSAPublicKey):
        return algos.SignedDigestAlgorithm({"algorithm": f"{parts.digest}_rsa"})
    if isinstance(key, ec.EllipticCurvePublicKey):
        return algos.SignedDigestAlgorithm({"algorithm": f"{parts.digest}_ecdsa"})
    raise SignatureError(f"the signature is of an unsupported kind ({type(key).__name__})")


def _asn1(certificate: x509.Certificate) -> Any:
    return asn1.Certificate.load(der_of(certificate))


def read_signature(contents: bytes, document_digest: bytes) -> Signature:
    """The signature in ``contents`` (what stands between ``<`` and ``>`` in the file).

    :param document_digest: SHA-256 of the file without ``contents``.
    Raises ``SignatureError`` that says what does not hold. Whether its certificates were valid when it was made is for
    the caller, who learns from the file when that was.
    """
    return _ours(lambda: _read_signature(contents, document_digest))


def _read_signature(contents: bytes, document_digest: bytes) -> Signature:
    if contents.strip(_HEX_DIGITS):
        raise SignatureError("/Contents is not written in upper-case hexadecimal digits")
    parts = _parts(bytes.fromhex(contents.decode("ascii")), "data")
    token = _token_of(parts)
    rebuilt = assembled(parts.certificates, parts.signer, parts.attributes, parts.signature, token)
    if rebuilt.hex().upper().encode("ascii").ljust(len(contents), b"0") != contents:
        raise SignatureError("/Contents holds something beside the signature, or in another form than it is written in")
    if parts.digest != DIGEST:
        raise SignatureError(f"the digest is {parts.digest}, not {DIGEST}")
    _check_integrity(parts, "data", document_digest)
    timestamp = None if token is None else read_token(token, parts.signature)
    path = _bound_path(parts)
    if not all(any(_is_named(c, [name]) for c in parts.certificates) for name in _named(parts)):
        raise SignatureError("a certificate that the signature names was taken out of it")
    return Signature(path, timestamp)


def _ours(read: Callable[[], Value]) -> Value:
    """Hostile bytes raise anything in the parsers below; whatever it is, the signature does not hold."""
    try:
        return read()
    except AuditorError:
        raise
    except Exception as error:  # see the docstring
        raise SignatureError(f"the signature cannot be read ({type(error).__name__})") from error


def _parts(der: bytes, kind: str) -> _Parts:
    data = _signed_data(der)
    content = data["encap_content_info"]
    (info,) = data["signer_infos"]
    if content["content_type"].native != kind:
        raise SignatureError(f"the signature is over {content['content_type'].native}, not {kind}")
    loaded = [_certificate(choice.chosen.untag().dump()) for choice in data["certificates"]]
    attributes = cms.CMSAttributes.load(info["signed_attrs"].untag().dump())
    return _Parts(
        certificates=tuple(loaded),
        signer=_signer(info["sid"], loaded),
        digest=info["digest_algorithm"]["algorithm"].native,
        attributes=attributes,
        signature=info["signature"].native,
        unsigned=None if info["unsigned_attrs"] is core.VOID else info["unsigned_attrs"],
        content=None if kind == "data" else bytes(content["content"]),
    )


def _certificate(der: bytes) -> x509.Certificate:
    """Strictly: what the library only warns of is refused, and nobody's screen is written to."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", CryptographyDeprecationWarning)
        return x509.load_der_x509_certificate(der)


def _signed_data(der: bytes) -> Any:
    message = cms.ContentInfo.load(der)
    if message["content_type"].native != "signed_data":
        raise SignatureError("/Contents is not a signature")
    return message["content"]


def _signer(identifier: Any, certificates: Sequence[x509.Certificate]) -> x509.Certificate:
    from pyhanko.sign.general import match_issuer_serial

    for certificate in certificates:
        loaded = _asn1(certificate)
        if identifier.name == "issuer_and_serial_number":
            if match_issuer_serial(identifier.chosen, loaded):
                return certificate
        elif loaded.key_identifier == identifier.chosen.native:
            return certificate
    raise SignatureError("the signer's certificate is not in the signature")


def _only(attributes: Any, name: str, *, optional: bool = False) -> Any:
    values = [value for attribute in attributes if attribute["type"].native == name for value in attribute["values"]]
    if len(values) > 1 or not values and not optional:
        raise SignatureError(f"the signature has {len(values)} attributes {name}")
    return values[0] if values else None


def _token_of(parts: _Parts) -> bytes | None:
    """The one thing that may stand beside what is signed."""
    if parts.unsigned is None:
        return None
    names = [attribute["type"].native for attribute in parts.unsigned]
    if names != [_TOKEN_ATTRIBUTE]:
        raise SignatureError("the signature has unsigned attributes other than one timestamp")
    token: bytes = _only(parts.unsigned, _TOKEN_ATTRIBUTE).dump()
    return token


def _check_integrity(parts: _Parts, kind: str, content_digest: bytes) -> None:
    from pyhanko.sign.validation.errors import SignatureValidationError
    from pyhanko.sign.validation.generic_cms import validate_sig_integrity

    info = _signed_data(_message(parts))["signer_infos"][0]
    try:
        intact, valid = validate_sig_integrity(info, _asn1(parts.signer), kind, content_digest)
    except SignatureValidationError as error:
        raise SignatureError(f"the signature does not hold: {error.failure_message}") from error
    if not intact:
        raise SignatureError("what is signed has another digest: it was changed after it was signed")
    if not valid:
        raise SignatureError("the signature does not belong to the certificate beside it")


def _bound_path(parts: _Parts) -> tuple[x509.Certificate, ...]:
    """The signer's path, after a check that no certificate in the message could be another without being noticed."""
    named = _named(parts)
    if not named or not _is_named(parts.signer, named[:1]):
        raise SignatureError("the signed attributes name another certificate than the signer's")
    path = ancestry(parts.signer, parts.certificates)
    anchored = _anchored(path)
    for certificate in parts.certificates:
        if certificate not in anchored and not _is_named(certificate, named):
            raise SignatureError("the signature carries a certificate that nothing binds to it")
    return path


def _anchored(path: Sequence[x509.Certificate]) -> list[x509.Certificate]:
    """Certificates in which no byte could be another: signed up to a self-signed one, and in the form of their parts.

    A signature says nothing of what stands beside it in a certificate: the count of unused bits before it, for one.
    """
    return [c for c in path if _rebuilt_certificate(c) == der_of(c)] if is_self_signed(path[-1]) else []


def _rebuilt_certificate(certificate: x509.Certificate) -> bytes:
    tbs = asn1.TbsCertificate.load(certificate.tbs_certificate_bytes)
    algorithm = algos.SignedDigestAlgorithm.load(tbs["signature"].dump())
    parts = {"tbs_certificate": tbs, "signature_algorithm": algorithm, "signature_value": certificate.signature}
    der: bytes = asn1.Certificate(parts).dump()
    return der


def _named(parts: _Parts) -> list[tuple[str, bytes]]:
    """Digests of certificates that the signed attributes name, the signer's first."""
    found: list[tuple[str, bytes]] = []
    for name, default in (("signing_certificate_v2", None), ("signing_certificate", "sha1")):
        value = _only(parts.attributes, name, optional=True)
        for identifier in value["certs"] if value is not None else ():
            algorithm = default or identifier["hash_algorithm"]["algorithm"].native
            found.append((algorithm, identifier["cert_hash"].native))
    return found


def _is_named(certificate: x509.Certificate, named: Sequence[tuple[str, bytes]]) -> bool:
    allowed = _TOKEN_DIGESTS | {"sha1"}  # RFC 3161 authorities name their certificate by SHA-1
    return any(a in allowed and hashlib.new(a, der_of(certificate)).digest() == value for a, value in named)


def canonical_token(der: bytes) -> bytes:
    """A timestamp token in the one form that ``read_token`` accepts.

    What an authority sends may hold bytes that nothing protects: revocation lists, attributes, certificates whose
    issuer is missing, one of several names of an algorithm. They are left out or written in one way; what it signed
    stays as it is. Raises ``SignatureError`` for what is no token.
    """
    return _ours(lambda: _canonical_token(der))


def _canonical_token(der: bytes) -> bytes:
    parts = _parts(der, "tst_info")
    path = ancestry(parts.signer, parts.certificates)
    named = _named(parts)
    anchored = _anchored(path)
    kept = [c for c in parts.certificates if c in anchored or c == parts.signer or _is_named(c, named)]
    return _message(
        _Parts(tuple(kept), parts.signer, parts.digest, parts.attributes, parts.signature, None, parts.content)
    )


def read_token(der: bytes, signature: bytes) -> Timestamp:
    """What a canonical token says of ``signature``. Raises ``SignatureError`` where it does not hold over it."""
    return _ours(lambda: _read_token(der, signature))


def _read_token(der: bytes, signature: bytes) -> Timestamp:
    parts = _parts(der, "tst_info")
    if parts.unsigned is not None or _message(parts) != der:
        raise SignatureError("the timestamp holds something beside itself, or in another form than it is written in")
    if parts.digest not in _TOKEN_DIGESTS:
        raise SignatureError(f"the timestamp's digest is {parts.digest}")
    content = parts.content or b""
    _check_integrity(parts, "tst_info", hashlib.new(parts.digest, content).digest())
    info = tsp.TSTInfo.load(content, strict=True)
    imprint = info["message_imprint"]
    algorithm = imprint["hash_algorithm"]["algorithm"].native
    if algorithm not in _TOKEN_DIGESTS:
        raise SignatureError(f"the timestamp is over a {algorithm} digest")
    if hashlib.new(algorithm, signature).digest() != imprint["hashed_message"].native:
        raise SignatureError("the timestamp is over another signature")
    time: datetime = info["gen_time"].native
    path = _bound_path(parts)
    check_path(path, time, timestamping=True)
    return Timestamp(time, path)
