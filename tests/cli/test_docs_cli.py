"""The documents that are generated from the code are current, and every exit code is documented."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.errors import ExitCode
from auditor.spec import load_spec
from scratch_site import run_python

REPOSITORY = Path(__file__).resolve().parents[2]


def test_generated_documents_are_current() -> None:
    """commands.md, the fields of spec.md and audit.schema.json are what the code says; else: run generate_docs.py."""
    done = run_python(str(REPOSITORY / "tests/cli/generate_docs.py"), "--check")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", list(ExitCode))
def test_exit_code_is_documented(code: ExitCode) -> None:
    """Number and name stand in one row of the table."""
    text = (REPOSITORY / "docs/exit-codes.md").read_text(encoding="utf-8")
    assert f"| {int(code)} | `{code.name}` |" in text


def shipped_specs() -> list[Path]:
    """YAML files of the repository that are specs."""
    files = [*REPOSITORY.glob("corpora/*/*.yaml"), *REPOSITORY.glob("docs/examples/*.yaml")]
    return sorted(path for path in files if "\nsystems:" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", shipped_specs(), ids=lambda path: path.name)
def test_shipped_specs_load(path: Path) -> None:
    """Every spec in the repository fits the grammar."""
    assert load_spec(path, environment={"AUDITOR_SHARED": "shared"}).spec.systems
