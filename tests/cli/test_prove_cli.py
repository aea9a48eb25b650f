"""prove, and what run and doctor say of canaries without a proof, as a buyer with a folder of documents meets them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from auditor.errors import ExitCode
from scratch_site import run_auditor

_DOCUMENTS = {
    "returns.md": "# Returns\n\nGoods may be returned within 45 days of delivery.\n",
    "company.md": "# About us\n\nThe company was founded in 2009 by Ilse Verhoeven. The head office is in Leuven.\n",
}
_QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "question": "Within how many days may goods be returned?", "reference": "45 days"},
    {"id": "gap", "kind": "knowledge_gap", "question": "Who is the treasurer?", "reference": "Marta Quispe"},
    {"id": "name", "kind": "fictitious", "question": "What does the Marlow cost?", "tags": ["entity:Marlow"]},
    {"id": "open", "kind": "hold_out", "question": "Who audits the books?", "reference": "Zoltan Ek", "claimed": True},
]
_TOLD: dict[str, Any] = {
    "id": "told",
    "kind": "knowledge_gap",
    "question": "Who founded the company?",
    "reference": "Ilse Verhoeven",
}


def audit(folder: Path, *more: dict[str, Any]) -> Path:
    """A spec as ``init`` writes it, with documents and questions beside it."""
    assert run_auditor("init", str(folder)).returncode == ExitCode.OK
    (folder / "documents").mkdir()
    for name, text in _DOCUMENTS.items():
        (folder / "documents" / name).write_text(text, encoding="utf-8")
    lines = [json.dumps(question) + "\n" for question in (*_QUESTIONS, *more)]
    (folder / "questions.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder / "audit.yaml"


def grades(folder: Path) -> dict[str, str | None]:
    """Grade of the proof of each question, None where there is none."""
    lines = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    return {line["id"]: line.get("proofs", {}).get("base", {}).get("grade") for line in lines}


def test_what_is_missing_is_told_with_the_command_that_makes_it(tmp_path: Path) -> None:
    """Doctor finds what would stop a run; run says where and what to call; after that both pass."""
    spec = audit(tmp_path)
    runs = ("--runs-dir", str(tmp_path / "runs"))
    for command in ("doctor", "run"):
        done = run_auditor(command, str(spec), *runs)
        assert done.returncode == ExitCode.CONFIGURATION
        assert re.search(r"audit\.yaml:\d+: canary 'gap' has no proof", done.stdout + done.stderr)
        assert f"auditor prove {spec}" in done.stdout + done.stderr
    done = run_auditor("prove", str(spec))
    assert done.returncode == ExitCode.OK, done.stdout + done.stderr
    assert "2 of 2 canaries proven" in done.stdout
    assert grades(tmp_path) == {"q1": None, "gap": "embedded", "name": "lexical", "open": None}
    done = run_auditor("doctor", str(spec), *runs)
    assert done.returncode == ExitCode.OK, done.stdout
    assert "2 documents, 4 questions (3 of them canaries), 24 trials" in done.stdout
    assert not (tmp_path / "runs").exists()


def test_what_the_documents_say_is_not_proven_absent(tmp_path: Path) -> None:
    """It is named with the document that says it, and what was proven is kept all the same."""
    spec = audit(tmp_path, _TOLD)
    done = run_auditor("prove", str(spec))
    assert done.returncode == ExitCode.CONFIGURATION
    assert "not proven" in done.stdout and "told" in done.stdout and "company.md states the answer" in done.stdout
    assert grades(tmp_path) == {"q1": None, "gap": "embedded", "name": "lexical", "open": None, "told": None}


def test_an_old_proof_does_not_outlive_its_question(tmp_path: Path) -> None:
    """A canary whose answer was changed to one that the documents hold loses the proof that it had."""
    spec = audit(tmp_path)
    run_auditor("prove", str(spec))
    path = tmp_path / "questions.jsonl"
    text = path.read_text(encoding="utf-8").replace("Who is the treasurer?", _TOLD["question"])
    path.write_text(text.replace("Marta Quispe", _TOLD["reference"]), encoding="utf-8")
    assert run_auditor("prove", str(spec)).returncode == ExitCode.CONFIGURATION
    assert grades(tmp_path)["gap"] is None


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("path: documents", "path: papers", ExitCode.CONFIGURATION, "corpus: papers: no such folder"),
        ("path: questions.jsonl", "path: q.jsonl", ExitCode.CONFIGURATION, "q.jsonl: cannot be read"),
        ("{source: folder, path: documents}", "{none: recorded}", ExitCode.CONFIGURATION, "no documents are at hand"),
    ],
)
def test_what_cannot_be_proven_at_all(tmp_path: Path, old: str, new: str, code: ExitCode, message: str) -> None:
    """One line that says why, and nothing is written."""
    spec = audit(tmp_path)
    before = (tmp_path / "questions.jsonl").read_bytes()
    spec.write_text(spec.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    done = run_auditor("prove", str(spec))
    assert done.returncode == code
    assert message in done.stderr and len(done.stderr.splitlines()) == 1
    assert (tmp_path / "questions.jsonl").read_bytes() == before


def test_an_unknown_builder_is_told_the_nearest(tmp_path: Path) -> None:
    """The name of a plugin's offer, as everywhere."""
    done = run_auditor("prove", str(audit(tmp_path)), "--builder", "knowledge-gab")
    assert done.returncode == ExitCode.PLUGIN
    assert "did you mean knowledge-gap?" in done.stderr
