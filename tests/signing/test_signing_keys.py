"""Keys for signing: outside any run, for their owner alone, never overwritten, never shown (DESIGN §5)."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, pkcs12
from cryptography.x509.oid import NameOID

from auditor.errors import ConfigurationError, ExitCode
from auditor.signing.certificate import fingerprint, is_self_signed, name_of, read_wanted
from auditor.signing.check import read_report
from auditor.signing.keys import KeyStore, SigningKey, config_folder, from_pkcs12, new_key, throwaway_key
from auditor.signing.sign import THROWAWAY_REASON, sign_pdf
from scratch_site import run_auditor
from signing_kit import NOW, Identity, chain, identity, small_pdf

Secrets = Mapping[str, str]
NONE: Secrets = {}


@pytest.fixture
def store(tmp_path: Path) -> KeyStore:
    """An empty store."""
    return KeyStore(tmp_path / "config")


@pytest.fixture(scope="session")
def works() -> SigningKey:
    """A new key, made once: that takes a while."""
    return new_key("default", "Works", NOW, years=1)


def unasked() -> str | None:
    """A passphrase that must not be asked for."""
    raise AssertionError("asked for a passphrase")


def p12(signer: Identity, passphrase: bytes | None = b"secret") -> bytes:
    """The identity as a PKCS #12 file."""
    encryption = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    return pkcs12.serialize_key_and_certificates(
        b"n", signer.private, signer.certificate, signer.certificates[1:], encryption
    )


def test_new_key_signs_and_is_its_own_authority(store: KeyStore, attached: Mapping[str, bytes]) -> None:
    """RSA of 3,072 bits, certificate for the subject, signed by itself, valid from now on."""
    made = new_key("default", "Works Ltd", NOW, years=2)
    store.add(made, None)
    opened = store.open("default", unasked)
    own = opened.certificates[0]
    assert isinstance(opened.private, rsa.RSAPrivateKey)
    assert opened.private.key_size >= 3072
    assert (name_of(own), is_self_signed(own)) == ("Works Ltd", True)
    assert own.not_valid_before_utc <= NOW
    assert own.not_valid_after_utc == NOW + timedelta(days=730)
    assert read_report(sign_pdf(small_pdf(), attached, opened, NOW))[0].path == (own,)


@pytest.mark.parametrize("subject", ["", "  ", "x" * 65, "two\nlines", "\u202e"])
def test_subject_is_a_name(subject: str) -> None:
    """What a certificate cannot hold, or a reader would misread, is refused."""
    with pytest.raises(ConfigurationError, match="subject"):
        new_key("default", subject, NOW, years=1)


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_files_are_for_their_owner_alone(store: KeyStore, works: SigningKey) -> None:
    """Mode 0600 whatever the umask says, folder 0700; nothing is left beside it."""
    before = os.umask(0)
    try:
        info = store.add(works, None)
    finally:
        os.umask(before)
    assert stat.S_IMODE(info.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(info.path.parent.stat().st_mode) == 0o700
    assert [path.name for path in info.path.parent.iterdir()] == ["default.pem"]


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_key_that_others_may_read_is_refused(mode: int, store: KeyStore, works: SigningKey) -> None:
    """It may have been copied already."""
    info = store.add(works, None)
    info.path.chmod(mode)
    with pytest.raises(ConfigurationError, match="others may read"):
        store.open("default", unasked)


def test_never_overwritten(store: KeyStore, works: SigningKey) -> None:
    """Neither by a new key nor by an imported one, nor through a dangling link."""
    info = store.add(works, None)
    before = info.path.read_bytes()
    with pytest.raises(ConfigurationError, match="never overwritten"):
        store.add(works, None)
    assert info.path.read_bytes() == before
    store.path("linked").symlink_to("nowhere")
    with pytest.raises(ConfigurationError, match="never overwritten"):
        store.add(replace(works, name="linked"), None)


@pytest.mark.parametrize("name", ["", ".", "..", "../up", "a/b", "A", "-a", "a" * 42, "a.pem", "\0"])
def test_names_lead_nowhere_else(name: str, store: KeyStore) -> None:
    """A name is never a path."""
    with pytest.raises(ConfigurationError, match="is no name"):
        store.path(name)


def test_passphrase(store: KeyStore, works: SigningKey) -> None:
    """An encrypted key opens with its passphrase alone, and shows its certificate without one."""
    made = works
    info = store.add(made, "correct horse ü")
    assert info.encrypted
    assert b"ENCRYPTED" in info.path.read_bytes()
    assert store.info("default").certificates == made.certificates
    assert store.open("default", lambda: "correct horse ü").certificates == made.certificates
    for wrong in ("wrong", "", None):
        with pytest.raises(ConfigurationError, match="passphrase"):
            store.open("default", lambda wrong=wrong: wrong)  # type: ignore[misc] # mypy infers no default's type


def test_open_key_shows_nothing(store: KeyStore, works: SigningKey) -> None:
    """Neither the key nor numbers of it in a repr."""
    made = works
    assert isinstance(made.private, rsa.RSAPrivateKey)
    assert repr(made) == "SigningKey(name='default', throwaway=False)"
    assert str(made.private.private_numbers().d) not in f"{made!r}{store.add(made, None)!r}"


@pytest.mark.parametrize("damage", ["cut", "certificate", "empty", "no-certificate"])
def test_damaged_file(damage: str, store: KeyStore, works: SigningKey) -> None:
    """One line that says so, without a byte of the file."""
    info = store.add(works, None)
    data = info.path.read_bytes()
    other = identity("Other").certificate.public_bytes(Encoding.PEM)
    mark = b"-----BEGIN CERTIFICATE-----"
    info.path.write_bytes(
        {
            "cut": data[:300],
            "certificate": data.partition(mark)[0] + other,
            "empty": b"",
            "no-certificate": data.partition(mark)[0],
        }[damage]
    )
    with pytest.raises(ConfigurationError, match="damaged|belongs to another") as caught:
        store.open("default", unasked)
    assert "BEGIN" not in str(caught.value)


@pytest.mark.parametrize("kind", ["rsa", "ec"])
def test_pkcs12_with_its_chain(kind: str, store: KeyStore, attached: Mapping[str, bytes]) -> None:
    """Key, certificate and the authorities above it, in order; a stranger's certificate in the file is left out."""
    signer = chain(kind)
    stranger = identity("Stranger", number=9)
    mixed = Identity(signer.private, (signer.certificate, stranger.certificate, *reversed(signer.certificates[1:])))
    made = from_pkcs12("acme", p12(mixed), "secret", file="k.p12")
    assert made.certificates == signer.certificates
    store.add(made, None)
    assert read_report(sign_pdf(small_pdf(), attached, store.open("acme", unasked), NOW))[0].path == signer.certificates


def test_pkcs12_without_a_passphrase() -> None:
    """Such files exist."""
    assert from_pkcs12("a", p12(identity("Signer"), None), None, file="k.p12").certificates


def test_pkcs12_that_cannot_be_used() -> None:
    """Wrong passphrase, no such file, no key, a key of a kind that PDF readers do not verify, one that is too short."""
    signer = identity("Signer")
    with pytest.raises(ConfigurationError, match="passphrase is another"):
        from_pkcs12("a", p12(signer), "other", file="k.p12")
    with pytest.raises(ConfigurationError, match="no PKCS #12"):
        from_pkcs12("a", b"junk", None, file="k.p12")
    no_key = pkcs12.serialize_key_and_certificates(b"n", None, signer.certificate, None, NoEncryption())
    with pytest.raises(ConfigurationError, match="no private key"):
        from_pkcs12("a", no_key, None, file="k.p12")
    short = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505 - to be refused
    for private, algorithm, why in (
        (ed25519.Ed25519PrivateKey.generate(), None, "neither RSA"),
        (short, hashes.SHA256(), "1024 bits"),
    ):
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "n")])
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(private.public_key())
        builder = builder.serial_number(1).not_valid_before(NOW).not_valid_after(NOW + timedelta(1))
        own = builder.sign(private, algorithm)
        data = pkcs12.serialize_key_and_certificates(b"n", private, own, None, NoEncryption())
        with pytest.raises(ConfigurationError, match=why):
            from_pkcs12("a", data, None, file="k.p12")


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {"XDG_CONFIG_HOME": "/x"}, "/x/rag-auditor"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, "~/.config/rag-auditor"),
        ("linux", {}, "~/.config/rag-auditor"),
        ("darwin", {"XDG_CONFIG_HOME": "/x"}, "~/Library/Application Support/rag-auditor"),
        ("win32", {"APPDATA": "/app"}, "/app/rag-auditor"),
        ("win32", {"APPDATA": "/app", "AUDITOR_CONFIG": "/mine"}, "/mine"),
        ("linux", {"AUDITOR_CONFIG": " "}, "~/.config/rag-auditor"),
    ],
)
def test_configuration_folder(platform: str, environment: Mapping[str, str], folder: str) -> None:
    """Where each platform keeps such things, unless the user says otherwise."""
    assert config_folder(environment, platform) == Path(folder).expanduser()


def test_throwaway_key(attached: Mapping[str, bytes], tmp_path: Path) -> None:
    """Made in memory, another each time; certificate and signature say that it identifies nobody."""
    one, two = throwaway_key(NOW), throwaway_key(NOW)
    assert one.throwaway
    assert fingerprint(one.certificates[0]) != fingerprint(two.certificates[0])
    assert "identifies nobody" in name_of(one.certificates[0])
    signature, document, _ = read_report(sign_pdf(small_pdf(), attached, one, NOW))
    assert signature.path == one.certificates
    assert document.reason == THROWAWAY_REASON
    assert not list(tmp_path.iterdir())


class TestCommand:
    """``auditor keys`` in a process of its own."""

    def run(self, folder: Path, *arguments: str, code: ExitCode = ExitCode.OK, secrets: Secrets = NONE) -> str:
        """Standard output and error of one call, which has to end with ``code``."""
        done = run_auditor("keys", *arguments, environment={"AUDITOR_CONFIG": str(folder), **secrets})
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    def test_new_and_show(self, tmp_path: Path) -> None:
        """Fingerprint and subject are shown, the private key is not; the certificate can be given away."""
        made = self.run(tmp_path, "new", "--subject", "Works Ltd")
        (facts,) = json.loads(self.run(tmp_path, "show", "--json"))
        assert facts["subject"] == "Works Ltd"
        assert facts["fingerprint"] in made
        pem = tmp_path / "given.pem"
        pem.write_text(self.run(tmp_path, "show", "--pem"), encoding="ascii")
        assert read_wanted(str(pem)).fingerprint == facts["fingerprint"]
        assert "PRIVATE" not in made + pem.read_text(encoding="ascii")

    def test_taken_name(self, tmp_path: Path) -> None:
        """The second is refused."""
        self.run(tmp_path, "new")
        assert "never overwritten" in self.run(tmp_path, "new", code=ExitCode.CONFIGURATION)

    def test_passphrase_from_the_environment(self, tmp_path: Path) -> None:
        """The variable encrypts; without it and without a terminal nobody can be asked."""
        self.run(tmp_path, "new", "a", "--passphrase", secrets={"AUDITOR_KEY_PASSPHRASE": "s3cret-words"})
        stored = (tmp_path / "keys" / "a.pem").read_bytes()
        assert b"ENCRYPTED" in stored
        said = self.run(tmp_path, "new", "b", "--passphrase", code=ExitCode.CONFIGURATION)
        assert "AUDITOR_KEY_PASSPHRASE" in said
        assert "yes" in self.run(tmp_path, "show", "a")

    def test_import(self, tmp_path: Path) -> None:
        """A PKCS #12 file with a chain of three; its passphrase is in no output and not in the stored file."""
        file = tmp_path / "k.p12"
        file.write_bytes(p12(chain(), b"file-words"))
        said = self.run(tmp_path, "import", str(file), "acme", secrets={"AUDITOR_PKCS12_PASSPHRASE": "file-words"})
        assert "Intermediate, under Root" in said
        assert "file-words" not in said + (tmp_path / "keys" / "acme.pem").read_text(encoding="ascii")
        wrong = self.run(
            tmp_path,
            "import",
            str(file),
            "b",
            code=ExitCode.CONFIGURATION,
            secrets={"AUDITOR_PKCS12_PASSPHRASE": "no-words"},
        )
        assert "no-words" not in wrong

    def test_nothing_there(self, tmp_path: Path) -> None:
        """No key at all, and one that is not there."""
        assert "no keys" in self.run(tmp_path, "show")
        self.run(tmp_path, "new", "acme")
        assert "did you mean 'acme'" in self.run(tmp_path, "show", "acne", code=ExitCode.CONFIGURATION)
        assert "import" in self.run(tmp_path)


def test_clock_is_injected() -> None:
    """A key made in another year is valid from then."""
    then = datetime(2031, 5, 1, tzinfo=UTC)
    key: SigningKey = new_key("a", "Works", then, years=1)
    assert key.certificates[0].not_valid_before_utc.year == 2031
