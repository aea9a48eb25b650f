"""Starting again: finished runs, retries, children, changed code and changed worlds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from auditor import code_record
from auditor.archive import verify_run
from auditor.campaign import RunState
from auditor.errors import ChangedRun, ExitCode, LockedRun, StorageError
from auditor.ledger import FolderLock, Reader
from auditor_stub import judge as stub_judge
from auditor_stub.system import StubSystem
from campaign_kit import Project, benchmark, canary, measured, states


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Each test sees only its own calls."""
    StubSystem.seen.clear()
    stub_judge.seen.clear()
    yield


def two(folder: Path, answers: Mapping[str, str] | None = None) -> Project:
    """Two systems, three questions."""
    project = Project(folder)
    project.system("one", {"What is thing 1?": "right 1", **(answers or {})})
    project.system("two", {"What is thing 2?": "wrong"})
    return project


def test_a_finished_run_asks_nothing_again(tmp_path: Path) -> None:
    """The same spec shows what was found and when; --new asks everything in a folder of its own."""
    project = two(tmp_path)
    first = project.run()
    asked = len(StubSystem.seen)
    again = project.run()
    assert (again.state, again.asked, len(StubSystem.seen)) == (RunState.ALREADY, 0, asked)
    assert again.folder == first.folder
    assert again.ended == first.ended
    fresh = project.run(new=True)
    assert fresh.folder != first.folder
    assert len(StubSystem.seen) == 2 * asked
    assert measured(fresh) == measured(first)


def test_a_retry_asks_exactly_what_failed(tmp_path: Path) -> None:
    """Two technical failures are asked again as new attempts under a new seal; nothing else is touched."""
    project = two(tmp_path, {"What is thing 2?": "!permanent", "What is thing 3?": "!transient"})
    first = project.run()
    assert states(first)[0, 1] == states(first)[0, 2] == ["failed"]
    with Reader(first.folder / "ledger.sqlite") as reader:
        before = [(row.sequence, row.kind, row.key, row.body_digest, row.digest) for row in reader.rows()]
    StubSystem.seen.clear()
    stub_judge.seen.clear()
    project.run(retry=True)
    assert sorted({request.text for request in StubSystem.seen}) == ["What is thing 2?", "What is thing 3?"]
    assert stub_judge.seen == []
    with Reader(first.folder / "ledger.sqlite") as reader:
        after = [(row.sequence, row.kind, row.key, row.body_digest, row.digest) for row in reader.rows()]
        seals = list(reader.rows("seal"))
    assert after[: len(before)] == before
    assert len(seals) == 2
    new = {key for _, kind, key, _, _ in after[len(before) :] if kind == "outcome"}
    assert {key.partition("#")[0] for key in new} == {"ask/0.0.1.0.0", "ask/0.0.2.0.0"}
    assert verify_run(first.folder).exit_code is ExitCode.OK


def test_a_lost_judge_is_asked_again_on_retry_and_only_that(tmp_path: Path) -> None:
    """A judge that was unavailable leaves the trial unresolved; a retry asks that judge and no system."""
    project = two(tmp_path, {"What is thing 1?": "so b=gone a=correct c=incorrect"})
    first = project.run()
    assert states(first)[0, 0] == ["unresolved"]
    StubSystem.seen.clear()
    stub_judge.seen.clear()
    project.run(retry=True)
    assert StubSystem.seen == []
    assert {seat for seat, _ in stub_judge.seen} == {"b"}


def test_an_outage_of_one_system_stops_that_system_only(tmp_path: Path) -> None:
    """A refused key stops its endpoint; the rest of its cells are not asked, with the reason."""
    project = two(tmp_path, {f"What is thing {n}?": "!auth" for n in range(1, 4)})
    project.extra = {"repeats": 4, "limits": {"slots": 1}}
    result = project.run()
    found = states(result)
    assert result.state is RunState.INCOMPLETE
    mine = [state for (system, _), listed in found.items() if system == 0 for state in listed]
    assert mine.count("failed") == 1
    assert mine.count("not_asked") == 11
    others = [state for (system, _), listed in found.items() if system == 1 for state in listed]
    assert set(others) <= {"abstained", "incorrect"}
    reasons = {trial["detail"] for trial in result.findings.trials if trial["state"] == "not_asked"}
    assert all(reasons)


def test_a_store_that_does_not_open_leaves_its_system_out_with_the_reason(tmp_path: Path) -> None:
    """Its cells are not asked; the other system's numbers stand."""
    project = two(tmp_path)
    project.system("broken", broken_store=True)
    result = project.run()
    mine = [trial for trial in result.findings.trials if trial["system"] == 2]
    assert {trial["state"] for trial in mine} == {"not_asked"}
    assert {trial["detail"] for trial in mine} == {"store not ready: permanent"}
    assert states(result)[0, 0] == ["correct"]


def test_what_an_error_says_is_no_part_of_the_measurement(tmp_path: Path) -> None:
    """Names, times and counts in an error's words differ between starts: they stand in operations, and are shown."""
    from auditor.cli.show import operations_section

    project = two(tmp_path)
    project.system("broken", broken_store=True)
    result = project.run()
    assert b"the store says no" not in measured(result)
    section = operations_section(result.findings.operations)
    assert section is not None
    assert any("the store says no" in getattr(block, "text", "") for block in section.blocks)


def test_a_child_run_asks_only_what_is_new(tmp_path: Path) -> None:
    """--from with one system added: the rest is inherited, counts the same, says so, and verifies."""
    project = two(tmp_path)
    parent = project.run()
    StubSystem.seen.clear()
    stub_judge.seen.clear()
    project.system("three", {"What is thing 3?": "right 3"})
    child = project.run(parent=parent.folder)
    assert len(StubSystem.seen) == 3
    assert {request.text for request in StubSystem.seen} == {f"What is thing {n}?" for n in (1, 2, 3)}
    assert [states(child)[s, q] for s in (0, 1) for q in range(3)] == [
        states(parent)[s, q] for s in (0, 1) for q in range(3)
    ]
    shown = {request.input.candidate for seat, request in stub_judge.seen if seat != "stance"}
    assert shown == {"right 3"}
    assert child.findings.operations["asked_later"] == ["three"]
    assert verify_run(child.folder).exit_code is ExitCode.OK
    StubSystem.seen.clear()
    assert project.run(parent=parent.folder).asked == 0
    assert StubSystem.seen == []


def test_a_child_run_with_a_judge_replaced_asks_that_judge_alone(tmp_path: Path) -> None:
    """No system is asked, the two other seats' votes are inherited."""
    project = two(tmp_path)
    parent = project.run()
    StubSystem.seen.clear()
    stub_judge.seen.clear()
    project.seats = (*project.seats[:2], {"name": "new", "model": "chat"})
    project.extra = {"models": {"chat": {"kind": "stub-chat", "config": {"family": "stub"}}}}
    child = project.run(parent=parent.folder)
    assert StubSystem.seen == []
    assert stub_judge.seen == []
    assert states(child) == states(parent)
    assert verify_run(child.folder).exit_code is ExitCode.OK


def test_a_child_run_with_a_question_added_inherits_the_others(tmp_path: Path) -> None:
    """Only the new question is asked, although the set of questions differs."""
    project = two(tmp_path)
    parent = project.run()
    StubSystem.seen.clear()
    project.questions.append(canary(9, project.corpus_digest))
    project.run(parent=parent.folder)
    assert {request.text for request in StubSystem.seen} == {"What is gap 9?"}


def test_two_systems_never_share_an_answer(tmp_path: Path) -> None:
    """The same question to two systems is two calls, also when one inherits (the input digest names the system)."""
    project = Project(tmp_path, questions=[benchmark(1)])
    project.system("one", {"What is thing 1?": "right 1"})
    parent = project.run()
    project.systems = []
    project.system("other", {"What is thing 1?": "wrong"})
    child = project.run(parent=parent.folder)
    assert len(StubSystem.seen) == 2
    assert states(child)[0, 0] == ["incorrect"]


def test_an_upgrade_between_two_starts_is_refused_with_the_difference_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is asked until the user accepts it; then the acceptance is in the ledger."""
    project = two(tmp_path, {"What is thing 3?": "!permanent"})
    first = project.run()
    real = code_record.code_record

    def upgraded(used: object) -> object:
        record = dict(real(used))  # type: ignore[arg-type] # the fixture passes on what it is given
        record["numpy"] = code_record.DistributionRecord("99.0")
        return record

    monkeypatch.setattr("auditor.campaign.begin.code_record", upgraded)
    StubSystem.seen.clear()
    with pytest.raises(ChangedRun, match=r"numpy: .* became 99\.0"):
        project.run(retry=True)
    assert StubSystem.seen == []
    project.run(retry=True, accept_version=True)
    assert len(StubSystem.seen) == 1
    with Reader(first.folder / "ledger.sqlite") as reader:
        assert len(list(reader.rows("accepted"))) == 1


def test_a_store_that_changed_between_two_starts_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the world says of a store is compared at each start."""
    project = two(tmp_path, {"What is thing 3?": "!permanent"})
    project.run()
    opened = StubSystem.open

    def other(self: StubSystem, corpus: object, work: object) -> object:
        from dataclasses import replace

        store = opened(self, corpus, work)  # type: ignore[arg-type] # passed on as they are
        return replace(store, observed={**store.observed, "documents": 1})

    monkeypatch.setattr(StubSystem, "open", other)
    with pytest.raises(ChangedRun, match="store"):
        project.run(retry=True)


def test_two_runs_never_share_a_folder(tmp_path: Path) -> None:
    """While one process holds the folder another is refused in one line."""
    project = two(tmp_path)
    first = project.run()
    with FolderLock(first.folder), pytest.raises(LockedRun):
        project.run(retry=True)


def test_two_new_runs_at_the_same_moment_get_two_folders(tmp_path: Path) -> None:
    """Folder names hold no time, and making one is exclusive."""
    from auditor.campaign.folder import new_folder

    made = {new_folder(tmp_path, "small", "sha256:" + "0" * 64).path for _ in range(2)}
    assert len(made) == 2


def test_a_cost_cap_stops_cleanly_and_a_retry_goes_on(tmp_path: Path) -> None:
    """What is left is not asked, with the reason; nothing is lost."""
    project = two(tmp_path)
    project.extra = {"limits": {"slots": 1, "max_cost_usd": 0.002}}
    result = project.run()
    details = [str(trial["detail"]) for trial in result.findings.trials if trial["state"] == "not_asked"]
    assert details
    assert all("cost" in detail for detail in details)
    assert verify_run(result.folder).exit_code is ExitCode.OK


def test_a_folder_of_runs_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    """A link without a target is neither there nor to be made: one line, not a search without end."""
    project = Project(tmp_path)
    project.system("one")
    (tmp_path / "runs").symlink_to(tmp_path / "nowhere")
    with pytest.raises(StorageError, match="folder of runs"):
        project.run()
