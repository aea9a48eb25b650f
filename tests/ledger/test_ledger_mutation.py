"""Tampering: change, delete, insert, swap or duplicate any entry of a sealed ledger, in any way, and it shows."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditor.canonical import canonical, digest
from auditor.errors import ExitCode
from auditor.ledger import Reader, Seal, export_jsonl, verify
from auditor.ledger.form import chain_digest

Forge = Callable[[Path, Sequence[tuple[str, Sequence[object]]]], None]
_LAST = 11  # entries of the fixture: the first, three calls of three, the seal
_SOME = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=40)
_COLUMNS = ("kind", "key", "body", "body_digest", "digest")
_NUMBERS = st.integers(1, _LAST)
_INSERT = "INSERT INTO entries VALUES (?,?,?,?,?,?)"


def _copy(sealed: Path) -> Path:
    return Path(shutil.copy(sealed, sealed.with_name("forged.sqlite")))


def _rows(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM entries ORDER BY sequence").fetchall()


def _assert_named(path: Path, *numbers: int) -> None:
    report = verify(path)
    assert report.exit_code in {ExitCode.TAMPERED, ExitCode.NOT_SEALED}
    assert report.first_wrong in numbers


def _copied(sequence: str, key: str = "key") -> str:
    """A SELECT of entry ``:n`` under another sequence, with another body."""
    return f"SELECT {sequence}, kind, {key}, x'7b7d', body_digest, digest FROM entries WHERE sequence = :n"  # noqa: S608 - constants of this test


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = x'7b7d' WHERE sequence = :n",
        "UPDATE OR REPLACE entries SET key = 'x' WHERE sequence = :n",
        "UPDATE entries SET sequence = sequence + 100 WHERE sequence = :n",
        "DELETE FROM entries WHERE sequence = :n",
        f"INSERT OR REPLACE INTO entries {_copied(':n')}",
        f"INSERT OR REPLACE INTO entries {_copied('12')}",
        f"REPLACE INTO entries {_copied('12')}",
        f"INSERT OR IGNORE INTO entries {_copied('12')}",
        f"INSERT INTO entries {_copied('12')} ON CONFLICT DO UPDATE SET body = x'7b7d'",
        f"INSERT INTO entries {_copied('12 + :n', 'hex(key)')}",
        f"INSERT INTO entries {_copied('NULL', 'hex(key)')}",
        f"INSERT INTO entries {_copied('-:n', 'hex(key)')}",
    ],
)
@pytest.mark.parametrize("recursive", ["OFF", "ON"])
def test_triggers_refuse_any_connection(sealed: Path, statement: str, recursive: str) -> None:
    """A foreign connection can neither change, remove nor replace, nor insert anywhere but at the end."""
    before = _rows(sealed)
    with closing(sqlite3.connect(sealed, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA recursive_triggers = {recursive}")
        for number in range(1, _LAST + 1):
            with pytest.raises(sqlite3.IntegrityError, match="ledger: "):
                connection.execute(statement, {"n": number})
    assert _rows(sealed) == before
    assert verify(sealed).exit_code == 0


@_SOME
@given(number=_NUMBERS, column=st.sampled_from(_COLUMNS), data=st.data())
def test_a_changed_column_is_named(
    sealed: Path, without_triggers: Forge, number: int, column: str, data: st.DataObject
) -> None:
    """One value of one entry, changed behind the triggers' back."""
    path = _copy(sealed)
    old = _rows(path)[number - 1][_COLUMNS.index(column) + 1]
    if column == "body":
        place = data.draw(st.integers(0, len(old) - 1))
        new: Any = old[:place] + bytes([data.draw(st.integers(0, 255).filter(lambda byte: byte != old[place]))])
        new += old[place + 1 :]
    else:
        new = data.draw(
            st.text(st.characters(max_codepoint=126), min_size=1, max_size=9).filter(lambda text: text != old)
        )
    statement = f"UPDATE entries SET {column} = ? WHERE sequence = ?"  # noqa: S608 - one of our own columns
    without_triggers(path, [(statement, (new, number))])
    _assert_named(path, number)


@_SOME
@given(number=_NUMBERS, body=st.dictionaries(st.sampled_from("abc"), st.integers(0, 9)))
def test_a_changed_body_with_its_digests_recomputed_is_named(
    sealed: Path, without_triggers: Forge, number: int, body: dict[str, int]
) -> None:
    """Who also recomputes the entry's own digests breaks the entry after it, or the seal's statement."""
    path = _copy(sealed)
    rows = _rows(path)
    sequence, kind, key = rows[number - 1][:3]
    stored = canonical(body)
    head = rows[number - 2][5] if number > 1 else ""
    chain = chain_digest(head, sequence, kind, key, digest(stored))
    values = (stored, digest(stored), chain, number)
    without_triggers(path, [("UPDATE entries SET body = ?, body_digest = ?, digest = ? WHERE sequence = ?", values)])
    _assert_named(path, number, number + 1)


@_SOME
@given(number=_NUMBERS, renumber=st.booleans())
def test_a_deleted_entry_is_named(sealed: Path, without_triggers: Forge, number: int, renumber: bool) -> None:
    """Removed from anywhere, the tail included, with or without closing the gap."""
    path = _copy(sealed)
    statements: list[tuple[str, Sequence[object]]] = [("DELETE FROM entries WHERE sequence = ?", (number,))]
    if renumber:
        statements.append(("UPDATE entries SET sequence = sequence - 1 WHERE sequence > ?", (number,)))
    without_triggers(path, statements)
    _assert_named(path, number)


@_SOME
@given(kept=st.integers(0, _LAST - 1))
def test_a_cut_tail_is_named(sealed: Path, without_triggers: Forge, kept: int) -> None:
    """However much is cut from the end, the place of the cut is named."""
    path = _copy(sealed)
    without_triggers(path, [("DELETE FROM entries WHERE sequence > ?", (kept,))])
    _assert_named(path, kept + 1)


@_SOME
@given(source=_NUMBERS, place=st.integers(1, _LAST + 1), rename=st.booleans(), fresh=st.booleans())
def test_an_inserted_entry_is_named(
    sealed: Path, without_triggers: Forge, source: int, place: int, rename: bool, fresh: bool
) -> None:
    """A copy of any entry or a new one, put anywhere, the rest moved on; at the tail it makes the ledger unsealed."""
    path = _copy(sealed)
    rows = _rows(path)
    _, kind, key, stored, body_digest, chain = rows[source - 1]
    key = f"{key}x" if rename or place <= _LAST else f"{key}y"
    if fresh:  # with digests that follow from the entry before
        chain = chain_digest(rows[place - 2][5] if place > 1 else "", place, kind, key, body_digest)
    shift = [
        ("UPDATE entries SET sequence = -sequence - 1 WHERE sequence >= ?", (place,)),
        ("UPDATE entries SET sequence = -sequence WHERE sequence < 0", ()),
    ]
    without_triggers(path, [*shift, (_INSERT, (place, kind, key, stored, body_digest, chain))])
    _assert_named(path, place, place + 1)


@_SOME
@given(pair=st.lists(_NUMBERS, min_size=2, max_size=2, unique=True))
def test_swapped_entries_are_named(sealed: Path, without_triggers: Forge, pair: list[int]) -> None:
    """Two entries that change places."""
    path = _copy(sealed)
    one, two = pair
    moves = ((0, one), (one, two), (two, 0))
    without_triggers(path, [("UPDATE entries SET sequence = ? WHERE sequence = ?", move) for move in moves])
    _assert_named(path, min(pair))


@_SOME
@given(
    number=_NUMBERS,
    other=_NUMBERS,
    how=st.sampled_from(["delete", "duplicate", "swap", "change", "reformat", "rename", "cut"]),
    data=st.data(),
)
def test_a_changed_export_is_named(sealed: Path, number: int, other: int, how: str, data: st.DataObject) -> None:
    """The same in the JSONL export, byte by byte: each line is one entry in canonical form or the export fails."""
    path = sealed.with_name("export.jsonl")
    with Reader(sealed) as reader:
        export_jsonl(reader, path)
    assert verify(path).exit_code == 0
    lines = path.read_bytes().splitlines(keepends=True)
    line = lines[number - 1]
    if how == "delete":
        del lines[number - 1]
    elif how == "duplicate":
        lines.insert(other, line)  # beside itself, either of the two is the second
        path.write_bytes(b"".join(lines))
        _assert_named(path, other + 1, other + 2)
        return
    elif how == "swap":
        lines[number - 1], lines[other - 1] = lines[other - 1], line
        if number == other:
            return
        number = min(number, other)
    elif how == "cut":
        lines = [*lines[: number - 1], line[: data.draw(st.integers(0, len(line) - 1))]]
    elif how == "reformat":
        lines[number - 1] = json.dumps(json.loads(line), indent=None).encode() + b"\n"
    elif how == "rename":
        lines[number - 1] = line.replace(b'"kind"', b'"kinds"', 1)
    else:
        place = data.draw(st.integers(0, len(line) - 1))
        byte = data.draw(st.integers(0, 255).filter(lambda value: value != line[place]))
        lines[number - 1] = line[:place] + bytes([byte]) + line[place + 1 :]
    path.write_bytes(b"".join(lines))
    _assert_named(path, number)


def test_a_rebuilt_chain_is_caught_by_a_seal_known_from_elsewhere(
    sealed: Path, tmp_path: Path, without_triggers: Forge
) -> None:
    """Who can write the file can rebuild all of it; findings and signatures name the seal, and that shows it."""
    with Reader(sealed) as reader:
        known = reader.last_seal()
    assert known is not None
    assert verify(sealed, expected=known).exit_code == 0
    statements: list[tuple[str, Sequence[object]]] = []
    head = ""
    for sequence, kind, key, stored, _, _ in _rows(sealed):
        body = json.loads(stored)
        if kind == "outcome":
            body["latency_ms"] = "1.0"
        if kind == "seal":
            body["head"] = head
        stored = canonical(body)
        head = chain_digest(head, sequence, kind, key, digest(stored))
        values = (stored, digest(stored), head, sequence)
        statements.append(("UPDATE entries SET body = ?, body_digest = ?, digest = ? WHERE sequence = ?", values))
    without_triggers(sealed, statements)
    assert verify(sealed).exit_code == 0
    report = verify(sealed, expected=known)
    assert report.exit_code is ExitCode.TAMPERED
    assert verify(sealed, expected=Seal(known.count - 1, known.head)).exit_code is ExitCode.TAMPERED


@_SOME
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_never_changes_an_entry_unnoticed(sealed: Path, place: float, bit: int) -> None:
    """Anywhere in the file: either verification fails, or every entry reads exactly as before."""
    path = _copy(sealed)
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    path.write_bytes(content)
    if verify(path).exit_code == 0:
        with Reader(path) as forged, Reader(sealed) as original:
            assert list(forged.rows()) == list(original.rows())
            for row in original.rows():
                assert forged.get(row.kind, row.key) == row
