"""The same numbers on another machine: threads, kernels, processor features and hash seeds change nothing."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from campaign_kit import Project
from scratch_site import run_auditor

DOCUMENTS = {
    f"pump-{n}.txt": f"The Alder {n} pump\n\nThe Alder {n} turns at {40 + 7 * n} rpm and weighs {n}.5 kg.\n"
    f"It was released on {n} March 20{10 + n}.\nIts filter is changed every {n} months.\n"
    for n in range(1, 9)
} | {"größe-漢字.txt": "Die Größe\n\nThe café naïve weighs 17 kg – no more.\n"}
RECORDED = {"question": "What does the café naïve weigh?", "answer": "17 kg – 漢字 🙂"}


def _dispatched() -> str:
    """The processor features that this numpy chooses between at run time."""
    core = importlib.import_module("numpy._core._multiarray_umath")  # has no stub
    return " ".join(name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name))


SETTINGS: Mapping[str, Mapping[str, str]] = {
    "one thread": {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "1"},
    "plain kernels": {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "2", "PYTHONHASHSEED": "99"},
    "another locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
    "plain processor": {"NPY_DISABLE_CPU_FEATURES": _dispatched(), "PYTHONHASHSEED": "7"},
}


def project(folder: Path) -> Project:
    """Local pipelines, a recording and the embedded judges over nine documents, not all of them in ASCII."""
    made = Project(folder, documents=DOCUMENTS)
    made.questions = [
        {"id": f"q{n}", "question": question, "references": [reference], "cluster": f"c{n}"}
        for n in range(1, 9)
        for question, reference in [(f"At which speed does the Alder {n} turn?", f"{40 + 7 * n} rpm")]
    ]
    made.questions.append({"id": "q9", "question": RECORDED["question"], "references": ["17 kg"], "cluster": "größe"})
    for policy in ({"policy": "answer_always"}, {"policy": "abstain_below", "threshold": "0.55"}):
        made.systems.append({"name": policy["policy"], "kind": "local-rag", "config": policy})
    columns = {"path": "recorded.jsonl", "question": "question", "answer": "answer", "grounded": True}
    made.systems.append({"name": "recorded", "kind": "replay", "config": columns})
    made.seats = tuple({"name": j, "judge": j} for j in ("answer-match", "embedding-agreement", "token-alignment"))
    made.extra = {"stance": {"classifier": "rules"}, "repeats": 2}
    made.write()
    rows = [RECORDED, *({"question": q["question"], "answer": "–"} for q in made.questions[:-1])]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "recorded.jsonl").write_text(lines, encoding="utf-8")
    return made


def run_in(folder: Path, setting: Mapping[str, str]) -> tuple[str, dict[str, object]]:
    """Run folder and measurement of the audit, run in a process of its own."""
    spec = project(folder).folder / "audit.yaml"
    done = run_auditor("run", str(spec), "--json", "--quiet", "--runs-dir", str(folder / "runs"), environment=setting)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return told["run"], told["findings"]["measurement"]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, object]]:
    """The run in the setting that the tests have."""
    return run_in(tmp_path_factory.mktemp("usual"), {})


@pytest.mark.parametrize("name", list(SETTINGS))
def test_findings_recompute_equal_in_another_setting(usual: tuple[str, dict[str, object]], name: str) -> None:
    """``auditor verify`` says *equal*, not merely equal within rounding."""
    checked = run_auditor("verify", usual[0], "--json", environment=SETTINGS[name])
    assert checked.returncode == 0, checked.stdout + checked.stderr
    details = {check["name"]: check["detail"] for check in json.loads(checked.stdout)["checks"]}
    assert details["findings"].endswith(": equal")


@pytest.mark.parametrize("name", ["plain kernels", "plain processor", "another locale"])
def test_a_whole_run_in_another_setting_measures_the_same(
    usual: tuple[str, dict[str, object]], tmp_path: Path, name: str
) -> None:
    """Retrieval, reader, stance rules and embedded judges included."""
    _, measurement = run_in(tmp_path, SETTINGS[name])
    assert measurement == usual[1]


def test_the_settings_are_real() -> None:
    """Each names something that this machine can turn off, so that the comparison is one."""
    assert SETTINGS["plain processor"]["NPY_DISABLE_CPU_FEATURES"]
    assert os.cpu_count()
