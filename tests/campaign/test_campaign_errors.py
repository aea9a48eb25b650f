"""What a user gets wrong: one message that names the file, the line and the nearest right name; exit code 3."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.errors import ExitCode
from campaign_kit import Project, benchmark
from scratch_site import run_auditor


def small(folder: Path) -> Project:
    """A valid audit of a local pipeline."""
    project = Project(folder)
    project.systems.append({"name": "local", "kind": "local-rag", "config": {"policy": "answer_always"}})
    project.seats = tuple({"name": j, "judge": j} for j in ("answer-match", "embedding-agreement", "token-alignment"))
    project.extra = {"stance": {"classifier": "rules"}}
    return project


def misspelt_key(project: Project) -> None:
    project.extra["repeets"] = 3


def wrong_type(project: Project) -> None:
    project.extra["repeats"] = "often"


def unknown_kind(project: Project) -> None:
    project.systems[0]["kind"] = "local-rog"


def unknown_judge(project: Project) -> None:
    project.seats = (*project.seats[:2], {"name": "third", "judge": "token-alinement"})


def wrong_plugin_config(project: Project) -> None:
    project.systems[0]["config"] = {"polisy": "answer_always"}


def empty_corpus(project: Project) -> None:
    project.documents = {}


def duplicate_ids(project: Project) -> None:
    project.questions = [benchmark(1), benchmark(2), benchmark(1)]


def no_reference(project: Project) -> None:
    project.questions = [benchmark(1), {**benchmark(2), "references": []}]


def misspelt_question_key(project: Project) -> None:
    project.questions = [benchmark(1), {**benchmark(2), "aliasses": ["x"]}]


@pytest.mark.parametrize(
    ("wrong", "parts"),
    [
        (misspelt_key, ("audit.yaml:", "repeets", "repeats")),
        (wrong_type, ("audit.yaml:", "repeats")),
        (unknown_kind, ("audit.yaml:", "local-rog", "local-rag")),
        (unknown_judge, ("audit.yaml:", "token-alinement", "token-alignment")),
        (wrong_plugin_config, ("audit.yaml:", "polisy", "policy")),
        (empty_corpus, ("audit.yaml:", "documents", "empty")),
        (duplicate_ids, ("questions.jsonl:3", "q1")),
        (no_reference, ("questions.jsonl:2", "reference")),
        (misspelt_question_key, ("questions.jsonl:2", "aliasses", "aliases")),
    ],
)
def test_the_message_names_file_line_and_nearest_name(
    tmp_path: Path, wrong: Callable[[Project], None], parts: tuple[str, ...]
) -> None:
    """Nothing is asked, no folder is made."""
    project = small(tmp_path)
    wrong(project)
    runs = tmp_path / "runs"
    done = run_auditor("run", str(project.write()), "--quiet", "--runs-dir", str(runs))
    assert done.returncode == ExitCode.CONFIGURATION, done.stderr
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr
    assert not runs.exists()
