"""Verification: what it checks beyond the chain, what it says where, and what it never does."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from auditor.canonical import canonical, digest
from auditor.errors import ExitCode, LedgerError, UnsealedLedger
from auditor.ledger import (
    CheckState,
    Entry,
    Ledger,
    Reader,
    VerifyReport,
    commitment,
    export_jsonl,
    raw_entry,
    text_entry,
    verify,
)
from auditor.ledger.form import chain_digest

Clock = Callable[[], Any]
Call = Callable[..., list[Entry]]
Forge = Callable[[Path, Sequence[tuple[str, Sequence[object]]]], None]


def _state(report: VerifyReport, name: str) -> tuple[CheckState, int | None]:
    (check,) = [check for check in report.checks if check.name == name]
    return check.state, check.sequence


def _written(path: Path, clock: Clock, *groups: Sequence[Entry]) -> VerifyReport:
    with Ledger.create(path, clock=clock) as ledger:
        for group in groups:
            ledger.append_wait(group)
        ledger.seal()
    return verify(path)


def _rewrite(path: Path, change: Callable[[int, str, Any], bytes | None], forge: Forge) -> None:
    """Rebuild the whole chain after ``change`` gave every body a new form, as a forger with the file could."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT sequence, kind, key, body, body_digest FROM entries ORDER BY 1").fetchall()
    statements: list[tuple[str, Sequence[object]]] = []
    head = ""
    for sequence, kind, key, stored, body_digest in rows:
        body = json.loads(stored)
        if kind == "seal":
            body["head"] = head
        changed = change(sequence, kind, body)
        if changed is not None:
            body_digest = digest(changed)
        head = chain_digest(head, sequence, kind, key, body_digest)
        values = (changed, body_digest, head, sequence)
        statements.append(("UPDATE entries SET body = ?, body_digest = ?, digest = ? WHERE sequence = ?", values))
    forge(path, statements)


def test_a_whole_ledger_passes_line_by_line(sealed: Path) -> None:
    """Every check is named with its state; without a known seal, that one is not checked, and never passed."""
    report = verify(sealed)
    assert report.exit_code is ExitCode.OK
    assert report.first_wrong is None
    report.raise_for_failure()
    assert [(check.name, check.state.value) for check in report.checks] == [
        ("form", "passed"),
        ("database", "passed"),
        ("chain", "passed"),
        ("bodies", "passed"),
        ("structure", "passed"),
        ("seals", "passed"),
        ("sealed", "passed"),
        ("expected seal", "not checked"),
    ]
    with Reader(sealed) as reader:
        assert (report.count, report.head) == (reader.count, reader.head) == (11, reader.head)
        assert report.seal == reader.last_seal()


def test_database_and_export_agree(sealed: Path, tmp_path: Path) -> None:
    """The export is one canonical line an entry, ends where the ledger ends, and verifies with the same result."""
    path = tmp_path / "export.jsonl"
    with Reader(sealed) as reader:
        export_jsonl(reader, path)
        lines = path.read_bytes().splitlines()
        assert [canonical(json.loads(line)) for line in lines] == lines
        assert [json.loads(line)["body"] for line in lines] == [row.body for row in reader.rows()]
    report, database = verify(path), verify(sealed)
    assert report.exit_code == 0
    assert (report.count, report.head, report.seal) == (database.count, database.head, database.seal)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["export.jsonl", "ledger.sqlite"]


def test_an_unsealed_ledger_has_a_code_of_its_own(tmp_path: Path, clock: Clock, call: Call) -> None:
    """Whole as far as it goes, but a cut tail would not show: not sealed, which is neither whole nor tampered with."""
    path = tmp_path / "ledger.sqlite"
    with Ledger.create(path, clock=clock) as ledger:
        ledger.append_wait(call(0))
        live = verify(path)
    for report in (live, verify(path)):
        assert report.exit_code is ExitCode.NOT_SEALED
        assert _state(report, "sealed") == (CheckState.FAILED, 5)
        assert _state(report, "chain") == (CheckState.PASSED, None)
        with pytest.raises(UnsealedLedger, match="entry 5"):
            report.raise_for_failure()


@pytest.mark.parametrize("kind", ["outcome", "late", "resend"])
def test_what_comes_after_a_call_has_its_intent_before_it(tmp_path: Path, clock: Clock, kind: str) -> None:
    """An outcome, a late reply or a resend without an intent *earlier* in the ledger is named."""
    key = "ask/0.0.1.plain.0#1"
    entry = Entry(kind, f"{key}.1" if kind == "resend" else key, {})
    intent = Entry("intent", key, {})
    assert _written(tmp_path / "a.sqlite", clock, [intent, entry]).exit_code == 0
    for name, entries in (("b", [entry]), ("c", [entry, intent]), ("d", [Entry("intent", f"{key}1", {}), entry])):
        report = _written(tmp_path / f"{name}.sqlite", clock, entries)
        assert report.exit_code is ExitCode.TAMPERED
        assert _state(report, "structure") == (CheckState.FAILED, 2 if name in "bc" else 3)


@pytest.mark.parametrize("key", ["a#1", "a#1.0", "a.1", "a#0.1", "#1.1", "a#1.x", "a#1.1.1"])
def test_a_resend_names_its_attempt(tmp_path: Path, clock: Clock, key: str) -> None:
    """A resend's key is an attempt's with a number of its own; any other form has no intent."""
    report = _written(tmp_path / "a.sqlite", clock, [Entry("intent", "a#1", {}), Entry("resend", key, {})])
    assert report.exit_code is ExitCode.TAMPERED


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: {"texts": {"answer": text}},
        lambda text: {"texts": {"evidence": [text], "prompt": None}},
        lambda text: {"replies": [{"texts": {"raw": text}}]},
    ],
)
def test_every_reference_has_its_text(tmp_path: Path, clock: Clock, wrap: Callable[[str], Mapping[str, Any]]) -> None:
    """A commitment under ``texts``, at any depth, is that of a text entry of the ledger, before or after it."""
    for number, text in enumerate((text_entry("t", "x"), raw_entry("t", b"x"))):
        note = Entry("note", "n", wrap(commitment(text)))
        assert _written(tmp_path / f"a{number}.sqlite", clock, [note, text]).exit_code == 0
        report = _written(tmp_path / f"b{number}.sqlite", clock, [note, Entry("other", "t", text.body)])
        assert report.exit_code is ExitCode.TAMPERED
        assert _state(report, "structure") == (CheckState.FAILED, 2)


def test_a_withheld_text_verifies_and_nothing_else_may_be_withheld(
    sealed: Path, tmp_path: Path, without_triggers: Forge
) -> None:
    """Without a text's body the chain, the references and all numbers still hold; another body's absence is named."""
    without_triggers(sealed, [("UPDATE entries SET body = NULL WHERE kind = 'text'", ())])
    export = tmp_path / "export.jsonl"
    with Reader(sealed) as reader:
        export_jsonl(reader, export)
        assert [row.text for row in reader.rows("text")] == [None] * 3
    for path in (sealed, export):
        report = verify(path)
        assert (report.exit_code, report.withheld) == (ExitCode.OK, 3)
    without_triggers(sealed, [("UPDATE entries SET body = NULL WHERE kind = 'outcome'", ())])
    assert _state(verify(sealed), "bodies") == (CheckState.FAILED, 4)


@pytest.mark.parametrize("number", range(1, 12))
def test_a_changed_body_is_named(sealed: Path, without_triggers: Forge, number: int) -> None:
    """Another body under an entry's digests, canonical as it may be."""
    without_triggers(sealed, [("UPDATE entries SET body = x'7b7d' WHERE sequence = ?", (number,))])
    report = verify(sealed)
    assert report.exit_code is ExitCode.TAMPERED
    assert _state(report, "bodies") == (CheckState.FAILED, number)
    with pytest.raises(LedgerError, match=f"entry {number}"):
        report.raise_for_failure()


@pytest.mark.parametrize(
    "form",
    [
        lambda body: json.dumps(body, separators=(",", ":")).encode().replace(b"{", b"{ ", 1),
        lambda body: canonical(body).replace(b"{", b'{"a":1,"a":1,', 1),
        lambda body: b'{"a":1.5}',
        lambda body: b'{"a":9007199254740992}',
        lambda body: b'{"a":NaN}',
        lambda body: b'{"a":"\\u0041"}',
        lambda body: b'{"a":"\\ud800"}',
        lambda body: b'{"a":"\xff"}',
        lambda body: b"[]",
        lambda body: b"",
        lambda body: b"[" * 100_000 + b"]" * 100_000,
        lambda body: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    ],
)
def test_a_body_that_is_not_canonical_is_named(
    sealed: Path, without_triggers: Forge, form: Callable[[Any], bytes]
) -> None:
    """Digests that fit do not help: two spellings of one value, floats and broken text have no place in a ledger."""
    _rewrite(sealed, lambda n, kind, body: form(body) if n == 5 else canonical(body), without_triggers)
    report = verify(sealed)
    assert report.exit_code is ExitCode.TAMPERED
    assert _state(report, "bodies") == (CheckState.FAILED, 5)
    assert _state(report, "chain") == (CheckState.PASSED, None)


@pytest.mark.parametrize("change", [{"count": 9}, {"head": "sha256:0"}, {"count": None}, {"count": True}, {"note": 1}])
def test_a_seal_states_what_stands_before_it(sealed: Path, without_triggers: Forge, change: dict[str, Any]) -> None:
    """Another count or head than the ledger's, or a malformed seal, is named although the chain holds."""
    _rewrite(sealed, lambda n, kind, body: canonical({**body, **(change if kind == "seal" else {})}), without_triggers)
    report = verify(sealed)
    assert report.exit_code is ExitCode.TAMPERED
    assert _state(report, "seals") == (CheckState.FAILED, 11)
    assert _state(report, "sealed")[0] is CheckState.FAILED


@pytest.mark.parametrize("change", [{"form": "other"}, {"version": 2}, {"version": True}, {"algorithm": "md5"}])
def test_the_first_entry_states_a_published_form(sealed: Path, without_triggers: Forge, change: dict[str, Any]) -> None:
    """A chain of another form or algorithm is not read as this one."""
    _rewrite(sealed, lambda n, kind, body: canonical({**body, **(change if n == 1 else {})}), without_triggers)
    assert _state(verify(sealed), "structure") == (CheckState.FAILED, 1)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE other (x)",
        "CREATE VIEW notes AS SELECT 1",
        "CREATE INDEX faster ON entries (digest)",
        "CREATE TRIGGER more AFTER INSERT ON entries BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE words USING fts5(x)",
        "DROP TRIGGER entries_in_order",
        "DROP TRIGGER entries_once",
        "DROP TRIGGER entries_no_update",
        "DROP TRIGGER entries_no_delete",
        "ANALYZE",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 7",
    ],
)
def test_only_the_published_schema_is_a_ledger(sealed: Path, statement: str, clock: Clock) -> None:
    """Any table, view, index or trigger too many or too few: verify, Reader and the writer refuse the file."""
    with closing(sqlite3.connect(sealed, isolation_level=None)) as connection:
        connection.execute(statement)
    content = sealed.read_bytes()
    report = verify(sealed)
    assert report.exit_code is ExitCode.TAMPERED
    assert _state(report, "form")[0] is CheckState.FAILED
    assert _state(report, "chain")[0] is CheckState.NOT_CHECKED
    with pytest.raises(LedgerError, match=r"ledger\.sqlite"):
        Reader(sealed)
    with pytest.raises(LedgerError, match=r"ledger\.sqlite"):
        Ledger.open(sealed, clock=clock)
    assert sealed.read_bytes() == content


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("BEFORE DELETE", "BEFORE DELETE "),
        ("entries do not change", "entries do not chang3"),
        ("RAISE(ABORT, 'ledger: entries stay')", "coalesce(1, 'ledger: entries stay ')"),
        (") STRICT", ")"),
        ("body BLOB", "body TEXT"),
    ],
)
def test_the_schema_is_compared_word_for_word(sealed: Path, old: str, new: str) -> None:
    """A trigger of the right name that does nothing is not the trigger."""
    with closing(sqlite3.connect(sealed, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        done = connection.execute("UPDATE sqlite_schema SET sql = replace(sql, ?, ?)", (old, new))
        assert done.rowcount
    assert _state(verify(sealed), "form")[0] is CheckState.FAILED


def test_an_index_that_lies_is_found(sealed: Path) -> None:
    """Entries are looked up by (kind, key) through an index; one that hides an entry does not verify."""
    with closing(sqlite3.connect(sealed)) as connection:
        root, size = (
            connection.execute("SELECT rootpage FROM sqlite_schema WHERE type = 'index'").fetchone()[0],
            connection.execute("PRAGMA page_size").fetchone()[0],
        )
    content = bytearray(sealed.read_bytes())
    start, key = (root - 1) * size, b"outcomeask/0.0.1.plain.0#1"
    place = content.index(key, start, start + size)
    content[place + len(key) - 1] = ord("9")
    sealed.write_bytes(content)
    with Reader(sealed) as reader:
        assert reader.get("outcome", "ask/0.0.1.plain.0#1") is None
    report = verify(sealed)
    assert _state(report, "database")[0] is CheckState.FAILED
    assert report.exit_code is ExitCode.TAMPERED


def test_wrong_types_behind_strict_are_named(sealed: Path, without_triggers: Forge) -> None:
    """STRICT binds who writes through it; a file whose columns hold other types is refused at that entry."""
    with closing(sqlite3.connect(sealed, isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE type = 'table'")
    with closing(sqlite3.connect(sealed, isolation_level=None)) as connection:
        connection.execute("UPDATE entries SET body = 'text' WHERE sequence = 6")
        for _, sql in triggers:
            connection.execute(sql)
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE type = 'table'")
    report = verify(sealed)
    assert report.exit_code is ExitCode.TAMPERED
    assert report.first_wrong == 6
    assert _state(report, "sealed")[0] is CheckState.NOT_CHECKED


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]\n",
        b"{}\n",
        b'{"body":{},"body_digest":"","digest":"","key":"k","kind":"\\ud800","sequence":1}\n',
        b'{"body":{},"body_digest":"","digest":"","key":1,"kind":"x","sequence":1}\n',
        b'{"body":[],"body_digest":"","digest":"","key":"k","kind":"x","sequence":1}\n',
        b'{"body":{},"body_digest":"","digest":"","key":"k","kind":"x","sequence":true}\n',
        b'{"body":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b'},"body_digest":""}\n',
        b"{\xff}\n",
    ],
)
def test_a_line_that_is_no_entry_ends_the_reading(tmp_path: Path, line: bytes) -> None:
    """An export with such a line fails at that line, and what was not reached counts as not checked."""
    path = tmp_path / "export.jsonl"
    path.write_bytes(b"{" + line if not line.startswith(b"{") else line)
    report = verify(path)
    assert report.exit_code is ExitCode.TAMPERED
    assert report.first_wrong == 1
    assert CheckState.PASSED not in {check.state for check in report.checks}


def test_an_export_of_what_is_not_canonical_is_refused(sealed: Path, tmp_path: Path, without_triggers: Forge) -> None:
    """Writing a broken body anew would heal it in the export, so there is none, and an older one stays."""
    without_triggers(sealed, [("UPDATE entries SET body = x'7b207d' WHERE sequence = 5", ())])
    path = tmp_path / "export.jsonl"
    path.write_text("older", encoding="utf-8")
    with Reader(sealed) as reader, pytest.raises(LedgerError, match="entry 5"):
        export_jsonl(reader, path)
    assert path.read_text(encoding="utf-8") == "older"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["export.jsonl", "ledger.sqlite"]


def test_verification_opens_no_socket_and_loads_no_plugin(sealed: Path, child: Callable[..., Any]) -> None:
    """It needs the standard library and the ledger itself; an audit hook of the interpreter watches it."""
    source = """
        import sys
        events = []
        sys.addaudithook(lambda name, arguments: events.append(name))
        from auditor.ledger import verify
        assert verify(sys.argv[1]).exit_code == 0
        assert not [name for name in events if name.startswith(("socket.", "subprocess.", "os.exec", "os.fork"))]
        loaded = {name.partition(".")[0] for name in sys.modules}
        assert not [name for name in loaded if name.startswith("auditor_")], loaded
        assert not loaded & {"pluggy", "pydantic", "numpy", "requests", "openai", "rich", "click"}, loaded
    """
    child(source, sealed)
