"""Rules of validity over whole runs: what systems and judges are told, and what each answer counts as."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor.archive import Run
from auditor.findings import Estimate, Table
from auditor_stub import judge as stub_judge
from auditor_stub import reach
from auditor_stub.system import StubSystem
from campaign_kit import Project, benchmark, canary, states


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Each test sees only its own calls."""
    StubSystem.seen.clear()
    stub_judge.seen.clear()
    yield


MARKERS = (
    "MARK-ID",
    "MARK-REFERENCE",
    "MARK-ALIAS",
    "MARK-GOLD",
    "MARK-CLUSTER",
    "MARK-TAG",
    "MARK-PROVER",
    "knowledge_gap",
)


def marked(project: Project) -> dict[str, object]:
    """A canary that carries a marker in everything that only the auditor may know."""
    made = canary(1, project.corpus_digest, id="MARK-ID", references=["MARK-REFERENCE"], aliases=["MARK-ALIAS"])
    made |= {"gold_documents": ["MARK-GOLD"], "cluster": "MARK-CLUSTER", "tags": ["MARK-TAG"]}
    made["proofs"]["base"]["prover"] = "MARK-PROVER"
    return made


def test_a_system_is_told_the_wording_and_nothing_else_of_a_question(tmp_path: Path) -> None:
    """No id, reference, kind, proof, tag or cluster is in what ``ask`` receives."""
    project = Project(tmp_path)
    project.questions = [benchmark(1), marked(project)]
    project.system("one")
    project.run()
    told = "\n".join(repr(request) for request in StubSystem.seen)
    assert "What is gap 1?" in told
    assert [marker for marker in MARKERS if marker in told] == []


def test_a_plugin_that_is_set_to_leak_gets_nothing_to_leak(tmp_path: Path) -> None:
    """A system that answers with everything it was given answers with no mark of the question's secrets."""
    project = Project(tmp_path)
    project.questions = [benchmark(1), marked(project)]
    project.system("leaky", leak=True)
    run = Run(project.run().folder)
    answers = "\n".join(run.trials["answer"])
    assert "What is gap 1?" in answers
    assert [marker for marker in MARKERS if marker in answers] == []


def test_nothing_that_a_plugin_is_given_leads_to_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From request, wire, ports, a store's work and a judge's request, no attribute, closure or argument leads to the
    campaign, the ledger, or what only the auditor may know. (Judges are given the references that they need.)
    """
    monkeypatch.setattr(reach, "digging", True)
    monkeypatch.setattr(reach, "found", [])
    project = Project(tmp_path)
    project.questions = [benchmark(1), marked(project)]
    project.extra["models"] = {"chat": {"kind": "stub-chat"}}
    project.system("one", {"What is thing 1?": "right 1"})
    project.systems[-1]["models"] = {"generator": "chat"}
    project.run()
    told = "\n".join(reach.found)
    assert "What is gap 1?" in told
    assert "right 1" in told
    assert [marker for marker in MARKERS if marker in told] == []
    assert [
        kind for kind in ("freeze.Campaign", "auditor.ledger", "engine.call.Call", "StoreWork") if kind in told
    ] == []


def test_judges_see_question_references_and_scrubbed_candidate_only(tmp_path: Path) -> None:
    """No system's name, canary flag, price or house phrase reaches a judge, and equal inputs are judged once."""
    project = Project(tmp_path)
    project.questions = [benchmark(1), canary(1, project.corpus_digest)]
    said = "As Acme Assistant I can say: right 1【4:0†source】"
    answers = {"What is thing 1?": said, "What is gap 1?": "gap 1"}
    project.system("acme-one", answers, house_phrase="As Acme Assistant I can say:")
    project.system("acme-two", answers, house_phrase="As Acme Assistant I can say:")
    project.run()
    shown = [(seat, request) for seat, request in stub_judge.seen if seat != "stance"]
    assert len(shown) == 2 * 3
    text = "\n".join(repr(request) for _, request in shown)
    for hidden in ("acme", "Acme", "†", "knowledge_gap", "canary", "0.001", "stub-1", "latency"):
        assert hidden not in text
    assert {request.opaque_id for _, request in shown} == {request.opaque_id for seat, request in shown if seat == "a"}


def test_transport_outcomes_are_states_of_their_own_and_never_scored(tmp_path: Path) -> None:
    """Empty, blocked, truncated and failed trials are no abstentions, carry no score, and reach no labeller."""
    project = Project(tmp_path)
    outcomes = ["!empty", "!blocked", "!truncated", "!permanent", "   \n", "Hmm, perhaps"]
    project.questions = [benchmark(n) for n in range(len(outcomes))]
    project.system("one", {f"What is thing {n}?": outcome for n, outcome in enumerate(outcomes)})
    result = project.run()
    found = [states(result)[0, n][0] for n in range(len(outcomes))]
    assert found == ["empty", "blocked", "truncated", "failed", "empty", "unsure"]
    assert [trial["score"] for trial in result.findings.trials] == [None] * len(outcomes)
    assert {seat for seat, _ in stub_judge.seen} == {"stance"}
    assert len(stub_judge.seen) == 1


def test_an_answer_of_thinking_alone_is_counted_with_its_reason(tmp_path: Path) -> None:
    """It is no abstention and no answer, no labeller sees it, and it is not taken for one that waits to be labelled."""
    from auditor.cli.status import status_of

    project = Project(tmp_path, questions=[benchmark(1)])
    project.system("one", {"What is thing 1?": "<think>right 1, I do not know"})
    result = project.run()
    (trial,) = result.findings.trials
    assert (trial["state"], trial["detail"]) == ("unsure", "nothing is left but thinking and marks")
    assert (trial["flags"], trial["score"], stub_judge.seen) == (["blank"], None, [])
    assert status_of(result.folder).systems[0].states == {"unsure": 1}


def test_a_denial_of_an_answerable_question_is_incorrect_without_a_panel(tmp_path: Path) -> None:
    """Its state is denied, its score −k, and no judge is asked."""
    project = Project(tmp_path, questions=[benchmark(1)])
    project.system("one", {"What is thing 1?": "There is no thing 1."})
    (trial,) = project.run().findings.trials
    assert (trial["state"], trial["score"], trial["verdict"]) == ("denied", "-4", None)
    assert [seat for seat, _ in stub_judge.seen] == ["stance"]


def test_a_denied_fictitious_canary_costs_nothing(tmp_path: Path) -> None:
    """The denial is true; another kind of canary denied by a grounded system costs k."""
    project = Project(tmp_path)
    digest = project.corpus_digest
    project.questions = [canary(1, digest, "fictitious", references=[]), canary(2, digest), benchmark(1)]
    project.system("one", {f"What is gap {n}?": "There is no such thing." for n in (1, 2)})
    scores = {trial["question"]: (trial["state"], trial["score"]) for trial in project.run().findings.trials}
    assert scores[0] == ("denied", "0")
    assert scores[1] == ("denied", "-4")


def test_the_baseline_is_exempt_from_the_canary_rule(tmp_path: Path) -> None:
    """Its canary answers are graded as any other, and its CVR is n/a, never 0."""
    project = Project(tmp_path)
    project.questions = [benchmark(1), canary(1, project.corpus_digest), canary(2, project.corpus_digest)]
    answers = {"What is gap 1?": "gap 1", "What is gap 2?": "something else"}
    project.system("product", answers)
    project.system("baseline", answers, grounded=False)
    result = project.run()
    assert states(result)[0, 1] == ["canary_attempt"]
    assert states(result)[1, 1] == ["correct"]
    assert states(result)[1, 2] == ["incorrect"]
    cvr = [
        cell
        for section in result.findings.sections
        for block in section.blocks
        if isinstance(block, Table)
        for row in block.rows
        for cell in row
        if isinstance(cell, Estimate) and "cvr" in cell.name.lower() and cell.source.get("system") == 1
    ]
    assert cvr
    assert all(cell.value is None and cell.reason for cell in cvr)


@pytest.mark.parametrize(
    ("orders", "state"),
    [
        ("a=correct b=partial c=incorrect", "partial"),
        ("a=incorrect b=incorrect c=correct", "incorrect"),
        ("a=correct b=gone c=correct", "correct"),
        ("a=correct b=gone c=incorrect", "unresolved"),
        ("a=garbage b=correct c=correct", "correct"),
        ("a=garbage b=correct c=incorrect", "unresolved"),
        ("a=gone b=gone c=correct", "unresolved"),
        ("a=refused b=refused c=refused", "unresolved"),
        ("a=once b=correct c=incorrect", "correct"),
    ],
)
def test_the_full_panel_decides_and_a_missing_vote_only_where_it_cannot_matter(
    tmp_path: Path, orders: str, state: str
) -> None:
    """The median of three; unreadable votes are repaired once more, never guessed; the order of seats never matters."""
    project = Project(tmp_path, questions=[benchmark(1)])
    project.system("one", {"What is thing 1?": f"It is so: {orders}"})
    assert states(project.run())[0, 0] == [state]
    turned = Project(tmp_path / "turned", questions=[benchmark(1)], seats=tuple(reversed(project.seats)))
    turned.systems = project.systems
    assert states(turned.run())[0, 0] == [state]


def test_role_conflicts_are_marked_in_every_table(tmp_path: Path) -> None:
    """A system that shares a judge's family carries the mark wherever a table names it."""
    project = Project(tmp_path, questions=[benchmark(1), benchmark(2)])
    project.system("apart", {"What is thing 1?": "right 1"})
    project.system("akin", {"What is thing 1?": "right 1"}, family="embedded:stub-a")
    result = project.run()
    (penalty,) = [section for section in result.findings.sections if section.name == "penalty"]
    named = [
        cell
        for block in penalty.blocks
        if isinstance(block, Table)
        for row in block.rows
        for cell in row
        if isinstance(cell, str) and "akin" in cell
    ]
    assert named
    assert all("†" in cell for cell in named)
    assert any("†" in getattr(block, "text", "") for block in penalty.blocks)


@pytest.mark.parametrize("family", ["Embedded:Stub-A", "embedded:stub-a"])
def test_a_pipeline_that_calls_a_judges_model_is_marked(tmp_path: Path, family: str) -> None:
    """The family of a model behind a port counts as the system's own, however it is written."""
    project = Project(tmp_path, questions=[benchmark(1)])
    project.extra["models"] = {"chat": {"kind": "stub-chat", "config": {"family": family}}}
    project.system("pipeline", {"What is thing 1?": "right 1"})
    project.systems[-1]["models"] = {"generator": "chat"}
    ((name, *_),) = project.run().findings.sections[0].table("headline").rows
    assert name == "pipeline †"


def test_marks_stand_outside_the_sections_too(tmp_path: Path) -> None:
    """Latency and cost, status, trials as a table: each names a system with its marks."""
    from auditor.cli.show import operations_section
    from auditor.cli.status import status_of

    project = Project(tmp_path, questions=[benchmark(1)])
    project.system("akin", family="embedded:stub-a")
    result = project.run()
    section = operations_section(result.findings.operations)
    assert section is not None
    assert section.table("operations").rows[0][0] == "akin †"
    assert status_of(result.folder).systems[0].title == "akin †"
    assert set(Run(result.folder).trials["system_title"]) == {"akin †"}


def test_three_judges_of_one_family_are_refused(tmp_path: Path) -> None:
    """Each seat needs a family of its own; the message names the line."""
    from auditor.errors import SpecError

    project = Project(tmp_path, questions=[benchmark(1)])
    project.seats = tuple({"name": name, "judge": "stub-a"} for name in ("x", "y", "z"))
    project.system("one")
    with pytest.raises(SpecError, match=r"audit\.yaml:\d+.*family 'embedded:stub-a'"):
        project.run()


def test_one_family_written_in_two_ways_is_one(tmp_path: Path) -> None:
    """``OpenAI`` and ``openai`` are one lineage, on a panel as beside a system."""
    from auditor.errors import SpecError

    project = Project(tmp_path, questions=[benchmark(1)])
    families = {"x": "OpenAI", "y": " openai", "z": "other"}
    project.extra["models"] = {n: {"kind": "stub-chat", "config": {"family": f}} for n, f in families.items()}
    project.seats = tuple({"name": name, "model": name} for name in families)
    project.system("one")
    with pytest.raises(SpecError, match="'x' and 'y' are both of family"):
        project.run()
