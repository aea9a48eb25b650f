"""Keys for signing: made, imported, kept outside any run, and opened again.

Invariant: a stored key is a file that its owner alone may read, from its first byte on, and is never overwritten; an
open one shows neither in a repr nor in an error.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, TypeAlias

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509.oid import NameOID

from auditor.errors import ConfigurationError, StorageError
from auditor.signing.certificate import ancestry
from auditor.suggestion import did_you_mean

__all__ = [
    "DEFAULT_NAME",
    "KeyInfo",
    "KeyStore",
    "SigningKey",
    "config_folder",
    "from_pkcs12",
    "new_key",
    "throwaway_key",
]

DEFAULT_NAME: Final = "default"
CONFIG_VARIABLE: Final = "AUDITOR_CONFIG"
THROWAWAY_SUBJECT: Final = "Key made in memory for this one report; identifies nobody"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
_RSA_BITS: Final = 3072
_MIN_RSA_BITS: Final = 2048
_FILE_BYTES: Final = 2**20
_CLOCK_SKEW: Final = timedelta(minutes=5)
_SUBJECT_CHARACTERS: Final = 64  # X.520's bound on a common name
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO

PrivateKey: TypeAlias = "rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey"
Passphrase: TypeAlias = Callable[[], "str | None"]


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key that is open, with its certificate (first) and those of the authorities above it.

    ``throwaway``: made in memory for one report, so its signature shows that nothing was changed since, and no more.
    """

    name: str
    private: PrivateKey = field(repr=False)
    certificates: tuple[x509.Certificate, ...] = field(repr=False)
    throwaway: bool = False

    def sign(self, data: bytes) -> bytes:
        """Signature over SHA-256 of ``data``: RSA PKCS #1 v1.5 or ECDSA."""
        if isinstance(self.private, rsa.RSAPrivateKey):
            return self.private.sign(data, padding.PKCS1v15(), hashes.SHA256())
        return self.private.sign(data, ec.ECDSA(hashes.SHA256()))


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """What a stored key shows without its passphrase."""

    name: str
    path: Path
    certificates: tuple[x509.Certificate, ...]
    encrypted: bool


def new_key(name: str, subject: str, now: datetime, *, years: int) -> SigningKey:
    """A new RSA key with a self-signed certificate for ``subject``, which nobody but the key itself vouches for."""
    if not subject.strip() or len(subject) > _SUBJECT_CHARACTERS or not subject.isprintable():
        raise ConfigurationError(f"a subject is a printable name of at most {_SUBJECT_CHARACTERS} characters")
    private = rsa.generate_private_key(public_exponent=65537, key_size=_RSA_BITS)
    return SigningKey(name, private, (_self_signed(private, subject.strip(), now, years),))


def throwaway_key(now: datetime) -> SigningKey:
    """A key that is never written anywhere."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=_RSA_BITS)
    return SigningKey("", private, (_self_signed(private, THROWAWAY_SUBJECT, now, 10),), throwaway=True)


def _self_signed(private: rsa.RSAPrivateKey, subject: str, now: datetime, years: int) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)])
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=True,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + timedelta(days=365 * years))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(private.public_key()), critical=False)
    )
    return builder.sign(private, hashes.SHA256())


def from_pkcs12(name: str, data: bytes, passphrase: str | None, *, file: str) -> SigningKey:
    """The key in a PKCS #12 file with its certificate and chain. Raises ``ConfigurationError`` that says what is wrong
    with it.
    """
    secret = None if passphrase is None else passphrase.encode("utf-8")
    try:
        private, certificate, others = pkcs12.load_key_and_certificates(data, secret)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ConfigurationError("is no PKCS #12 file, or the passphrase is another", file=file) from error
    if private is None or certificate is None:
        raise ConfigurationError("holds no private key with its certificate", file=file)
    return SigningKey(name, _supported(private, file), ancestry(certificate, others))


def _supported(private: object, file: str) -> PrivateKey:
    if isinstance(private, rsa.RSAPrivateKey):
        if private.key_size < _MIN_RSA_BITS:
            raise ConfigurationError(f"its RSA key has {private.key_size} bits; {_MIN_RSA_BITS} are needed", file=file)
        return private
    if isinstance(private, ec.EllipticCurvePrivateKey):
        return private
    raise ConfigurationError("its key is neither RSA nor of an elliptic curve, which PDF readers verify", file=file)


def config_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The user's configuration folder: ``$AUDITOR_CONFIG``, or where the platform keeps such things."""
    stated = environment.get(CONFIG_VARIABLE, "").strip()
    if stated:
        return Path(stated).expanduser()
    if platform == "win32":
        base = environment.get("APPDATA") or str(Path.home() / "AppData" / "Roaming")
    elif platform == "darwin":
        base = str(Path.home() / "Library" / "Application Support")
    else:
        base = environment.get("XDG_CONFIG_HOME", "")
        if not Path(base).is_absolute():  # the XDG specification: a relative one is ignored
            base = str(Path.home() / ".config")
    return Path(base) / "rag-auditor"


class KeyStore:
    """The stored keys: ``<folder>/keys/<name>.pem``, each a private key and its certificates."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "keys"

    def names(self) -> tuple[str, ...]:
        """Names of the stored keys, sorted."""
        try:
            return tuple(sorted(path.stem for path in self._folder.iterdir() if path.suffix == ".pem"))
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise StorageError(f"{self._folder}: {error.strerror}") from error

    def path(self, name: str) -> Path:
        """Where the key ``name`` lies or would lie; ``ConfigurationError`` for what is no name."""
        if not _NAME.fullmatch(name):
            raise ConfigurationError(f"{name!r} is no name for a key: small letters, digits and hyphens, at most 41")
        return self._folder / f"{name}.pem"

    def refuse_taken(self, name: str) -> None:
        """Raise ``ConfigurationError`` when there is a key of this name: what it signed is verified by it."""
        if os.path.lexists(self.path(name)):
            raise ConfigurationError(f"there is a key {name!r} already, and keys are never overwritten; name another")

    def add(self, key: SigningKey, passphrase: str | None) -> KeyInfo:
        """Store a key, encrypted when there is a passphrase. Its file is never readable by others, nor half there."""
        self.refuse_taken(key.name)
        encryption: KeySerializationEncryption = NoEncryption()
        if passphrase:
            encryption = BestAvailableEncryption(passphrase.encode("utf-8"))
        data = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
        data += b"".join(certificate.public_bytes(Encoding.PEM) for certificate in key.certificates)
        path = self.path(key.name)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write_private(path, data)
        except FileExistsError:
            self.refuse_taken(key.name)
            raise
        except OSError as error:
            raise StorageError(f"{path}: cannot store the key: {error.strerror}") from error
        return KeyInfo(key.name, path, key.certificates, encrypted=bool(passphrase))

    def info(self, name: str) -> KeyInfo:
        """What a key shows without its passphrase."""
        path = self.path(name)
        return _info(name, path, self._read(name, path))

    def open(self, name: str, passphrase: Passphrase) -> SigningKey:
        """The key, ready to sign. ``passphrase`` is asked only when the key has one."""
        path = self.path(name)
        data = self._read(name, path)
        info = _info(name, path, data)
        secret = passphrase() if info.encrypted else None
        if info.encrypted and not secret:
            raise ConfigurationError(f"the key {name!r} needs its passphrase")
        try:
            private = load_pem_private_key(data, secret.encode("utf-8") if secret else None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            wrong = "the passphrase is another, or the file is damaged" if info.encrypted else "the file is damaged"
            raise ConfigurationError(f"cannot open the key {name!r}: {wrong}", file=str(path)) from error
        if info.certificates[0].public_key() != private.public_key():
            raise ConfigurationError(f"the certificate of key {name!r} belongs to another key", file=str(path))
        return SigningKey(name, _supported(private, str(path)), info.certificates)

    def _read(self, name: str, path: Path) -> bytes:
        try:
            with path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                data = file.read(_FILE_BYTES)
        except FileNotFoundError:
            known = self.names()
            hint = did_you_mean(name, known) or ("" if known else "; auditor keys new makes one")
            raise ConfigurationError(f"there is no key {name!r} in {self._folder}{hint}") from None
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror}") from error
        if os.name == "posix" and mode & _OTHERS:
            raise ConfigurationError("others may read this key; chmod 600 it, or make a new one", file=str(path))
        return data


def _info(name: str, path: Path, data: bytes) -> KeyInfo:
    try:
        certificates = x509.load_pem_x509_certificates(data)
    except ValueError as error:
        raise ConfigurationError(f"the key {name!r} has no certificate: the file is damaged", file=str(path)) from error
    return KeyInfo(name, path, tuple(certificates), encrypted=b"-----BEGIN ENCRYPTED PRIVATE KEY-----" in data)


def _write_private(path: Path, data: bytes) -> None:
    """Written beside its place with mode 0600 and linked there: never half, never over another, never for others."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.link(beside, path)
    finally:
        beside.unlink(missing_ok=True)
