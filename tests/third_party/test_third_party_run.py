"""A third party's system, judge, label, analysis and writer take part in a whole audit; the core stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from auditor.ledger import Reader
from scratch_site import ScratchSite, run_auditor

_BROKEN = {
    "auditor_unimportable.py": "import no_such_module_anywhere\n",
    "auditor_exits.py": "import sys\nsys.exit(9)\n",
    "auditor_misspelt.py": "from auditor.plugin import hookimpl\n@hookimpl\ndef auditor_sytems(): return []\n",
    "auditor_raises.py": "from auditor.plugin import hookimpl\n@hookimpl\ndef auditor_systems(): raise ValueError(1)\n",
    "auditor_thief.py": (
        "from auditor.plugin import Offer, hookimpl\n@hookimpl\n"
        "def auditor_systems(): return [Offer('local-rag', 'Mine', 'auditor_thief:x')]\n"
    ),
}


@pytest.fixture(scope="module")
def finished(acme_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, object]:
    """The run of the package's own bundled spec, as ``auditor run --json`` tells it."""
    runs = tmp_path_factory.mktemp("runs")
    done = run_auditor("run", "acme", "--yes", "--json", "--quiet", "--runs-dir", str(runs), path=acme_site)
    assert done.returncode == 0, done.stderr
    told: Mapping[str, object] = json.loads(done.stdout)
    return told


def test_bundled_spec_runs_to_its_end(finished: Mapping[str, object]) -> None:
    """The third party's systems are asked, its stance classifier and judge vote, and every cell has its state."""
    assert finished["complete"] is True
    text = json.dumps(finished["findings"])
    for name in ("acme", "acme-strict", "contains"):
        assert f'"{name}"' in text
    assert '"correct"' in text


def test_analysis_with_generic_blocks_is_reported(
    finished: Mapping[str, object], acme_site: Path, tmp_path: Path
) -> None:
    """A section that the core has never met stands in the findings, the terminal, the tables and another's writer."""
    assert "States, as Acme counts them" in json.dumps(finished["findings"])
    run = str(finished["run"])
    shown = run_auditor("report", run, path=acme_site)
    assert "States, as Acme counts them" in shown.stdout and "Acme counts every trial once." in shown.stdout
    formats = ("--format", "tables", "--format", "acme-titles")
    written = run_auditor("report", run, "--out", str(tmp_path), *formats, path=acme_site)
    assert written.returncode == 0, written.stderr
    texts = {path.name: path.read_text(encoding="utf-8-sig") for path in tmp_path.rglob("*") if path.is_file()}
    assert "States, as Acme counts them\n" in texts["acme-titles.txt"]
    assert any("acme-state-table" in name for name in texts), sorted(texts)


def test_what_was_sent_is_recorded_with_each_answer(finished: Mapping[str, object]) -> None:
    """Each answer's entry refers to what went on the wire for it, and to nothing that another call sent."""
    with Reader(Path(str(finished["run"])) / "ledger.sqlite") as ledger:
        texts = {row.body_digest: (row.key, (row.body or {}).get("text")) for row in ledger.rows("text")}
        asked = [row for row in ledger.rows("outcome") if row.key.startswith("ask/")]
    wordings = {key: text for key, text in texts.values() if re.fullmatch(r"question/\d+/\d+", key)}
    assert len(asked) == 6
    for row in asked:
        _, _, question, form, _ = row.key.removeprefix("ask/").partition("#")[0].split(".")
        referred = (row.body or {})["texts"]
        assert isinstance(referred, Mapping)
        key, sent = texts[str(referred["sent"])]
        assert key == f"{row.key}/sent"
        assert json.loads(str(sent)) == {"text": wordings[f"question/{question}/{form}"]}


def test_label_kind_is_counted(finished: Mapping[str, object]) -> None:
    """The third party's label kind was run over the answers."""
    assert "acme-length" in json.dumps(finished["findings"])


def test_run_verifies_without_the_package(finished: Mapping[str, object], acme_site: Path) -> None:
    """The ledger of the run is whole for somebody who does not have the package, and says what was not recomputed."""
    with_it = run_auditor("verify", str(finished["run"]), path=acme_site)
    assert with_it.returncode in {0, 12, 13}, with_it.stdout + with_it.stderr
    without = run_auditor("verify", str(finished["run"]))
    assert without.returncode in {0, 12, 13}, without.stdout + without.stderr


@pytest.fixture
def broken_site(tmp_path: Path) -> Path:
    """Packages that fail in every way."""
    site = ScratchSite(tmp_path / "site")
    for file, source in _BROKEN.items():
        site.add(file.removesuffix(".py").replace("_", "-"), {file: source})
    return site.folder


def test_broken_plugins_do_not_stop_an_audit(acme_site: Path, broken_site: Path, tmp_path: Path) -> None:
    """Beside packages that fail in every way, the audit runs."""
    run = ("run", "acme", "--yes", "--quiet", "--runs-dir", str(tmp_path / "runs"))
    done = run_auditor(*run, path=(broken_site, acme_site))
    assert done.returncode == 0, done.stderr


def test_broken_plugins_are_listed_with_their_reasons(acme_site: Path, broken_site: Path) -> None:
    """``auditor plugins`` shows each of them with what is wrong; only ``--strict`` makes it an error."""
    places = (broken_site, acme_site)
    listed = run_auditor("plugins", "--json", path=places)
    assert listed.returncode == 0, listed.stderr
    shown = " ".join(run_auditor("plugins", path=places).stdout.split())
    for name, reason in (
        ("unimportable", "no_such_module_anywhere"),
        ("exits", "SystemExit: 9"),
        ("misspelt", "auditor_sytems"),
        ("raises", "auditor_systems raised ValueError: 1"),
        ("thief", "is shipped with rag-auditor"),
    ):
        assert f'"{name}"' in listed.stdout and reason in listed.stdout
        assert name in shown and reason in shown
    assert run_auditor("plugins", "--strict", path=places).returncode == 4
    assert run_auditor("acme-hello", path=places).stdout == "Acme says hello to world.\n"
