"""``auditor keys``: keys for signing reports, made, imported and shown."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditor.cli.output import columns, say, say_json
from auditor.cli.text import visible
from auditor.errors import ConfigurationError

if TYPE_CHECKING:
    from auditor.signing.keys import KeyInfo, KeyStore

__all__ = ["KEY_PASSPHRASE", "import_", "key_passphrase", "key_store", "keys", "new", "show"]

KEY_PASSPHRASE = "AUDITOR_KEY_PASSPHRASE"  # noqa: S105 - the name of a variable
_FILE_PASSPHRASE = "AUDITOR_PKCS12_PASSPHRASE"  # noqa: S105 - the name of a variable
_MAX_FILE_BYTES = 2**20
_NAME = click.argument("name", default="default", metavar="[NAME]")
_PROTECT = click.option(
    "--passphrase",
    "protect",
    is_flag=True,
    help=f"Encrypt the key; the passphrase is asked for, or taken from ${KEY_PASSPHRASE}, which alone also does.",
)


@click.group(invoke_without_command=True)
@click.pass_context
def keys(context: click.Context) -> None:
    """Keys that sign reports. They lie in the user's configuration folder ($AUDITOR_CONFIG), never in a run.

    NAME is "default" unless it is given.
    """
    if context.invoked_subcommand is None:
        say(context.get_help())


@keys.command()
@_NAME
@click.option("--subject", metavar="TEXT", help="Whom the certificate names: a person, an organisation.")
@click.option("--years", type=click.IntRange(1, 30), default=5, show_default=True, help="How long it is valid.")
@_PROTECT
def new(name: str, subject: str | None, years: int, protect: bool) -> None:
    """Make a key with a self-signed certificate.

    Nobody vouches for such a certificate: give its fingerprint to those who are to verify, on a way that they trust.
    """
    store = key_store()
    store.refuse_taken(name)
    from auditor.signing.keys import new_key

    secret = _new_passphrase() if protect or os.environ.get(KEY_PASSPHRASE) else None
    made = new_key(name, subject or f"auditor signing key {name}", datetime.now(UTC), years=years)
    _show(store.add(made, secret))


@keys.command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("name", default="default", metavar="[NAME]")
@_PROTECT
def import_(file: Path, name: str, protect: bool) -> None:
    """Import a key with its certificates from FILE, in PKCS #12 form (.p12, .pfx).

    The file's own passphrase is asked for, or taken from $AUDITOR_PKCS12_PASSPHRASE.
    """
    store = key_store()
    store.refuse_taken(name)
    from auditor.signing.keys import from_pkcs12

    try:
        with file.open("rb") as opened:
            data = opened.read(_MAX_FILE_BYTES)
    except OSError as error:
        raise ConfigurationError(error.strerror or str(error), file=str(file)) from error
    stated = os.environ.get(_FILE_PASSPHRASE)
    if stated is None and sys.stdin.isatty():
        stated = str(click.prompt("Passphrase of the file", hide_input=True, default="", show_default=False, err=True))
    made = from_pkcs12(name, data, stated or None, file=str(file))
    secret = _new_passphrase() if protect or os.environ.get(KEY_PASSPHRASE) else None
    _show(store.add(made, secret))


@keys.command()
@click.argument("name", required=False)
@click.option("--pem", is_flag=True, help="Print the certificate alone, to give to those who verify (--signer FILE).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(name: str | None, pem: bool, as_json: bool) -> None:
    """Show the key NAME, or all: whom its certificate names, its fingerprint, until when it is valid.

    Needs no passphrase, and never shows a private key.
    """
    store = key_store()
    infos = [store.info(one) for one in ([name] if name or pem else store.names()) if one] or (
        [store.info("default")] if pem else []
    )
    if pem:
        from cryptography.hazmat.primitives.serialization import Encoding

        say(infos[0].certificates[0].public_bytes(Encoding.PEM).decode("ascii").rstrip())
    elif as_json:
        say_json([_facts(info) for info in infos])
    elif infos:
        for info in infos:
            _show(info)
    else:
        say("no keys; auditor keys new makes one")


def key_store() -> KeyStore:
    """The user's keys."""
    from auditor.signing.keys import KeyStore, config_folder

    return KeyStore(config_folder(os.environ))


def key_passphrase() -> str | None:
    """The passphrase of a stored key: from the environment, or asked for where somebody can answer."""
    stated = os.environ.get(KEY_PASSPHRASE)
    if stated is not None:
        return stated
    if not sys.stdin.isatty():
        raise ConfigurationError(f"the key has a passphrase: set {KEY_PASSPHRASE}, or call this from a terminal")
    return str(click.prompt("Passphrase of the key", hide_input=True, err=True))


def _new_passphrase() -> str:
    stated = os.environ.get(KEY_PASSPHRASE)
    if stated:
        return stated
    if not sys.stdin.isatty():
        raise ConfigurationError(f"nobody is there to ask for a passphrase: set {KEY_PASSPHRASE}")
    return str(click.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True))


def _facts(info: KeyInfo) -> dict[str, str]:
    from auditor.signing.certificate import fingerprint, is_self_signed, name_of

    own = info.certificates[0]
    above = ", under ".join(name_of(certificate) for certificate in info.certificates[1:])
    return {
        "name": info.name,
        "subject": name_of(own),
        "issuer": "itself (nobody vouches for it)" if is_self_signed(own) else above or "one that is not in the file",
        "fingerprint": fingerprint(own),
        "valid": f"{own.not_valid_before_utc:%Y-%m-%d} to {own.not_valid_after_utc:%Y-%m-%d}",
        "passphrase": "yes" if info.encrypted else "no: whoever can read the file can sign",
        "file": str(info.path),
    }


def _show(info: KeyInfo) -> None:
    for line in columns([[name, value] for name, value in _facts(info).items()]):
        say(visible(line))
