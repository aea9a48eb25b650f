"""Files that are no ledger, read-only folders, readers beside a writer: one clear line, nothing altered."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import AuditorError, ExitCode, LedgerError, StorageError
from auditor.ledger import Entry, Ledger, Reader, verify
from auditor.ledger.reader import private_copy

Clock = Callable[[], Any]
Call = Callable[..., list[Entry]]
Child = Callable[..., Any]


def _foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine (x)")
        connection.execute("INSERT INTO mine VALUES ('precious')")
        connection.commit()


def _foreign_with_log(path: Path) -> None:
    """Another program's database, killed with its log beside it."""
    source = path.with_name("source.sqlite")
    connection = sqlite3.connect(source)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    shutil.copy(source, path)
    shutil.copy(source.with_name("source.sqlite-wal"), path.with_name(path.name + "-wal"))
    connection.close()
    source.unlink()


_NOT_LEDGERS: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("hello\n" * 100, encoding="utf-8"),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 64),
    "magic only": lambda path: path.write_bytes(b"SQLite format 3\0"),
    "magic and noise": lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 64),
    "foreign": _foreign,
    "foreign with log": _foreign_with_log,
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "missing": lambda path: None,
    "dangling": lambda path: path.symlink_to("nowhere"),
    "loop": lambda path: path.symlink_to(path.name),
}


def _snapshot(folder: Path) -> dict[str, object]:
    return {
        entry.name: (entry.lstat().st_size, entry.read_bytes() if entry.is_file() else entry.lstat().st_mode)
        for entry in folder.iterdir()
    }


def _use(use: str, path: Path, clock: Clock) -> None:
    if use == "open":
        Ledger.open(path, clock=clock)
    elif use == "read":
        Reader(path)
    else:
        verify(path)


@pytest.mark.parametrize("make", _NOT_LEDGERS.values(), ids=_NOT_LEDGERS)
@pytest.mark.parametrize("use", ["open", "read", "verify"])
def test_what_is_no_ledger_is_refused_and_left_alone(
    tmp_path: Path, clock: Clock, make: Callable[[Path], object], use: str
) -> None:
    """One line that names the file; nothing is created, changed or waited for."""
    path = tmp_path / "runs.sqlite"
    make(path)
    before = _snapshot(tmp_path)
    if use == "verify" and path.is_file():
        report = verify(path)
        assert report.exit_code is ExitCode.TAMPERED
        assert all(check.state.value != "passed" for check in report.checks)
    else:
        with pytest.raises(AuditorError) as raised:
            _use(use, path, clock)
        assert isinstance(raised.value, LedgerError if path.is_file() else StorageError)
        assert str(path) in str(raised.value)
        assert "\n" not in str(raised.value)
    assert _snapshot(tmp_path) == before


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9, 0.9999])
def test_a_truncated_ledger_is_refused_and_left_alone(sealed: Path, clock: Clock, share: float) -> None:
    """Cut anywhere: the writer refuses it, verification fails, and the rest of the file stays as it is."""
    content = sealed.read_bytes()
    content = content[: int(len(content) * share)]
    sealed.write_bytes(content)
    assert verify(sealed).exit_code is ExitCode.TAMPERED
    with pytest.raises(LedgerError, match=r"ledger\.sqlite") as raised:
        Ledger.open(sealed, clock=clock)
    assert "\n" not in str(raised.value)
    assert sealed.read_bytes() == content
    assert [path.name for path in sealed.parent.iterdir()] == [sealed.name]


def test_a_ledger_that_is_not_whole_is_not_written_to(sealed: Path, clock: Clock, without_triggers: Any) -> None:
    """Opening for writing recomputes the chain and names the entry."""
    for statement, number in (
        ("UPDATE entries SET body = x'7b7d' WHERE sequence = 6", 6),
        ("UPDATE entries SET key = 'x' WHERE sequence = 5", 5),
        ("DELETE FROM entries WHERE sequence = 4", 4),
    ):
        without_triggers(sealed, [(statement, ())])
        content = sealed.read_bytes()
        with pytest.raises(LedgerError, match=f"entry {number}: ") as raised:
            Ledger.open(sealed, clock=clock)
        assert raised.value.sequence == number
        assert sealed.read_bytes() == content


def test_a_journal_that_names_another_file_is_refused(sealed: Path, clock: Clock, tmp_path: Path) -> None:
    """SQLite deletes the super-journal that a hot journal names; a hostile one could name any file."""
    precious = tmp_path / "precious"
    precious.write_text("mine", encoding="utf-8")
    name = os.fsencode(precious)
    magic = bytes.fromhex("d9d505f920a163d7")
    journal = sealed.with_name(sealed.name + "-journal")
    total = sum(name)
    journal.write_bytes(
        magic.ljust(512, b"\0") + name + len(name).to_bytes(4, "big") + total.to_bytes(4, "big") + magic
    )
    for use in ("open", "read"):
        with pytest.raises(LedgerError, match="journal"):
            _use(use, sealed, clock)
    assert verify(sealed).exit_code is ExitCode.TAMPERED
    assert precious.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_what_lies_beside_a_ledger_is_not_followed(sealed: Path, suffix: str) -> None:
    """A log or journal that is a link, a pipe or a folder is refused, not read and not waited for."""
    beside = sealed.with_name(sealed.name + suffix)
    for kind in ("link", "pipe", "folder"):
        if kind == "link":
            beside.symlink_to("/dev/zero")
        elif kind == "pipe":
            os.mkfifo(beside)
        else:
            beside.mkdir()
        with pytest.raises(AuditorError, match=suffix):
            Reader(sealed)
        if kind == "folder":
            beside.rmdir()
        else:
            beside.unlink()


def test_no_connection_trusts_a_schema(sealed: Path, clock: Clock) -> None:
    """Neither the reader nor the writer runs what a stranger put into a schema, and a reader cannot write."""
    with Reader(sealed) as reader, reader._lease() as connection:
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("CREATE TABLE x (y)")
    with Ledger.open(sealed, clock=clock) as ledger:
        assert ledger._writer._connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_reading_a_ledger_beside_its_writer(tmp_path: Path, clock: Clock, call: Call) -> None:
    """What is committed is read, the log included; the writer's files are not touched; no copy stays behind."""
    path = tmp_path / "l.sqlite"
    with Ledger.create(path, clock=clock) as ledger:
        ledger.append_wait(call(0))
        rows = list(ledger.rows())
        before = _snapshot(tmp_path)
        with Reader(path) as reader:
            assert (reader.count, reader.head, reader.is_sealed) == (4, ledger.head, False)
            assert list(reader.rows()) == rows
            copy = reader._connection.execute("PRAGMA database_list").fetchone()[2]  # type: ignore[union-attr] # open here
            assert Path(os.fsdecode(copy)).parent.stat().st_mode & 0o077 == 0
        assert not Path(os.fsdecode(copy)).parent.exists()
        assert _snapshot(tmp_path) == before


def test_a_copy_taken_during_checkpoints_holds_together(tmp_path: Path, clock: Clock) -> None:
    """Readers beside a busy writer see one whole state each, however the log moves meanwhile."""
    path = tmp_path / "l.sqlite"
    stop = threading.Event()
    with Ledger.create(path, clock=clock) as ledger:
        ledger._writer.enter_wal()
        ledger._writer._set("wal_autocheckpoint", 5)

        def produce() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                ledger.append_wait([Entry("note", f"n{number}", {"text": "x" * 5_000})])
                stop.wait(0.002)

        thread = threading.Thread(target=produce)
        thread.start()
        counts = []
        for _ in range(15):
            report = verify(path)
            assert report.exit_code is ExitCode.NOT_SEALED, report.checks
            counts.append(report.count)
        stop.set()
        thread.join()
    assert counts == sorted(counts)


def test_a_copy_that_a_checkpoint_fell_into_is_taken_again(
    sealed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy is compared with what the files were before; a changed file means another try, then one clear line."""
    from auditor.ledger import reader

    copied: list[Path] = []
    original = reader._copy_file

    def disturb(source: Path, target: Path, *, follow: bool = True) -> None:
        original(source, target, follow=follow)
        copied.append(source)
        if len(copied) < limit:
            os.utime(source, ns=(len(copied), len(copied)))

    monkeypatch.setattr(reader, "_copy_file", disturb)
    monkeypatch.setattr(reader, "_PAUSE_S", 0)
    folder = tmp_path / "copy"
    folder.mkdir()
    limit = 3
    assert private_copy(sealed, folder).read_bytes() == sealed.read_bytes()
    assert len(copied) == 3
    limit = 1_000
    with pytest.raises(StorageError, match="written to all the time"):
        private_copy(sealed, folder)


_AS_NOBODY = """
    import os, sys, tempfile
    from pathlib import Path
    from auditor.errors import AuditorError
    from auditor.ledger import *
    path = Path(sys.argv[1])
    tempfile.tempdir = sys.argv[2]
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
"""


def test_a_folder_that_may_only_be_read(open_folder: Path, clock: Clock, call: Call, child: Child) -> None:
    """A user without rights reads and verifies a ledger, sealed or with its log; writing is one clear line."""
    run, scratch = open_folder / "run", open_folder / "scratch"
    run.mkdir()
    scratch.mkdir()
    scratch.chmod(0o777)
    live, path = run / "live.sqlite", run / "sealed.sqlite"
    with Ledger.create(live, clock=clock) as ledger, Ledger.create(path, clock=clock) as other:
        ledger.append_wait(call(0))
        other.append_wait(call(0))
        other.seal()
        shutil.copy(live, run / "killed.sqlite")
        shutil.copy(f"{live}-wal", run / "killed.sqlite-wal")
    run.chmod(0o555)
    for file in run.iterdir():
        file.chmod(0o444)
    before = _snapshot(run)
    source = (
        _AS_NOBODY
        + """
    for name, code in (("sealed", 0), ("live", 11), ("killed", 11)):
        with Reader(path / f"{name}.sqlite") as reader:
            assert sum(1 for row in reader.rows("outcome")) == 1
        assert verify(path / f"{name}.sqlite").exit_code == code
        for use in (lambda: Ledger.open(path / f"{name}.sqlite"), lambda: Ledger.create(path / "new.sqlite"),
                    lambda: FolderLock(path).acquire()):
            try:
                use()
            except AuditorError as error:
                assert type(error).__name__ == "StorageError" and str(path) in str(error), repr(error)
                assert "\\n" not in str(error)
            else:
                raise AssertionError(name)
    """
    )
    child(source, run, scratch)
    assert _snapshot(run) == before
    assert list(scratch.iterdir()) == []


def test_a_file_that_may_not_be_read(open_folder: Path, clock: Clock, child: Child) -> None:
    """No permission is a storage error of one line, for reading, verifying and writing alike."""
    path = open_folder / "l.sqlite"
    Ledger.create(path, clock=clock).close()
    path.chmod(0o600)
    source = (
        _AS_NOBODY
        + """
    for use in (lambda: Ledger.open(path), lambda: Reader(path), lambda: verify(path)):
        try:
            use()
        except AuditorError as error:
            assert type(error).__name__ == "StorageError" and str(error) == f"{path}: Permission denied", repr(error)
        else:
            raise AssertionError
    """
    )
    child(source, path, open_folder)
