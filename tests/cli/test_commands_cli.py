"""init, schema, completion, plugins and doctor, as a user meets them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from auditor.cli.group import COMMANDS
from auditor.errors import ExitCode
from auditor.spec import load_spec
from scratch_site import ScratchSite, run_auditor


def test_init_writes_a_spec_that_loads(tmp_path: Path) -> None:
    """The file is commented, valid, and named after its folder; nothing is asked."""
    done = run_auditor("init", str(tmp_path / "My Audit_7"))
    assert done.returncode == ExitCode.OK
    path = tmp_path / "My Audit_7" / "audit.yaml"
    loaded = load_spec(path)
    assert loaded.spec.name == "my-audit-7"
    comments = [line for line in path.read_text(encoding="utf-8").splitlines() if "#" in line]
    assert len(comments) > 15


def test_init_never_overwrites_unasked(tmp_path: Path) -> None:
    """A file that is there stays as it is without --force."""
    target = tmp_path / "audit.yaml"
    target.write_text("mine", encoding="utf-8")
    done = run_auditor("init", str(target))
    assert done.returncode == ExitCode.CONFIGURATION
    assert "--force" in done.stderr
    assert target.read_text(encoding="utf-8") == "mine"
    assert run_auditor("init", str(target), "--force").returncode == ExitCode.OK
    assert load_spec(target).spec.name
    assert [path.name for path in tmp_path.iterdir()] == ["audit.yaml"]


def test_init_draws_a_seed_of_its_own(tmp_path: Path) -> None:
    """Two audits do not share the order of their questions by accident."""
    for name in ("a", "b"):
        run_auditor("init", str(tmp_path / name))
    assert load_spec(tmp_path / "a/audit.yaml").spec.seed != load_spec(tmp_path / "b/audit.yaml").spec.seed


def test_init_where_nothing_can_be_written(tmp_path: Path) -> None:
    """One line, the code of storage."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = run_auditor("init", str(tmp_path / "file" / "below"))
    assert done.returncode == ExitCode.STORAGE
    assert len(done.stderr.splitlines()) == 1


def test_schema_is_json() -> None:
    """The schema names every block of the grammar."""
    done = run_auditor("schema")
    assert {"name", "systems", "panel", "penalty"} <= set(json.loads(done.stdout)["properties"])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell: str) -> None:
    """The script for each shell calls back into this command."""
    done = run_auditor("completion", shell)
    assert done.returncode == ExitCode.OK
    assert "_AUDITOR_COMPLETE" in done.stdout


def complete(words: str, folder: Path) -> list[str]:
    """What bash is offered for the last of ``words``."""
    environment = {
        "_AUDITOR_COMPLETE": "bash_complete",
        "COMP_WORDS": f"auditor {words}",
        "COMP_CWORD": str(len(words.split(" "))),
    }
    done = run_auditor(environment=environment)
    assert done.returncode == ExitCode.OK, done.stderr
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_completion_of_commands_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands and the names of runs, the newest first."""
    for age, name in ((2, "demo-0123456789ab-1"), (1, "demo-0123456789ab-2"), (3, "other")):
        (tmp_path / "runs" / name).mkdir(parents=True)
        if name != "other":
            ledger = tmp_path / "runs" / name / "ledger.sqlite"
            ledger.touch()
            os.utime(ledger, ns=(10**18 - age, 10**18 - age))
    monkeypatch.chdir(tmp_path)
    assert complete("st", tmp_path) == ["status"]
    assert complete("status demo", tmp_path) == ["demo-0123456789ab-2", "demo-0123456789ab-1"]


def test_help_of_every_command_says_what_the_list_says() -> None:
    """Every command of the table exists, and its module's help begins like a sentence."""
    for name in COMMANDS:
        done = run_auditor(name, "--help")
        assert done.returncode == ExitCode.OK
        assert done.stdout.startswith(f"Usage: auditor {name}")


def test_plugins_lists_what_failed_and_why(tmp_path: Path) -> None:
    """Name, distribution, version, kind, hook version; the broken one with its reason, and 4 only when asked."""
    site = ScratchSite(tmp_path)
    site.add("acme-broken", {"auditor_broken.py": "raise RuntimeError('no licence\\x1b[2J')"}, version="2.5")
    done = run_auditor("plugins", path=tmp_path)
    assert done.returncode == ExitCode.OK
    assert "systems (hook v1): " in done.stdout and "local-rag" in done.stdout
    assert re.search(r"acme-broken +2\.5", done.stdout) and "no licence" in done.stdout
    assert "\x1b" not in done.stdout
    assert run_auditor("plugins", "--strict", path=tmp_path).returncode == ExitCode.PLUGIN
    listed = json.loads(run_auditor("plugins", "--json", path=tmp_path).stdout)
    broken = next(record for record in listed if record["name"] == "broken")
    assert broken["state"] == "failed" and "no licence" in broken["reason"]


def test_doctor_checks_this_machine() -> None:
    """Every check has a state and a detail; on a machine that can run the tests none fails."""
    done = run_auditor("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert {"python", "sqlite", "disk", "clock", "encoding", "plugins"} <= set(checks)
    assert {checks[name]["state"] for name in ("python", "sqlite", "disk", "clock")} == {"passed"}


def test_doctor_on_a_spec(tmp_path: Path) -> None:
    """A spec's mistakes are told with its file and line, under the spec's own exit code."""
    run_auditor("init", str(tmp_path))
    path = tmp_path / "audit.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("kind: local-rag", "kind: local-rga", 1), encoding="utf-8")
    done = run_auditor("doctor", str(path))
    assert done.returncode == ExitCode.CONFIGURATION
    assert 'unknown system kind "local-rga"; did you mean "local-rag"?' in done.stdout
    assert "not checked  settings" in done.stdout
    path.write_text(text.replace("policy: answer_always", "polcy: answer_always"), encoding="utf-8")
    done = run_auditor("doctor", str(path))
    assert 'systems[0].config.polcy: unknown key "polcy"; did you mean "policy"?' in done.stdout
    path.write_text(text + "sede: 1\n", encoding="utf-8")
    done = run_auditor("doctor", str(path))
    assert done.returncode == ExitCode.CONFIGURATION
    assert 'sede: unknown key "sede"; did you mean "seed"?' in done.stdout


def test_doctor_where_runs_cannot_be_written(tmp_path: Path) -> None:
    """A runs folder that is a file is found before a run needs it."""
    (tmp_path / "runs").write_text("", encoding="utf-8")
    done = run_auditor("doctor", "--runs-dir", str(tmp_path / "runs" / "x"))
    assert done.returncode == ExitCode.STORAGE
    assert "is no folder" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "dmeo"], ExitCode.CONFIGURATION, "did you mean 'demo'?"),
        (["run", "."], ExitCode.CONFIGURATION, "is a folder"),
        (["run", "demo", "--from", "nowhere"], ExitCode.CONFIGURATION, "there is no run 'nowhere'"),
        (["status", "nowhere"], ExitCode.CONFIGURATION, "there is no run 'nowhere'"),
        (["status"], ExitCode.CONFIGURATION, "there is no run in runs"),
        (["report"], ExitCode.CONFIGURATION, "there is no run in runs"),
        (["verify", "nowhere"], ExitCode.NOT_CHECKED, "there is no run 'nowhere'"),
    ],
)
def test_what_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: ExitCode, message: str
) -> None:
    """Specs and runs that do not exist: one line, with the nearest name."""
    monkeypatch.chdir(tmp_path)
    done = run_auditor(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
