"""What the README and the pages of docs/ tell a reader to type or to write works as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from auditor.errors import ExitCode
from auditor.question import Question
from auditor_sources.questions import JsonLinesConfig, JsonLinesSource
from scratch_site import run_auditor
from source_tree import REPOSITORY


def blocks(page: Path, language: str) -> list[str]:
    """Fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def questions(page: Path, folder: Path) -> list[Question]:
    """The questions that a page shows."""
    [shown] = blocks(page, "json")
    (folder / "questions.jsonl").write_text(shown, encoding="utf-8")
    return list(JsonLinesSource().load(JsonLinesConfig(path=Path("questions.jsonl")), folder))


@pytest.mark.parametrize("page", [REPOSITORY / "README.md", REPOSITORY / "docs" / "canaries.md"], ids=lambda p: p.name)
def test_questions_that_are_shown_can_be_read(page: Path, tmp_path: Path) -> None:
    """Each line is a whole question, and canaries are among them."""
    assert any(question.is_canary for question in questions(page, tmp_path))


def test_what_a_buyer_is_told_to_do_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's own commands in their order, over two documents and the README's own questions."""
    monkeypatch.chdir(tmp_path)
    readme = REPOSITORY / "README.md"
    commands = re.findall(r"^\$ auditor (.+?) *(?:#.*)?$", "".join(blocks(readme, "console")), re.MULTILINE)
    buyer = [command.split() for command in commands if "docs/examples" not in command]
    assert [command[0] for command in buyer] == ["init", "prove", "doctor", "run", "status", "report", "verify"]
    for number, command in enumerate(buyer):
        done = run_auditor(*command)
        assert done.returncode == ExitCode.OK, (command, done.stdout, done.stderr)
        if number == 0:
            questions(readme, tmp_path / "my-audit")
            (tmp_path / "my-audit" / "documents").mkdir()
            (tmp_path / "my-audit" / "documents" / "warranty.md").write_text("Oak tables: 7 years.\n", "utf-8")
            (tmp_path / "my-audit" / "documents" / "company.md").write_text("Founder: Ilse Verhoeven.\n", "utf-8")


def test_the_recorded_example_runs(tmp_path: Path) -> None:
    """Every state that the six recorded answers stand for comes out; an empty answer is none of the others."""
    runs = ("--runs-dir", str(tmp_path))
    done = run_auditor("run", str(REPOSITORY / "docs" / "examples" / "recorded.yaml"), "--quiet", *runs)
    assert done.returncode == ExitCode.OK, done.stderr
    assert "claimed, unproven" in done.stdout
    status = run_auditor("status", *runs).stdout
    assert "abstained 2, correct 2, empty 1, incorrect 1" in status
