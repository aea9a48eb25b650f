"""Certificates: fingerprints, names, and the path from a signer up to the authority that stands over it.

Invariant: nothing is fetched, and an issuer counts only where its signature on the certificate below was verified.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from asn1crypto import x509 as asn1  # type: ignore[import-untyped] # the package has no types
from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from auditor.canonical import digest
from auditor.errors import ConfigurationError, SignatureError

__all__ = [
    "Wanted",
    "ancestry",
    "check_path",
    "der_of",
    "fingerprint",
    "is_self_signed",
    "load_certificate",
    "name_of",
    "read_wanted",
]

_NAME_CHARACTERS: Final = 120
_CERTIFICATE_BYTES: Final = 2**18
_HEX_DIGITS: Final = 64


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whom a report has to be signed by: a certificate's fingerprint, and the certificate itself where it was given."""

    fingerprint: str
    certificate: x509.Certificate | None = None


def read_wanted(text: str) -> Wanted:
    """What ``--signer`` names: a file with one certificate (PEM or DER), or a SHA-256 fingerprint in hex.

    Colons, spaces, case and ``sha256:`` before it do not matter. Raises ``ConfigurationError`` for anything else.
    """
    path = Path(text)
    if len(text) < _NAME_CHARACTERS * 30 and (path.is_file() or path.is_fifo()):
        try:
            with path.open("rb") as file:
                certificate = load_certificate(file.read(_CERTIFICATE_BYTES))
        except (OSError, ValueError) as error:
            raise ConfigurationError("holds no certificate in PEM or DER form", file=text) from error
        return Wanted(fingerprint(certificate), certificate)
    hexadecimal = text.strip().lower().removeprefix("sha256:").replace(":", "").replace(" ", "")
    if len(hexadecimal) != _HEX_DIGITS or set(hexadecimal) - set("0123456789abcdef"):
        raise ConfigurationError(f"{text!r} is neither a certificate's file nor a SHA-256 fingerprint (64 hex digits)")
    return Wanted(f"sha256:{hexadecimal}")


def load_certificate(data: bytes) -> x509.Certificate:
    """The first certificate in ``data``, PEM or DER; ``ValueError`` where there is none."""
    if b"-----BEGIN CERTIFICATE-----" in data:
        return x509.load_pem_x509_certificates(data)[0]
    return x509.load_der_x509_certificate(data)


def der_of(certificate: x509.Certificate) -> bytes:
    """The certificate's bytes."""
    return certificate.public_bytes(Encoding.DER)


def fingerprint(certificate: x509.Certificate) -> str:
    """``sha256:<hex>`` of the certificate's DER bytes, as every other tool computes it."""
    return digest(der_of(certificate))


def name_of(certificate: x509.Certificate) -> str:
    """The subject's common name, or its whole name where it has none; at most 120 characters."""
    try:
        common = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        name = str(common[0].value) if common else certificate.subject.rfc4514_string()
    except ValueError:
        name = "(a name that cannot be read)"
    return name if len(name) <= _NAME_CHARACTERS else f"{name[:_NAME_CHARACTERS]}…"


def is_self_signed(certificate: x509.Certificate) -> bool:
    """Whether the certificate's own key signed it."""
    return _issued(certificate, certificate)


def ancestry(leaf: x509.Certificate, others: Sequence[x509.Certificate]) -> tuple[x509.Certificate, ...]:
    """``leaf``, its issuer, that one's issuer, and so on as far as ``others`` reach; each signature verified."""
    path, left = [leaf], [other for other in others if other != leaf]
    while not is_self_signed(path[-1]):
        issuer = next((other for other in left if _issued(path[-1], other)), None)
        if issuer is None:
            break
        path.append(issuer)
        left.remove(issuer)
    return tuple(path)


def _issued(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def check_path(path: Sequence[x509.Certificate], moment: datetime, *, timestamping: bool = False) -> None:
    """Raise ``SignatureError`` unless ``path`` is a valid one at ``moment`` under its last certificate, and its first
    may sign (or, for a timestamp, may be an authority for timestamps). Revocation would need a network: not asked.
    """
    for certificate in path:
        if not certificate.not_valid_before_utc <= moment <= certificate.not_valid_after_utc:
            raise SignatureError(f"the certificate of {name_of(certificate)} was not valid at {moment.isoformat()}")
    _check_usage(path[0], timestamping=timestamping)
    try:
        _run(_validator(path, moment).async_validate_usage(set()))
    except Exception as error:  # a stranger's certificates: whatever is wrong with them is the answer
        raise SignatureError(f"the chain of {name_of(path[0])} does not hold: {_line(error)}") from error


def _check_usage(certificate: x509.Certificate, *, timestamping: bool) -> None:
    try:
        extensions = certificate.extensions
    except ValueError as error:
        raise SignatureError(f"the certificate of {name_of(certificate)} cannot be read: {_line(error)}") from error
    usage = _extension(extensions, x509.KeyUsage)
    if usage is not None and not (usage.digital_signature or usage.content_commitment):
        raise SignatureError(f"the certificate of {name_of(certificate)} is not for signing")
    purposes = _extension(extensions, x509.ExtendedKeyUsage)
    if timestamping and (purposes is None or set(purposes) != {ExtendedKeyUsageOID.TIME_STAMPING}):
        raise SignatureError(f"the certificate of {name_of(certificate)} is not for timestamps alone")


def _extension(extensions: x509.Extensions, kind: type[Any]) -> Any:
    try:
        return extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


def _validator(path: Sequence[x509.Certificate], moment: datetime) -> Any:
    from pyhanko_certvalidator import CertificateValidator, ValidationContext

    loaded = [asn1.Certificate.load(der_of(certificate)) for certificate in path]
    context = ValidationContext(
        trust_roots=[loaded[-1]],
        other_certs=loaded[1:-1],
        allow_fetching=False,
        moment=moment,
        revocation_mode="soft-fail",
    )
    return CertificateValidator(loaded[0], intermediate_certs=loaded[1:-1], validation_context=context)


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that waits for nothing. An event loop would open sockets of its own."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    work.close()
    raise SignatureError("the check of a certificate asked for something from outside")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
