"""Everything that a signed report needs, made on the spot: a finished run, a small PDF, keys, authorities, a TSA."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

from asn1crypto import keys as asn1_keys  # type: ignore[import-untyped] # the package has no types
from asn1crypto import tsp
from asn1crypto import x509 as asn1
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from pyhanko.sign.timestamps import DummyTimeStamper
from reportlab.pdfgen.canvas import Canvas

from auditor.signing.certificate import der_of
from auditor.signing.cms import canonical_token
from auditor.signing.keys import PrivateKey, SigningKey
from campaign_kit import Project

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
DISCLOSURE = {
    "run_by": "Test Works",
    "on_behalf_of": "Test Works",
    "paid_by": "Test Works",
    "conflicts": "none",
    "access": "local systems",
}


def small_run(folder: Path, **extra: Any) -> Path:
    """The folder of a finished run with one system and a complete disclosure."""
    project = Project(folder, extra={"disclosure": DISCLOSURE, **extra})
    project.system("one", {"What is thing 1?": "right 1", "What is thing 2?": "wrong"})
    return project.run().folder


def small_pdf(text: str = "Report") -> bytes:
    """One page."""
    buffer = BytesIO()
    canvas = Canvas(buffer, invariant=1)
    canvas.drawString(100, 700, text)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


@dataclass(frozen=True)
class Identity:
    """A key with its certificate and those above it, the nearest first."""

    private: PrivateKey
    certificates: tuple[x509.Certificate, ...]

    @property
    def certificate(self) -> x509.Certificate:
        """Its own."""
        return self.certificates[0]

    def key(self) -> SigningKey:
        """As a key that signs reports."""
        return SigningKey("test", self.private, self.certificates)


KINDS = ("alone", "chain", "stamped", "stamped-chain")


@dataclass(frozen=True)
class Signed:
    """A signed report and who signed it."""

    data: bytes
    signer: Identity


@cache
def _private(kind: str, number: int) -> PrivateKey:
    """Keys are made once a process; which one it is decides its number."""
    if kind == "ec":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def identity(
    name: str,
    issuer: Identity | None = None,
    *,
    kind: str = "rsa",
    number: int = 0,
    authority: bool = False,
    purposes: Sequence[x509.ObjectIdentifier] = (),
    begins: datetime = datetime(2026, 1, 1, tzinfo=UTC),
    ends: datetime = datetime(2036, 1, 1, tzinfo=UTC),
) -> Identity:
    """A certificate for ``name`` under ``issuer``, or signed by itself. Equal arguments give equal keys, but other
    certificates.
    """
    private = _private(kind, number)
    own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    sign = [True, not authority, False, False, False, authority, authority, False, False]
    builder = (
        x509.CertificateBuilder()
        .subject_name(own)
        .issuer_name(own if issuer is None else issuer.certificate.subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(*sign), critical=True)
    )
    if purposes:
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=True)
    signed = builder.sign(private if issuer is None else issuer.private, hashes.SHA256())
    return Identity(private, (signed, *(() if issuer is None else issuer.certificates)))


def chain(kind: str = "rsa") -> Identity:
    """A signer under an intermediate under a root."""
    root = identity("Root", kind=kind, number=1, authority=True)
    middle = identity("Intermediate", root, kind=kind, number=2, authority=True)
    return identity("Signer of the chain", middle, kind=kind, number=3)


def stamper(*, three_levels: bool = False, time: datetime = NOW) -> DummyTimeStamper:
    """A timestamp authority of our own: pyHanko's, with a certificate for that purpose."""
    purposes = [ExtendedKeyUsageOID.TIME_STAMPING]
    if three_levels:
        root = identity("TSA root", number=4, authority=True)
        middle = identity("TSA intermediate", root, number=5, authority=True)
        own = identity("TSA", middle, number=6, purposes=purposes)
    else:
        own = identity("TSA", number=6, purposes=purposes)
    return stamper_of(own, time)


def stamper_of(own: Identity, time: datetime = NOW) -> DummyTimeStamper:
    """The authority of an identity, which embeds its chain."""
    private = own.private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    loaded = [asn1.Certificate.load(der_of(certificate)) for certificate in own.certificates]
    return DummyTimeStamper(
        loaded[0],
        asn1_keys.PrivateKeyInfo.load(private),
        certs_to_embed=loaded[1:],  # type: ignore[arg-type] # any iterable will do
        fixed_dt=time,
    )


def local_authority(source: DummyTimeStamper) -> Callable[[bytes], bytes]:
    """The authority without a network."""

    def stamp(signature: bytes) -> bytes:
        imprint = {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": hashlib.sha256(signature).digest()}
        request = tsp.TimeStampReq({"version": 1, "message_imprint": imprint, "cert_req": True})
        response = source.request_tsa_response(request)
        return canonical_token(response["time_stamp_token"].dump())

    return stamp


@contextmanager
def http_stamper(source: DummyTimeStamper, reply: bytes | None = None, status: int = 200) -> Iterator[str]:
    """The authority on loopback; its address. ``reply``: what it answers instead of a token."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = reply
            if answer is None:
                answer = source.request_tsa_response(tsp.TimeStampReq.load(body)).dump()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Nothing on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
