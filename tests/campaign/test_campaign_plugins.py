"""A plugin that fails after the answers are paid for costs its own part of the audit, and nobody else's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor.archive import verify_run
from auditor.errors import ExitCode
from auditor.findings_json import from_json
from campaign_kit import Project
from scratch_site import ScratchSite, run_auditor

SUPPORT = Path(__file__).resolve().parent.parent / "support"
INIT = """
from auditor.plugin import Offer, hookimpl

@hookimpl
def auditor_analyses(): return [Offer(name, "Fails.", f"auditor_bad.analyses:{name.title()}") for name in %r]
@hookimpl
def auditor_label_kinds(): return [Offer(name, "Fails.", f"auditor_bad.labels:{name.title()}") for name in %r]
@hookimpl
def auditor_systems(): return [Offer("bad", "Fails.", "auditor_bad.system:Bad")]
@hookimpl
def auditor_report_writers(): return [Offer("bad", "Fails.", "auditor_bad.writer:Writer")]
@hookimpl
def auditor_on_event(event): raise RuntimeError("an observer")
"""
ANALYSES = {
    "raises": "raise ValueError('boom')",
    "exits": "raise SystemExit(0)",
    "number": "return 42",
    "renamed": "return Section('penalty', 'Mine', 1, ())",
    "nan": "return Section('nan', 'T', 1, (Estimate('e', float('nan'), Unit.RATE, 3),))",
    "infinite": "return Section('infinite', 'T', 1, (Table('t', 'T', (Column('c', 'C'),), ((float('inf'),),)),))",
    "ragged": "return Section('ragged', 'T', 1, (Table('t', 'T', (Column('c', 'C'),), ((1, 2),)),))",
    "words": "return Section('words', 'T', 1, (Estimate('e', 'much', Unit.RATE, 3),))",
    "surrogate": "return Section('surrogate', '\\ud800', 1, ())",
    "blocks": "return Section('blocks', 'T', 1, ('text',))",
}
LABELS = """
from auditor.label import Field, LabelKind, Labeller, Reduced
from auditor.model import Completion, ModelTraits, TransportOutcome

class Own(Labeller):
    @property
    def traits(self): return ModelTraits("embedded:own")
    def label(self, request, wire): return Completion(TransportOutcome.TEXT, "x")

class Base(LabelKind):
    fields = frozenset({Field.CANDIDATE})
    def applies(self, subject): return True
    def parse(self, text): return text
    def reduce(self, votes): return Reduced("x")
    def own_labeller(self): return Own(None)

class Applies(Base):
    name = "applies"
    def applies(self, subject): raise KeyError("applies")

class Parses(Base):
    name = "parses"
    def parse(self, text): raise SystemExit(0)

class Reduces(Base):
    name = "reduces"
    def reduce(self, votes): raise KeyError("reduces")
"""
SYSTEM = """
from pydantic import BaseModel
from auditor.errors import Fault, FaultReport
from auditor.model import TransportOutcome
from auditor.system import EvidenceSupport, Reply, Store, System, SystemTraits

class Rude:
    def __getattr__(self, name): raise SystemExit(0)

class Mode(BaseModel):
    mode: str

class Bad(System):
    config_model = Mode
    @property
    def traits(self):
        if self.config.mode == "traits":
            raise SystemExit(0)
        return SystemTraits(grounded=True, evidence=EvidenceSupport.NONE)
    def open(self, corpus, work):
        print("open was here")
        if self.config.mode == "exit":
            raise SystemExit(0)
        return {"number": 7, "float": Store("s", {"share": 0.5})}.get(self.config.mode) or Store("s")
    def ask(self, store, request):
        print("ask was here")
        if self.config.mode in {"classify", "message"}:
            raise ValueError("asked")
        if self.config.mode == "usage":
            return Reply(TransportOutcome.TEXT, "right 1", usage=Rude())
        return Reply(TransportOutcome.TEXT, "right 1")
    def classify(self, error):
        if self.config.mode == "message":
            return FaultReport(Fault.PERMANENT, 7)
        raise SystemExit(0)
"""
WRITER = """
from auditor.writer import ReportWriter

class Writer(ReportWriter):
    def write(self, data, folder): raise KeyError("the writer")
"""
KINDS = ("applies", "parses", "reduces")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Path]]:
    """Where the failing plugin and the stub are imported from."""
    made = ScratchSite(tmp_path_factory.mktemp("site"))
    body = "".join(
        f"class {name.title()}(Analysis):\n    name = {name!r}\n    def analyse(self, view):\n        {what}\n"
        for name, what in ANALYSES.items()
    )
    modules = {
        "auditor_bad/__init__.py": INIT % (tuple(ANALYSES), KINDS),
        "auditor_bad/analyses.py": f"from auditor.analysis import Analysis\nfrom auditor.findings import *\n{body}",
        "auditor_bad/labels.py": LABELS,
        "auditor_bad/system.py": SYSTEM,
        "auditor_bad/writer.py": WRITER,
    }
    made.add("bad", modules)
    made.add("auditor-stub", {}, {"stub": "auditor_stub"})
    yield [made.folder, SUPPORT]


def project(folder: Path) -> Project:
    """One system that works."""
    made = Project(folder)
    made.system("one", {"What is thing 1?": "right 1"})
    return made


def test_a_failing_analysis_or_label_kind_costs_its_own_section(site: list[Path], tmp_path: Path) -> None:
    """Whatever it does wrong, the other sections stand, its own says that it failed, and the run verifies."""
    failing = project(tmp_path)
    failing.extra = {"analyses": [{"name": name} for name in ANALYSES], "labels": [{"kind": kind} for kind in KINDS]}
    done = run_auditor(
        "run", str(failing.write()), "--json", "--quiet", "--runs-dir", str(tmp_path / "runs"), path=site
    )
    assert done.returncode == ExitCode.OK, done.stderr
    told = json.loads(done.stdout)
    findings = from_json(told["findings"])
    sections = {section.name: section for section in findings.sections}
    assert set(sections) == {"penalty", *ANALYSES, *KINDS}
    assert sections["penalty"].table("headline").rows
    for name in ANALYSES:
        assert [type(block).__name__ for block in sections[name].blocks] == ["Note"]
        assert "failed" in str(sections[name].blocks[0])
        assert f"analyses.{name.title()}" in done.stderr
    assert [trial["state"] for trial in findings.trials].count("correct") == 1
    assert verify_run(Path(told["run"])).exit_code is ExitCode.NOT_CHECKED  # a third party's sections, no more
    trusted = [part for name in (*ANALYSES, *KINDS) for part in ("--with-analysis", name)]
    assert run_auditor("verify", told["run"], *trusted, path=site).returncode == ExitCode.OK


@pytest.mark.parametrize("mode", ["exit", "number", "float"])
def test_a_store_that_cannot_be_is_left_out(site: list[Path], tmp_path: Path, mode: str) -> None:
    """Its system is never asked, with the reason; only the other's answers are on standard output."""
    failing = project(tmp_path)
    failing.systems.append({"name": "bad", "kind": "bad", "config": {"mode": mode}})
    done = run_auditor(
        "run", str(failing.write()), "--json", "--quiet", "--runs-dir", str(tmp_path / "runs"), path=site
    )
    assert done.returncode == ExitCode.INCOMPLETE, done.stderr
    assert "open was here" in done.stderr
    states = {
        (trial["system"], trial["state"]) for trial in json.loads(done.stdout)["findings"]["measurement"]["trials"]
    }
    assert states == {(0, "correct"), (0, "abstained"), (1, "not_asked")}


@pytest.mark.parametrize("mode", ["classify", "message", "usage"])
def test_an_outcome_that_cannot_be_written_down_is_a_failure(site: list[Path], tmp_path: Path, mode: str) -> None:
    """Wherever the plugin breaks while its reply is looked at, the trial ends, and the run with it."""
    failing = project(tmp_path)
    failing.systems.append({"name": "bad", "kind": "bad", "config": {"mode": mode}})
    done = run_auditor(
        "run", str(failing.write()), "--json", "--quiet", "--runs-dir", str(tmp_path / "runs"), path=site
    )
    assert done.returncode == ExitCode.OK, done.stderr
    trials = json.loads(done.stdout)["findings"]["measurement"]["trials"]
    assert {trial["state"] for trial in trials if trial["system"] == 1} == {"failed"}


def test_a_plugin_does_not_choose_the_exit_code(site: list[Path], tmp_path: Path) -> None:
    """``SystemExit(0)`` out of a plugin is no success, and is said."""
    failing = project(tmp_path)
    failing.systems.append({"name": "bad", "kind": "bad", "config": {"mode": "traits"}})
    done = run_auditor("run", str(failing.write()), "--quiet", "--runs-dir", str(tmp_path / "runs"), path=site)
    assert done.returncode == ExitCode.PLUGIN
    assert "tried to end the process" in done.stderr


def test_a_failing_writer_costs_its_own_format(site: list[Path], tmp_path: Path) -> None:
    """The other formats are written, whichever is asked for first."""
    result = project(tmp_path).run()
    formats = ("--format", "bad", "--format", "tables")
    done = run_auditor("report", str(result.folder), *formats, "--out", str(tmp_path / "out"), path=site)
    assert done.returncode == ExitCode.PLUGIN
    assert "KeyError" in done.stderr
    assert list((tmp_path / "out").rglob("trials.csv"))
