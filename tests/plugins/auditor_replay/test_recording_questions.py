"""Questions of a recording: one for each id, from the mapped columns alone; a canary flag is a claim."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from auditor.errors import QuestionError
from auditor.question import ProofGrade, Question, QuestionKind
from auditor.source import QuestionSource
from auditor.spec import load_spec
from auditor.testing import QuestionSourceContract
from auditor_replay.config import ReplayConfig
from auditor_replay.question import RecordingConfig, RecordingSource
from auditor_replay.system import Replay

_ROW = {"qid": "q1", "q": "How long?", "gold": "two years", "topic": "time", "trap": False, "grade": "A", "by": "x"}
_MAPPING: dict[str, Any] = {"path": "r.jsonl", "id": "qid", "question": "q", "reference": "gold"}


def load(folder: Path, *rows: Mapping[str, Any], **more: Any) -> list[Question]:
    """Questions of these rows."""
    (folder / "r.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return list(RecordingSource().load(RecordingConfig.model_validate({**_MAPPING, **more}), folder))


class TestRecordingContract(QuestionSourceContract):
    """The contract of question sources."""

    def make(self) -> QuestionSource:
        """The source."""
        return RecordingSource()

    def config(self, folder: Path) -> RecordingConfig:
        """Two questions, each answered twice."""
        rows = [{**_ROW, "qid": f"q{n % 2}", "by": str(n)} for n in range(4)]
        (folder / "r.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
        return RecordingConfig.model_validate(_MAPPING)

    def broken(self, folder: Path) -> tuple[RecordingConfig, ...]:
        """A column that is not there."""
        return (RecordingConfig.model_validate({**_MAPPING, "question": "query"}),)


def test_rows_of_one_id_are_one_question(tmp_path: Path) -> None:
    """Whoever answered, and whatever grade they got, the question is one."""
    questions = load(tmp_path, _ROW, {**_ROW, "qid": "q2"}, {**_ROW, "by": "y", "grade": "B"}, tags=["topic"])
    assert [question.id for question in questions] == ["q1", "q2"]
    assert questions[0].tags == ("topic:time",)
    assert (questions[0].cluster, questions[0].references) == ("q1", ("two years",))
    assert not {"A", "B", "x", "y"} & set(repr(questions).split("'"))


def test_a_canary_flag_is_a_claim(tmp_path: Path) -> None:
    """It makes a knowledge gap whose absence nobody proved."""
    plain, canary = load(tmp_path, _ROW, {**_ROW, "qid": "q2", "trap": True}, canary="trap")
    assert (plain.kind, plain.proofs) == (QuestionKind.BENCHMARK, {})
    assert canary.kind is QuestionKind.KNOWLEDGE_GAP
    assert canary.proofs["base"].grade is ProofGrade.CLAIMED
    assert canary.proofs["base"].corpus_digest is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": "three years"}, "'gold' differs from line 1"),
        ({"q": ""}, "'q' differs"),
        ({"qid": "q2", "q": " "}, "'q' holds no text"),
        ({"qid": None}, "'qid' holds no text"),
        ({"qid": "q2", "gold": None}, "'gold' holds no text"),
        ({"qid": "q2", "trap": "yes"}, "'trap' holds neither true nor false"),
        ({"qid": "q2", "trap": None}, "'trap' holds neither true nor false"),
    ],
)
def test_rows_that_disagree_or_lack_something_are_said_with_line(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    """Neither the first nor the last wins."""
    with pytest.raises(QuestionError, match=r"^r\.jsonl:2: ") as caught:
        load(tmp_path, _ROW, {**_ROW, **change}, canary="trap")
    assert message in str(caught.value)


def test_a_claimed_canary_has_a_canary_kind() -> None:
    """A flag cannot make a benchmark question."""
    with pytest.raises(ValidationError, match="canary_kind"):
        RecordingConfig.model_validate({**_MAPPING, "canary_kind": "benchmark"})


def test_example_spec_covers_the_shared_transcripts(repository: Path, shared_data: Path) -> None:
    """The shipped example reads 100 questions, one of them a claimed canary, and 100 answers of each of 5 systems."""
    loaded = load_spec(
        repository / "docs" / "examples" / "transcripts.yaml", environment={"AUDITOR_SHARED": str(shared_data)}
    )
    source = loaded.parse_config(RecordingConfig, loaded.spec.questions[0].config, ("questions", 0))
    questions = RecordingSource().load(source, loaded.base)
    assert (len(questions), sum(question.is_canary for question in questions)) == (100, 1)
    grounded = []
    for number, block in enumerate(loaded.spec.systems):
        system = Replay(loaded.parse_config(ReplayConfig, block.config, ("systems", number, "config")))
        assert system.inputs
        grounded.append(system.traits.grounded)
    assert grounded == [True, True, True, True, False]
    assert [label.kind for label in loaded.spec.labels] == ["reviewed"]
