"""Writing: order, groups, tickets, seals, and what a failure of one append means for the others."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.errors import AuditorError, LedgerError, StorageError
from auditor.ledger import Entry, Ledger, Reader, Ticket, verify

Clock = Callable[[], datetime]


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _until(gate: threading.Event) -> Callable[[str], None]:
    """A probe that holds the writer thread up."""

    def probe(point: str) -> None:
        gate.wait(1)

    return probe


def test_entries_come_back_as_they_went_in(tmp_path: Path, clock: Clock) -> None:
    """Rows stand in the order of the appends, after the first entry, which states the form."""
    with Ledger.create(tmp_path / "l.sqlite", clock=clock) as ledger:
        ledger.append([Entry("intent", "a#1", {"n": 1}), Entry("text", "a#1/answer", {"text": "é\0"})])
        ledger.append_wait([Entry("outcome", "a#1", {"n": None})])
        first, *rows = ledger.rows()
        assert first.kind == first.key == "ledger"
        assert first.body == {
            "algorithm": "sha256",
            "created": "2026-01-02T03:04:05.678Z",
            "form": "rag-auditor ledger",
            "version": 1,
        }
        assert [(row.sequence, row.kind, row.key, row.body) for row in rows] == [
            (2, "intent", "a#1", {"n": 1}),
            (3, "text", "a#1/answer", {"text": "é\0"}),
            (4, "outcome", "a#1", {"n": None}),
        ]
        assert rows[1].text == "é\0"
        assert (ledger.count, ledger.head) == (4, rows[-1].digest)
        assert ledger.get("intent", "a#1") == rows[0]
        assert ledger.get("intent", "a#2") is None
        assert [row.key for row in ledger.rows("outcome")] == ["a#1"]


def test_every_commit_is_on_the_disk(tmp_path: Path, clock: Clock) -> None:
    """SQLite itself says WAL and FULL: an entry that was waited for survives a power cut."""
    with Ledger.create(tmp_path / "l.sqlite", clock=clock) as ledger:
        ledger.append_wait([Entry("intent", "a#1", {})])
        connection = ledger._writer._connection  # the setting belongs to this connection alone
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == (b"wal",)


def test_many_threads_keep_their_own_order(tmp_path: Path, clock: Clock) -> None:
    """From eight threads, every entry arrives once and each thread's in its order."""

    def produce(thread: int) -> None:
        for number in range(200):
            ledger.append([Entry("intent", f"{thread}.{number}#{part}", {}) for part in (1, 2)])

    with Ledger.create(tmp_path / "l.sqlite", clock=clock) as ledger:
        threads = [threading.Thread(target=produce, args=(thread,)) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ledger.flush()
        keys = [row.key for row in ledger.rows("intent")]
        assert len(keys) == 3200
        for thread_number in range(8):
            own = [key for key in keys if key.startswith(f"{thread_number}.")]
            assert own == [f"{thread_number}.{number}#{part}" for number in range(200) for part in (1, 2)]
        ledger.seal()
    assert verify(tmp_path / "l.sqlite").exit_code == 0


def test_many_appends_share_a_commit(tmp_path: Path, clock: Clock) -> None:
    """Appends that wait while a commit is under way are committed together: one flush of the disk for all."""
    points: list[str] = []
    busy, gate = threading.Event(), threading.Event()

    def probe(point: str) -> None:
        points.append(point)
        busy.set()
        gate.wait(10)

    with Ledger.create(tmp_path / "l.sqlite", clock=clock, probe=probe) as ledger:
        first = ledger.append([Entry("intent", "a#1", {})])
        busy.wait(10)
        tickets = [first, *(ledger.append([Entry("intent", f"a#{number}", {})]) for number in range(2, 102))]
        gate.set()
        tickets[-1].wait(10)
        assert all(ticket.done for ticket in tickets)
    assert points.count("before-commit") == points.count("after-commit") == 2


def test_append_does_not_wait(tmp_path: Path, clock: Clock) -> None:
    """``append`` returns while the disk is still busy, and the ticket is not done before the commit."""
    gate = threading.Event()
    with Ledger.create(tmp_path / "l.sqlite", clock=clock, probe=_until(gate)) as ledger:
        ticket = ledger.append([Entry("intent", "a#1", {})])
        with pytest.raises(TimeoutError):
            ticket.wait(0.05)
        assert not ticket.done
        assert ledger.count == 1
        gate.set()
        ticket.wait(10)
        assert ticket.done
        assert ledger.count == 2


def test_callbacks_come_after_the_commit_from_the_writer_thread(tmp_path: Path, clock: Clock) -> None:
    """A callback finds its entries in the ledger; one added late is called at once; one that raises harms nobody."""
    seen: list[tuple[str, bool, int]] = []

    def note(ticket: Ticket) -> None:
        seen.append((threading.current_thread().name, ticket.error is None, ledger.count))

    def fail(ticket: Ticket) -> None:
        raise ZeroDivisionError

    gate = threading.Event()
    with Ledger.create(tmp_path / "l.sqlite", clock=clock, probe=_until(gate)) as ledger:
        ticket = ledger.append([Entry("intent", "a#1", {})])
        ticket.add_done_callback(fail)
        ticket.add_done_callback(note)
        gate.set()
        ticket.wait(10)
        ledger.append_wait([Entry("intent", "a#2", {})])
        ticket.add_done_callback(note)
    assert seen == [("ledger l.sqlite", True, 2), (threading.current_thread().name, True, 3)]


def test_a_repeated_key_fails_alone(tmp_path: Path, clock: Clock) -> None:
    """(kind, key) is unique; the append that repeats one is refused whole, its neighbours in the group are not."""
    gate = threading.Event()
    with Ledger.create(tmp_path / "l.sqlite", clock=clock, probe=_until(gate)) as ledger:
        first = ledger.append([Entry("intent", "a#1", {})])
        good = ledger.append([Entry("intent", "a#2", {})])
        bad = ledger.append([Entry("outcome", "a#1", {}), Entry("intent", "a#1", {"other": True})])
        twice = ledger.append([Entry("text", "t", {"text": "x"}), Entry("text", "t", {"text": "y"})])
        after = ledger.append([Entry("intent", "a#3", {})])
        gate.set()
        for ticket in (first, good, after):
            ticket.wait(10)
        with pytest.raises(LedgerError, match="intent a#1 is in the ledger already"):
            bad.wait(10)
        with pytest.raises(LedgerError, match="text t is in the ledger already"):
            twice.wait(10)
        assert [(row.kind, row.key) for row in ledger.rows()][1:] == [("intent", f"a#{n}") for n in (1, 2, 3)]
        ledger.seal()
    assert verify(tmp_path / "l.sqlite").exit_code == 0


def test_a_refusal_that_nobody_heard_of_is_raised_at_the_flush(tmp_path: Path, clock: Clock) -> None:
    """Outcomes are not awaited, so a lost one comes up at the latest when the ledger is flushed, sealed or closed."""
    ledger = Ledger.create(tmp_path / "l.sqlite", clock=clock)
    for close in (ledger.flush, ledger.seal, ledger.close):
        ledger.append([Entry("intent", "a#1", {})]).add_done_callback(lambda ticket: None)
        ledger.append([Entry("intent", "a#1", {})])
        with pytest.raises(LedgerError, match="already"):
            close()
    ledger.close()


def test_ledger_kinds_are_reserved(tmp_path: Path, clock: Clock) -> None:
    """Only the ledger itself writes its first entry and its seals."""
    with Ledger.create(tmp_path / "l.sqlite", clock=clock) as ledger:
        for kind in ("seal", "ledger"):
            with pytest.raises(ValueError, match="own"):
                ledger.append([Entry(kind, "x", {})])


def test_a_sealed_ledger_is_one_file(tmp_path: Path, clock: Clock) -> None:
    """A seal states count and head from before it and leaves nothing beside the file, not even while it is open."""
    path = tmp_path / "l.sqlite"
    with Ledger.create(path, clock=clock) as ledger:
        ledger.append_wait([Entry("intent", "a#1", {})])
        assert _files(tmp_path) == ["l.sqlite", "l.sqlite-shm", "l.sqlite-wal"]
        head = ledger.head
        assert not ledger.is_sealed
        seal = ledger.seal("asked")
        assert (seal.count, seal.head, seal.note, seal.time) == (2, head, "asked", "2026-01-02T03:04:05.678Z")
        assert ledger.is_sealed
        assert _files(tmp_path) == ["l.sqlite"]
        assert [row.kind for row in ledger.rows()] == ["ledger", "intent", "seal"]
        assert _files(tmp_path) == ["l.sqlite"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_sealing_again_adds_nothing(tmp_path: Path, clock: Clock) -> None:
    """A run that is killed after its seal and gone on with ends with the same ledger."""
    path = tmp_path / "l.sqlite"
    with Ledger.create(path, clock=clock) as ledger:
        seal = ledger.seal("first")
        assert ledger.seal("second") == seal
    content = path.read_bytes()
    with Ledger.open(path, clock=clock) as ledger:
        assert ledger.is_sealed
        assert ledger.seal("third") == seal
        ledger.flush()
    assert path.read_bytes() == content


def test_entries_after_a_seal_need_a_new_one(tmp_path: Path, clock: Clock) -> None:
    """Appending to a sealed ledger makes it unsealed until it is sealed again; both seals verify."""
    path = tmp_path / "l.sqlite"
    with Ledger.create(path, clock=clock) as ledger:
        first = ledger.seal()
    with Ledger.open(path, clock=clock) as ledger:
        ledger.append_wait([Entry("note", "n", {})])
        assert not ledger.is_sealed
        assert ledger.last_seal() == first
        assert verify(path).exit_code == 11
        second = ledger.seal()
        assert second.count == 3
    assert _files(tmp_path) == ["l.sqlite"]
    report = verify(path, expected=first)
    assert (report.exit_code, report.seal) == (0, second)


@pytest.mark.parametrize(("kind", "wanted"), [("a", range(0, 2_300, 2)), (None, range(2_300))])
def test_iteration_shows_what_was_there_when_it_began(
    tmp_path: Path, clock: Clock, kind: str | None, wanted: range
) -> None:
    """Appending and sealing while somebody iterates neither block nor show up; pages come in order."""
    with Ledger.create(tmp_path / "l.sqlite", clock=clock) as ledger:
        ledger.append_wait([Entry("ab"[number % 2], f"{number}", {}) for number in range(2_300)])
        rows = ledger.rows(kind)
        keys = [next(rows).key]
        ledger.append_wait([Entry("a", "late", {})])
        ledger.seal()
        keys += [row.key for row in rows]
        assert [key for key in keys if key != "ledger"] == [str(number) for number in wanted]
        assert [row.key for row in ledger.rows("a")][-1] == "late"


def test_create_never_overwrites(tmp_path: Path, clock: Clock) -> None:
    """Whatever is at the path stays: a file, a folder, a dangling link."""
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "folder", "link"):
        with pytest.raises(StorageError, match=name):
            Ledger.create(tmp_path / name, clock=clock)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"
    assert _files(tmp_path) == ["file", "folder", "link"]


def test_leftovers_of_a_killed_creation_do_not_matter(tmp_path: Path, clock: Clock) -> None:
    """A half-made draft is removed; the ledger appears whole."""
    (tmp_path / "l.sqlite.new").write_bytes(b"half")
    (tmp_path / "l.sqlite.new-journal").write_bytes(b"half")
    Ledger.create(tmp_path / "l.sqlite", clock=clock).close()
    assert _files(tmp_path) == ["l.sqlite"]


def test_a_closed_ledger_says_so(tmp_path: Path, clock: Clock) -> None:
    """After close, everything fails with one line that names the file; closing again does nothing."""
    ledger = Ledger.create(tmp_path / "l.sqlite", clock=clock)
    ledger.close()
    ledger.close()
    for use in (lambda: ledger.append([]), ledger.flush, ledger.seal, lambda: ledger.get("a", "b")):
        with pytest.raises(StorageError, match=r"l\.sqlite: the ledger is closed"):
            use()


def test_closing_commits_what_is_queued(tmp_path: Path, clock: Clock) -> None:
    """Nothing that was appended is lost by an orderly end."""
    path = tmp_path / "l.sqlite"
    with Ledger.create(path, clock=clock) as ledger:
        for number in range(500):
            ledger.append([Entry("intent", f"a#{number + 1}", {})])
    with Reader(path) as reader:
        assert reader.count == 501
    assert _files(tmp_path) == ["l.sqlite"]


def test_somebody_elses_entry_stops_the_writing(tmp_path: Path, clock: Clock) -> None:
    """A second writer that bypassed the lock is noticed at the next commit, before the chain could fork."""
    path = tmp_path / "l.sqlite"
    with Ledger.create(path, clock=clock) as ledger:
        ledger.append_wait([Entry("intent", "a#1", {})])
        with closing(sqlite3.connect(path, isolation_level=None)) as stranger:
            stranger.execute(
                "INSERT INTO entries VALUES (3, 'note', 'n', '7b7d', 'x', 'y')".replace("'7b7d'", "x'7b7d'")
            )
        for number in (2, 3):
            with pytest.raises(LedgerError, match="somebody else"):
                ledger.append_wait([Entry("intent", f"a#{number}", {})])
        assert isinstance(ledger.failure, AuditorError)


def test_times_need_a_zone(tmp_path: Path) -> None:
    """A clock without a time zone is refused before anything is made."""
    with pytest.raises(ValueError, match="zone"):
        Ledger.create(tmp_path / "l.sqlite", clock=lambda: datetime(2026, 1, 1))  # noqa: DTZ001 - the point of the test
    assert _files(tmp_path) == []


def test_an_odd_path_is_a_path(tmp_path: Path, clock: Clock) -> None:
    """Names that mean something in a URI or in a pattern, and names that are not UTF-8, are only names."""
    for number, name in enumerate(("a b?mode=memory#x%20.sqlite", "é\u202e.sqlite", os.fsdecode(b"\xff.sqlite"))):
        path = tmp_path / str(number) / name
        path.parent.mkdir()
        with Ledger.create(path, clock=clock) as ledger:
            ledger.append_wait([Entry("intent", "a#1", {})])
            ledger.seal()
        assert _files(path.parent) == [name]
        assert verify(path).exit_code == 0


def test_production_clock_is_utc() -> None:
    """The default clock carries a zone."""
    from auditor.ledger import time_text, utc_now

    assert utc_now().tzinfo is UTC
    assert time_text(datetime.fromisoformat("2026-05-01T02:00:00.9999+02:00")) == "2026-05-01T00:00:00.999Z"
