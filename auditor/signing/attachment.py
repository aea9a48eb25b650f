"""The three files inside a signed report: findings, protocol, and where the ledger stood.

Invariant: ``read_attachments`` returns only what ``attachments_of`` could have made: the findings name the protocol
by its digest, and rest on the seal that the ledger's state ends with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from auditor.canonical import Json, canonical, digest
from auditor.errors import AuditorError, NotChecked, RunError, SignatureError, StorageError
from auditor.findings import Findings
from auditor.findings_json import from_json
from auditor.ledger import Reader

__all__ = ["LIMITS", "Attached", "LedgerState", "attachments_of", "read_attachments"]

FINDINGS: Final = "findings.json"
PROTOCOL: Final = "protocol.json"
LEDGER: Final = "ledger.json"
LIMITS: Final[Mapping[str, int]] = {FINDINGS: 2**25, PROTOCOL: 2**25, LEDGER: 2**12}
_FORM: Final = 1


@dataclass(frozen=True, slots=True)
class LedgerState:
    """How many entries a ledger had, its last seal included, and the digest of the last."""

    count: int
    head: str


@dataclass(frozen=True, slots=True)
class Attached:
    """What a signed report carries. ``unread``: why the findings cannot be read by this version, where they cannot."""

    protocol: Mapping[str, Any]
    protocol_digest: str
    ledger: LedgerState
    findings: Findings | None
    unread: str


def attachments_of(ledger: Path, findings: Path) -> dict[str, bytes]:
    """The files to attach to the report of a run. Raises ``RunError`` for a ledger without a seal at its end."""
    with Reader(ledger) as reader:
        row = reader.get("protocol", "0")
        if not reader.is_sealed or row is None or row.body is None:
            raise RunError(f"{ledger}: the run has not ended with a seal, so there is nothing to sign; run it again")
        protocol = canonical(row.body)
        state: Json = {"form": _FORM, "count": reader.count, "head": reader.head}
    try:
        written = findings.read_bytes()
    except OSError as error:
        raise StorageError(f"{findings}: {error.strerror}; auditor run writes it again") from error
    made = {FINDINGS: written, PROTOCOL: protocol, LEDGER: canonical(state)}
    for name, data in made.items():
        if len(data) > LIMITS[name]:
            raise RunError(f"{name} has {len(data)} bytes; a signed report holds at most {LIMITS[name]}")
    read_attachments(made)
    return made


def read_attachments(attachments: Mapping[str, bytes]) -> Attached:
    """What the attached files say. Raises ``SignatureError`` unless they are these three and agree with each other."""
    if set(attachments) != set(LIMITS):
        _refuse(f"a report carries {', '.join(sorted(LIMITS))}; this one {', '.join(sorted(attachments)) or 'nothing'}")
    findings, protocol, ledger = (_object(attachments[name], name) for name in (FINDINGS, PROTOCOL, LEDGER))
    state = _state(ledger)
    named = digest(attachments[PROTOCOL])
    try:
        operations = findings["operations"]
        if operations["protocol"] != named:
            _refuse("the findings are of another protocol than the one attached")
        if operations["seals"][-1]["sequence"] != state.count:
            _refuse("the findings rest on another seal than the one that the ledger is said to end with")
    except (KeyError, IndexError, TypeError) as error:
        raise SignatureError("findings.json does not name its protocol and seal") from error
    typed, unread = _typed(findings)
    return Attached(protocol, named, state, typed, unread)


def _object(data: bytes, name: str) -> dict[str, Any]:
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise SignatureError(f"{name} is not JSON") from error
    if not isinstance(value, dict):
        _refuse(f"{name} is not a JSON object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _state(body: Mapping[str, Any]) -> LedgerState:
    form, count, head = (body.get(name) for name in ("form", "count", "head"))
    if form != _FORM or type(count) is not int or not isinstance(head, str) or set(body) != {"form", "count", "head"}:
        _refuse("ledger.json does not state form, count and head")
    return LedgerState(count, head)


def _typed(findings: Mapping[str, Any]) -> tuple[Findings | None, str]:
    try:
        return from_json(findings), ""
    except NotChecked as error:
        return None, str(error)
    except AuditorError:
        raise
    except Exception as error:  # a stranger's document: what is missing in it can show anywhere
        raise SignatureError(f"findings.json is not a findings document ({type(error).__name__})") from error


def _refuse(why: str) -> NoReturn:
    raise SignatureError(why)
