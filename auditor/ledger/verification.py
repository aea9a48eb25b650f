"""Whether a ledger is whole: every digest, body, reference and seal recomputed from the entries alone.

Invariants: reads its input as hostile, opens no socket, loads no plugin; what could not be checked is never reported as
passed. Works on the database and on its JSONL export, entry by entry, in bounded memory but for digests and keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from auditor.canonical import ALGORITHM, Json, canonical, digest
from auditor.errors import ExitCode, LedgerError, UnsealedLedger
from auditor.ledger import database
from auditor.ledger.entry import Seal, well_named
from auditor.ledger.export import lines
from auditor.ledger.form import FIRST_KIND, FORM, NO_DIGEST, SCHEMAS, SEAL_KIND, TEXT_KIND, chain_digest
from auditor.ledger.reader import Reader
from auditor.ledger.rows import StoredRow, seal_of

__all__ = ["Check", "CheckState", "VerifyReport", "parsed", "references", "verify"]

_ATTEMPT: Final = re.compile(r"(?P<attempt>.+#[1-9][0-9]*)\.[1-9][0-9]*")
_NEEDS_INTENT: Final = frozenset({"outcome", "late", "resend"})


class CheckState(StrEnum):
    """What a check came to."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a report. ``sequence``: the first entry that is wrong, where one can be named."""

    name: str
    state: CheckState
    detail: str
    sequence: int | None = None


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """All checks, with count and head of what was read and the seal at its end (None: not sealed)."""

    path: Path
    checks: tuple[Check, ...]
    count: int
    head: str
    seal: Seal | None
    withheld: int

    @property
    def exit_code(self) -> ExitCode:
        """``TAMPERED`` for any break, ``NOT_SEALED`` where only the seal at the end is missing, ``OK`` else."""
        failed = {check.name for check in self.checks if check.state is CheckState.FAILED}
        if not failed:
            return ExitCode.OK
        return ExitCode.NOT_SEALED if failed == {"sealed"} else ExitCode.TAMPERED

    @property
    def first_wrong(self) -> int | None:
        """Sequence of the first wrong entry; one past the end where the seal is missing."""
        named = [check.sequence for check in self.checks if check.sequence is not None]
        return min(named) if named else None

    def raise_for_failure(self) -> None:
        """Raise ``LedgerError`` or ``UnsealedLedger`` for the first failed check; nothing when the ledger is whole."""
        for check in self.checks:
            if check.state is CheckState.FAILED:
                kind = UnsealedLedger if self.exit_code is ExitCode.NOT_SEALED else LedgerError
                raise kind(f"{self.path}: {check.name}: {check.detail}", sequence=check.sequence)


def verify(path: Path | str, *, expected: Seal | None = None) -> VerifyReport:
    """Check a ledger file or its JSONL export.

    :param expected: a seal that is known from elsewhere (findings, a signed report): it must stand in this ledger.
        Without it a ledger that passes is "whole, not vouched for": whoever can write the file can rebuild the chain.
    Raises ``StorageError`` when the file cannot be read; all else is in the report.
    """
    path = Path(path)
    audit = _Audit(expected)
    head = database.file_head(path)
    try:
        if head.startswith(b"{"):
            with database.ours(path):
                audit.read(lines(path))
        else:
            with Reader(path) as reader:
                audit.passed("form", f"version {reader.version}, schema as published")
                _check_database(reader, audit)
                audit.read(reader.everything())
    except LedgerError as error:
        audit.broken(error)
    return audit.report(path)


def _check_database(reader: Reader, audit: _Audit) -> None:
    damage = reader.damage()
    if damage is None:
        audit.passed("database", "index and table agree")
    else:
        audit.fail("database", damage)


@dataclass(slots=True)
class _Audit:
    """What is known after the entries read so far. Only the first failure of each check is kept."""

    expected: Seal | None
    checks: dict[str, Check] = field(default_factory=dict)
    count: int = 0
    head: str = NO_DIGEST
    seal: Seal | None = None
    seals: int = 0
    withheld: int = 0
    found_expected: bool = False
    complete: bool = False
    names: set[tuple[str, str]] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    wanted: dict[str, int] = field(default_factory=dict)

    def passed(self, name: str, detail: str) -> None:
        self.checks.setdefault(name, Check(name, CheckState.PASSED, detail))

    def fail(self, name: str, detail: str, sequence: int | None = None) -> None:
        earlier = self.checks.get(name)
        if earlier is None or earlier.state is not CheckState.FAILED:
            self.checks[name] = Check(name, CheckState.FAILED, detail, sequence)

    def broken(self, error: LedgerError) -> None:
        """Reading could not go on: what was not reached is not checked."""
        name = "form" if "form" not in self.checks and not self.count else "chain"
        self.fail(name, str(error), error.sequence)

    def read(self, rows: Iterator[StoredRow]) -> None:
        for row in rows:
            self._chain(row)
            self._body(row)
            self.count, self.head = self.count + 1, row.digest
        if not self.count:
            raise LedgerError("missing: there is no entry at all", sequence=1)
        self.complete = True

    def _chain(self, row: StoredRow) -> None:
        expected = self.count + 1
        if row.sequence != expected:
            self.fail(
                "chain", f"entry {expected} is missing or out of its place: {row.sequence} stands there", expected
            )
        elif (row.kind, row.key) in self.names:
            self.fail("chain", f"{row.kind} {row.key} is there a second time", expected)
        elif chain_digest(self.head, row.sequence, row.kind, row.key, row.body_digest) != row.digest:
            self.fail("chain", f"entry {expected} ({row.kind} {row.key}) does not follow from the one before", expected)
        self.names.add((row.kind, row.key))

    def _body(self, row: StoredRow) -> None:
        number = self.count + 1
        self.seal = None
        if row.stored is None:
            self._withheld(row, number)
            return
        body = parsed(row.stored)
        if body is None:
            self.fail("bodies", f"the body of entry {number} ({row.kind} {row.key}) is not canonical JSON", number)
        elif digest(row.stored) != row.body_digest:
            self.fail("bodies", f"the body of entry {number} ({row.kind} {row.key}) was changed", number)
        if row.kind == TEXT_KIND:
            self.texts.add(row.body_digest)
        if body is not None:
            self._structure(row, body, number)

    def _withheld(self, row: StoredRow, number: int) -> None:
        if row.kind != TEXT_KIND:
            self.fail(
                "bodies", f"entry {number} ({row.kind} {row.key}) has no body; only texts may be withheld", number
            )
            return
        self.withheld += 1
        self.texts.add(row.body_digest)

    def _structure(self, row: StoredRow, body: Mapping[str, Json], number: int) -> None:
        if (number == 1) != (row.kind == FIRST_KIND):
            self.fail("structure", f"entry {number} is not what a ledger begins with", number)
        if number == 1 and not _is_first(body):
            self.fail("structure", "entry 1 does not state form, version and algorithm of a published ledger", number)
        if not well_named(row.kind, row.key):
            self.fail("structure", f"entry {number} has a kind or key outside the alphabet", number)
        if row.kind in _NEEDS_INTENT and ("intent", _attempt_of(row)) not in self.names:
            self.fail("structure", f"entry {number} ({row.kind} {row.key}) has no intent before it", number)
        for reference in references(body):
            self.wanted.setdefault(reference, number)
        if row.kind == SEAL_KIND:
            self._seal(row, number)

    def _seal(self, row: StoredRow, number: int) -> None:
        self.seals += 1
        try:
            seal = seal_of(row)
        except LedgerError as error:
            self.fail("seals", str(error), number)
            return
        if (seal.count, seal.head) != (self.count, self.head):
            self.fail("seals", f"the seal at entry {number} states another count or head than stand before it", number)
            return
        self.seal = seal
        if self.expected is not None and (seal.count, seal.head) == (self.expected.count, self.expected.head):
            self.found_expected = True

    def report(self, path: Path) -> VerifyReport:
        if self.complete:
            self._finish()
        order = ("form", "database", "chain", "bodies", "structure", "seals", "sealed", "expected seal")
        unreached = Check("", CheckState.NOT_CHECKED, "reading ended before the last entry")
        checks = [
            self.checks.get(name) or Check(name, unreached.state, unreached.detail)
            for name in order
            if name in self.checks or not self.complete
        ]
        return VerifyReport(path, tuple(checks), self.count, self.head, self.seal, self.withheld)

    def _finish(self) -> None:
        for reference, number in self.wanted.items():
            if reference not in self.texts:
                self.fail("structure", f"entry {number} refers to {reference}, and no text has this digest", number)
                break
        self.passed("form", "JSONL, canonical line by line")
        self.passed("chain", f"{self.count} entries, head {self.head}")
        withheld = f", {self.withheld} texts withheld" if self.withheld else ""
        self.passed("bodies", f"canonical and as digested{withheld}")
        self.passed("structure", "every outcome has its intent, every reference its text")
        self.passed("seals", f"{self.seals} seals, each over what stands before it")
        if self.seal is not None:
            self.passed("sealed", f"at the end, over {self.seal.count} entries")
        else:
            self.fail("sealed", f"no seal after entry {self.count}: a cut tail would not show", self.count + 1)
        if self.expected is None:
            self.checks["expected seal"] = Check("expected seal", CheckState.NOT_CHECKED, "none was given")
        elif self.found_expected:
            self.passed("expected seal", f"over {self.expected.count} entries, stands in this ledger")
        else:
            self.fail("expected seal", f"over {self.expected.count} entries, does not stand in this ledger")


def parsed(stored: bytes) -> dict[str, Json] | None:
    """The body, or None unless it is an object whose canonical form is ``stored``, byte for byte."""
    try:
        body = json.loads(stored.decode("utf-8"))
        return body if isinstance(body, dict) and canonical(body) == stored else None
    except (ValueError, TypeError, RecursionError):
        return None


def references(value: Json) -> Iterator[str]:
    """Commitments under the name ``texts``, at any depth; see the package's docstring for the convention."""
    waiting: list[Json] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            for name, part in item.items():
                if name == "texts":
                    yield from _commitments(part)
                else:
                    waiting.append(part)
        elif isinstance(item, list):
            waiting.extend(item)


def _commitments(texts: Json) -> Iterator[str]:
    for part in texts.values() if isinstance(texts, Mapping) else [texts]:
        for item in part if isinstance(part, Sequence) and not isinstance(part, str) else [part]:
            if item is not None:
                yield item if isinstance(item, str) else repr(item)


def _attempt_of(row: StoredRow) -> str:
    """Key of the attempt that an outcome, a late reply or a resend belongs to (a resend adds ``.<m>``)."""
    if row.kind != "resend":
        return row.key
    match = _ATTEMPT.fullmatch(row.key)
    return match["attempt"] if match else ""


def _is_first(body: Mapping[str, Json]) -> bool:
    version = body.get("version")
    return (
        (body.get("form"), body.get("algorithm")) == (FORM, ALGORITHM) and type(version) is int and version in SCHEMAS
    )
