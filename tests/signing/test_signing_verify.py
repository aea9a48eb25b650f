"""``verify`` of a signed report, line by line, with its exit codes; ``report --sign`` that makes one (DESIGN §5)."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

import auditor
from auditor.errors import ConfigurationError, ExitCode, RunError
from auditor.ledger import Entry, Ledger, Reader, export_jsonl
from auditor.signing.attachment import attachments_of
from auditor.signing.certificate import Wanted, der_of, fingerprint, read_wanted
from auditor.signing.check import SignedReport, check_report
from auditor.signing.disclosure import missing_disclosure
from auditor.signing.keys import throwaway_key
from auditor.signing.report import require_signable, sign_report
from auditor.signing.sign import sign_pdf
from scratch_site import ScratchSite, run_auditor, run_python
from signing_kit import DISCLOSURE, NOW, Identity, Signed, chain, identity, small_pdf, small_run

LINES = ["signature", "signer", "timestamp", "attachments", "chain", "seal", "findings"]


def states(report: SignedReport) -> dict[str, str]:
    """State by line."""
    return {check.name: check.state.value for check in report.checks}


def detail(report: SignedReport, name: str) -> str:
    """What a line says."""
    return next(check.detail for check in report.checks if check.name == name)


def test_everything_passes(signed: Signed, finished_run: Path, file_of: Callable[[bytes], Path]) -> None:
    """With the signer and the ledger every line passes, but for the timestamp of a report that has none."""
    wanted = Wanted(fingerprint(signed.signer.certificate))
    report = check_report(file_of(signed.data), ledger=finished_run, wanted=wanted)
    stamped = "passed" if "B-T" in detail(report, "signature") else "not checked"
    assert states(report) == dict.fromkeys(LINES, "passed") | {"timestamp": stamped}
    assert report.exit_code is ExitCode.OK
    assert "equal" in detail(report, "findings")


def test_identity_is_not_vouched_for(signed: Signed, file_of: Callable[[bytes], Path]) -> None:
    """Without ``--signer`` the fingerprint is shown, and the code says that nobody vouches for it."""
    report = check_report(file_of(signed.data))
    assert states(report)["signer"] == "not checked"
    assert fingerprint(signed.signer.certificate) in detail(report, "signer")
    assert "identity not vouched for" in detail(report, "signer")
    if len(signed.signer.certificates) == 1:
        assert "self-signed" in detail(report, "signer")
    assert [states(report)[name] for name in ("chain", "seal", "findings")] == ["not checked"] * 3
    assert report.exit_code is ExitCode.NOT_VOUCHED


def test_another_key_fails(signed: Signed, finished_run: Path, file_of: Callable[[bytes], Path]) -> None:
    """A report signed by another key, whatever else holds; also by another certificate of the same name."""
    for other in (identity("Signer", number=5), identity("Root", number=1, authority=True)):
        wanted = Wanted(fingerprint(other.certificate), other.certificate)
        report = check_report(file_of(signed.data), ledger=finished_run, wanted=wanted)
        assert states(report)["signer"] == "failed"
        assert "another than the one asked for" in detail(report, "signer")
        assert report.exit_code is ExitCode.NOT_VOUCHED


@pytest.mark.parametrize("level", [0, 1, 2])
def test_authority_above_the_signer(
    level: int, attached: Mapping[str, bytes], file_of: Callable[[bytes], Path]
) -> None:
    """``--signer`` may name the signer or an authority above it, also one whose certificate is not in the file."""
    signer = chain()
    path = file_of(sign_pdf(small_pdf(), attached, signer.key(), NOW))
    assert check_report(path, wanted=Wanted(fingerprint(signer.certificates[level]))).exit_code is ExitCode.OK
    short = Identity(signer.private, signer.certificates[:2])
    path = file_of(sign_pdf(small_pdf(), attached, short.key(), NOW))
    by_file = Wanted(fingerprint(signer.certificates[level]), signer.certificates[level])
    assert check_report(path, wanted=by_file).exit_code is ExitCode.OK


def test_signer_may_not_stand_as_an_authority(attached: Mapping[str, bytes], file_of: Callable[[bytes], Path]) -> None:
    """A certificate issued by one that is none of an authority: its owner could make such for any name."""
    honest = chain()
    forged = identity("Honest name", honest, number=7)
    path = file_of(sign_pdf(small_pdf(), attached, forged.key(), NOW))
    for certificate in honest.certificates:
        report = check_report(path, wanted=Wanted(fingerprint(certificate), certificate))
        assert states(report)["signer"] == "failed"
        assert report.exit_code is ExitCode.NOT_VOUCHED


@pytest.mark.parametrize(
    "signer", [{"ends": datetime(2026, 3, 1, tzinfo=UTC)}, {"begins": datetime(2027, 1, 1, tzinfo=UTC)}]
)
def test_certificate_that_was_not_valid(
    signer: dict[str, datetime], attached: Mapping[str, bytes], file_of: Callable[[bytes], Path]
) -> None:
    """At the time of signing: before it began, after it ended."""
    own = identity("Signer", **signer)  # type: ignore[arg-type] # two of its keywords
    path = file_of(sign_pdf(small_pdf(), attached, own.key(), NOW))
    report = check_report(path, wanted=Wanted(fingerprint(own.certificate)))
    assert "was not valid at" in detail(report, "signer")
    assert report.exit_code is ExitCode.NOT_VOUCHED


@pytest.mark.parametrize("form", ["colons", "upper", "tagged", "spaces", "pem", "der"])
def test_forms_of_a_signer(form: str, tmp_path: Path) -> None:
    """A fingerprint as other tools print it, or a file."""
    own = identity("Signer").certificate
    bare = fingerprint(own).removeprefix("sha256:")
    (tmp_path / "pem").write_bytes(own.public_bytes(Encoding.PEM))
    (tmp_path / "der").write_bytes(der_of(own))
    pairs = [bare[n : n + 2] for n in range(0, 64, 2)]
    text = {
        "colons": ":".join(pairs).upper(),
        "upper": bare.upper(),
        "tagged": f"SHA256:{bare}",
        "spaces": " ".join(pairs),
    }.get(form, str(tmp_path / form))
    assert read_wanted(text).fingerprint == fingerprint(own)


@pytest.mark.parametrize(
    "text", ["", "abc", "g" * 64, "a" * 63, "a" * 65, "md5:" + "a" * 32, __file__, "x" * 5000, "\0"]
)
def test_what_names_no_signer(text: str) -> None:
    """Refused before anything is checked: a slip of the pen must not read as "another signer"."""
    with pytest.raises(ConfigurationError):
        read_wanted(text)


class TestLedger:
    """The report against the ledger that is given with it."""

    @pytest.fixture
    def report(self, signed_reports: Mapping[str, Signed], file_of: Callable[[bytes], Path]) -> Path:
        """A report over ``finished_run``."""
        return file_of(signed_reports["alone"].data)

    @pytest.fixture
    def wanted(self, signed_reports: Mapping[str, Signed]) -> Wanted:
        """Its signer."""
        return Wanted(fingerprint(signed_reports["alone"].signer.certificate))

    @pytest.fixture
    def copy(self, finished_run: Path, tmp_path: Path) -> Path:
        """The run, to be changed."""
        return shutil.copytree(finished_run, tmp_path / "copy")

    def test_other_run(self, report: Path, wanted: Wanted, tmp_path: Path) -> None:
        """Whole and sealed, but with another head."""
        other = small_run(tmp_path / "other")
        checked = check_report(report, ledger=other, wanted=wanted)
        assert (states(checked)["chain"], states(checked)["seal"]) == ("passed", "failed")
        assert "signed were" in detail(checked, "seal")
        assert states(checked)["findings"] == "not checked"
        assert checked.exit_code is ExitCode.TAMPERED

    @pytest.mark.parametrize("sealed", [False, True])
    def test_ledger_that_went_on(self, sealed: bool, report: Path, wanted: Wanted, copy: Path) -> None:
        """One more entry, with or without a new seal, is another head."""
        ledger = Ledger.open(copy / "ledger.sqlite")
        ledger.append_wait([Entry("note", "0", {"text": "more"})])
        if sealed:
            ledger.seal()
        ledger.close()
        checked = check_report(report, ledger=copy, wanted=wanted)
        assert (states(checked)["chain"], states(checked)["seal"]) == ("passed", "failed")
        assert checked.exit_code is ExitCode.TAMPERED

    def test_changed_ledger(self, report: Path, wanted: Wanted, copy: Path, tmp_path: Path) -> None:
        """A body changed in the export."""
        lines = tmp_path / "ledger.jsonl"
        with Reader(copy / "ledger.sqlite") as reader:
            export_jsonl(reader, lines)
        text = lines.read_text(encoding="utf-8")
        lines.write_text(text.replace("Test Works", "Best Works"), encoding="utf-8")
        checked = check_report(report, ledger=lines, wanted=wanted)
        assert states(checked)["chain"] == "failed"
        assert checked.exit_code is ExitCode.TAMPERED

    def test_export(self, report: Path, wanted: Wanted, finished_run: Path, tmp_path: Path) -> None:
        """Chain and seal of the export are checked; the findings need the database, and the code says so."""
        lines = tmp_path / "ledger.jsonl"
        with Reader(finished_run / "ledger.sqlite") as reader:
            export_jsonl(reader, lines)
        checked = check_report(report, ledger=lines, wanted=wanted)
        assert [states(checked)[name] for name in ("chain", "seal", "findings")] == ["passed", "passed", "not checked"]
        assert checked.exit_code is ExitCode.NOT_CHECKED

    def test_no_ledger_there(self, report: Path, wanted: Wanted, tmp_path: Path) -> None:
        """A folder without one is not a failure of the report."""
        checked = check_report(report, ledger=tmp_path, wanted=wanted)
        assert states(checked)["chain"] == "not checked"
        assert checked.exit_code is ExitCode.NOT_CHECKED

    def test_changed_findings(
        self, finished_run: Path, attached: Mapping[str, bytes], file_of: Callable[[bytes], Path]
    ) -> None:
        """One number changed before signing, by whoever holds the key: it does not follow from the ledger."""
        findings = json.loads(attached["findings.json"])
        findings["measurement"]["trials"][0]["score"] = "0.5"
        signer = identity("Signer")
        files = {**attached, "findings.json": json.dumps(findings).encode()}
        path = file_of(sign_pdf(small_pdf(), files, signer.key(), NOW))
        checked = check_report(path, ledger=finished_run, wanted=Wanted(fingerprint(signer.certificate)))
        assert states(checked)["findings"] == "failed"
        assert "trials[0].score" in detail(checked, "findings")
        assert checked.exit_code is ExitCode.TAMPERED

    def test_findings_of_a_later_version(
        self, finished_run: Path, attached: Mapping[str, bytes], file_of: Callable[[bytes], Path]
    ) -> None:
        """Another schema version is not checked, which is not a failure."""
        findings = json.loads(attached["findings.json"]) | {"schema_version": 99}
        signer = identity("Signer")
        files = {**attached, "findings.json": json.dumps(findings).encode()}
        path = file_of(sign_pdf(small_pdf(), files, signer.key(), NOW))
        checked = check_report(path, ledger=finished_run, wanted=Wanted(fingerprint(signer.certificate)))
        assert "schema version" in detail(checked, "findings")
        assert checked.exit_code is ExitCode.NOT_CHECKED

    def test_another_signer_and_another_ledger(self, report: Path, tmp_path: Path) -> None:
        """Where several fail, tampered is said first."""
        other = small_run(tmp_path / "other")
        checked = check_report(report, ledger=other, wanted=Wanted("sha256:" + "0" * 64))
        assert checked.exit_code is ExitCode.TAMPERED
        assert states(checked)["signer"] == "failed"


class TestDisclosure:
    """Whose audit it is: without it nothing is signed, and nothing signed without it passes."""

    @pytest.mark.parametrize("field", sorted(DISCLOSURE))
    @pytest.mark.parametrize("value", [None, "", "  "])
    def test_each_field_is_needed(self, field: str, value: str | None) -> None:
        """A blank is none."""
        assert missing_disclosure({"disclosure": {**DISCLOSURE, field: value}}) == (field,)
        assert not missing_disclosure({"disclosure": DISCLOSURE})

    def test_run_without_one_is_not_signed(self, tmp_path: Path) -> None:
        """Refused before anything is written, by a line that names what is missing."""
        run = small_run(tmp_path, disclosure={"run_by": "Works"})
        with pytest.raises(ConfigurationError, match="on_behalf_of, paid_by, conflicts, access"):
            require_signable(auditor.open(run))
        done = run_auditor("report", str(run), "--throwaway-key", "--out", str(tmp_path / "out"))
        assert done.returncode == ExitCode.CONFIGURATION
        assert "disclosure" in done.stderr
        assert not (tmp_path / "out").exists()

    def test_report_without_one_does_not_pass(self, tmp_path: Path, file_of: Callable[[bytes], Path]) -> None:
        """Signed all the same, by other software."""
        run = small_run(tmp_path, disclosure=None)
        files = attachments_of(run / "ledger.sqlite", run / "findings.json")
        report = check_report(file_of(sign_pdf(small_pdf(), files, identity("Signer").key(), NOW)))
        assert "disclosure" in detail(report, "attachments")
        assert report.exit_code is ExitCode.TAMPERED


def test_run_that_does_not_verify_is_not_signed(finished_run: Path, tmp_path: Path) -> None:
    """Findings that were edited, and a ledger without a seal."""
    edited = shutil.copytree(finished_run, tmp_path / "edited")
    text = (edited / "findings.json").read_text(encoding="utf-8")
    (edited / "findings.json").write_text(text.replace('"state": "correct"', '"state": "incorrect"', 1), "utf-8")
    unsealed = shutil.copytree(finished_run, tmp_path / "unsealed")
    ledger = Ledger.open(unsealed / "ledger.sqlite")
    ledger.append_wait([Entry("note", "0", {"text": "more"})])
    ledger.close()
    for folder in (edited, unsealed):
        with pytest.raises(RunError, match="not signed"):
            require_signable(auditor.open(folder))
    with pytest.raises(RunError, match="seal"):
        attachments_of(unsealed / "ledger.sqlite", unsealed / "findings.json")


def test_signed_in_its_place(finished_run: Path, tmp_path: Path) -> None:
    """The signed file takes the unsigned one's place, with nothing beside it, and verifies."""
    path = tmp_path / "report.pdf"
    path.write_bytes(small_pdf())
    key = throwaway_key(NOW)
    sign_report(auditor.open(finished_run), path, key, NOW)
    assert [file.name for file in tmp_path.iterdir()] == ["report.pdf"]
    wanted = Wanted(fingerprint(key.certificates[0]))
    assert check_report(path, ledger=finished_run, wanted=wanted).exit_code is ExitCode.OK


def test_texts_are_not_attached(finished_run: Path, attached: Mapping[str, bytes]) -> None:
    """What a private corpus keeps to itself is in no attachment: questions, references, answers, documents' names."""
    texts = [text for text in auditor.open(finished_run).texts.values() if len(text) > 5]
    names = re.findall(r"What is thing|rpm|right \d|a\.txt", " ".join(texts))
    assert set(names) >= {"What is thing", "right 1"}
    for data in attached.values():
        assert not [name for name in names if name.encode() in data]


def test_pdfsig_finds_it_valid(signed: Signed, file_of: Callable[[bytes], Path]) -> None:
    """Another implementation: poppler's, over NSS."""
    import subprocess

    pdfsig = shutil.which("pdfsig")
    if pdfsig is None:
        pytest.skip("no pdfsig: install poppler-utils")
    done = subprocess.run([pdfsig, "-nocert", file_of(signed.data)], capture_output=True, text=True, check=False)
    assert "Signature is Valid." in done.stdout
    assert "Total document signed" in done.stdout
    assert "ETSI.CAdES.detached" in done.stdout


def _needs() -> set[str]:
    """Import names of pyHanko and of what it requires, however far."""
    found, waiting = set(), ["pyhanko"]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        found.add(name)
        try:
            required = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        waiting += [re.split(r"[^\w.-]", need)[0] for need in required if "extra ==" not in need]
    tops = importlib.metadata.packages_distributions()
    return {top for top, owners in tops.items() if {re.sub(r"[-_.]+", "-", o).lower() for o in owners} & found}


def test_signature_and_chain_need_pyhanko_alone(
    signed_reports: Mapping[str, Signed], file_of: Callable[[bytes], Path], tmp_path: Path
) -> None:
    """All lines but the findings, in a new process with sockets forbidden: imports are ours, pyHanko's and Python's."""
    other = small_run(tmp_path / "other")  # its chain and seal are read; findings are not recomputed against it
    code = (
        "import json, sys, socket\n"
        "def refuse(*_, **__): raise AssertionError('a socket')\n"
        "from pathlib import Path\n"
        "from auditor.signing.check import check_report\n"
        "socket.socket.__init__ = socket.socketpair = socket.getaddrinfo = refuse\n"
        "report = check_report(Path(sys.argv[1]), ledger=Path(sys.argv[2]))\n"
        "print(json.dumps([[c.name, c.state.value] for c in report.checks]))\n"
        "print(json.dumps(sorted({m for m in sys.modules})))\n"
    )
    for kind in ("chain", "stamped-chain"):
        done = run_python("-c", code, str(file_of(signed_reports[kind].data)), str(other))
        assert done.returncode == 0, done.stderr
        lines, modules = (json.loads(line) for line in done.stdout.splitlines())
        assert ["chain", "passed"] in lines and ["seal", "failed"] in lines and ["attachments", "passed"] in lines
        tops = {module.partition(".")[0] for module in modules}
        strange = tops - _needs() - sys.stdlib_module_names - {"auditor"}
        assert not {top for top in strange if not top.startswith(("_", "cython_runtime"))}
        ours = {module for module in modules if module.startswith("auditor.")}
        allowed = ("signing", "ledger", "canonical", "errors", "findings", "findings_json", "suggestion")
        assert not [module for module in ours if module.split(".")[1] not in allowed]


class TestReportCommand:
    """``auditor report`` that signs what the PDF writer wrote."""

    def test_signed_with_a_stored_key(self, finished_run: Path, tmp_path: Path) -> None:
        """From key to verification, as a user does it."""
        own = {"AUDITOR_CONFIG": str(tmp_path / "config")}
        assert run_auditor("report", str(finished_run), "--sign", environment=own).returncode == ExitCode.CONFIGURATION
        run_auditor("keys", "new", "acme", "--subject", "Works Ltd", environment=own)
        out = str(tmp_path / "out")
        done = run_auditor("report", str(finished_run), "--key", "acme", "--out", out, environment=own)
        assert done.returncode == ExitCode.OK, done.stderr
        report = done.stdout.split()[-1]
        key = str(tmp_path / "config" / "keys" / "acme.pem")
        checked = run_auditor("verify", report, "--ledger", str(finished_run), "--signer", key)
        assert checked.returncode == ExitCode.OK, checked.stdout
        assert "Works Ltd" in checked.stdout

    def test_throwaway_key_is_said_everywhere(self, finished_run: Path, tmp_path: Path) -> None:
        """Certificate, reason and first page of a report that is signed with a key made in memory."""
        pypdf = pytest.importorskip("pypdf")
        out = tmp_path / "out"
        done = run_auditor("report", str(finished_run), "--throwaway-key", "--format", "html", "--out", str(out))
        assert done.returncode == ExitCode.OK, done.stderr
        checked = run_auditor("verify", str(out / "report.pdf"))
        assert checked.returncode == ExitCode.NOT_VOUCHED
        assert "identifies nobody" in checked.stdout
        pages = pypdf.PdfReader(out / "report.pdf").pages
        shown = " ".join(" ".join(page.extract_text() for page in pages).split())
        assert "key made in memory for this one report" in shown
        assert "key made in memory for this one report" in (out / "report.html").read_text(encoding="utf-8")

    def test_one_key_alone(self, finished_run: Path) -> None:
        """A key and a throwaway key exclude each other."""
        done = run_auditor("report", str(finished_run), "--throwaway-key", "--key", "a")
        assert done.returncode == ExitCode.USAGE


class TestCommand:
    """``auditor verify`` in a process of its own."""

    def test_lines_and_verdict(
        self, signed_reports: Mapping[str, Signed], finished_run: Path, file_of: Callable[[bytes], Path], tmp_path: Path
    ) -> None:
        """A line a check in their order, and the verdict at the end."""
        report = file_of(signed_reports["alone"].data)
        certificate = tmp_path / "signer.pem"
        certificate.write_bytes(signed_reports["alone"].signer.certificate.public_bytes(Encoding.PEM))
        done = run_auditor("verify", str(report), "--ledger", str(finished_run), "--signer", str(certificate))
        assert done.returncode == ExitCode.OK, done.stderr
        lines = done.stdout.splitlines()
        assert [re.split(r" {2,}", line)[1] for line in lines[:-1]] == LINES
        assert lines[-1] == "as it was signed, by the one asked for (exit code 0)"

    def test_without_a_ledger(self, signed_reports: Mapping[str, Signed], file_of: Callable[[bytes], Path]) -> None:
        """The verdict says that the numbers were not recomputed."""
        report = file_of(signed_reports["alone"].data)
        own = fingerprint(signed_reports["alone"].signer.certificate)
        done = run_auditor("verify", str(report), "--signer", own, "--json")
        assert done.returncode == ExitCode.OK
        assert [line["name"] for line in json.loads(done.stdout)["checks"]] == LINES
        said = run_auditor("verify", str(report), "--signer", own).stdout
        assert "its numbers were not recomputed" in said

    def test_broken_file(self, signed_reports: Mapping[str, Signed], file_of: Callable[[bytes], Path]) -> None:
        """Also one whose first byte is not a PDF's any more; on standard error there is nothing."""
        data = signed_reports["alone"].data
        for broken in (b"x" + data[1:], b""):
            done = run_auditor("verify", str(file_of(broken)))
            assert done.returncode == ExitCode.TAMPERED
            assert done.stdout.startswith("failed       signature")
            assert "NOT AS IT WAS SIGNED" in done.stdout
            assert not done.stderr

    def test_what_is_no_report(self, finished_run: Path, file_of: Callable[[bytes], Path]) -> None:
        """Options for reports do not pass in silence over a run; what is named and not there is not checked."""
        done = run_auditor("verify", str(finished_run), "--signer", "0" * 64)
        assert (done.returncode, "signed reports" in done.stderr) == (ExitCode.USAGE, True)
        path = str(file_of(small_pdf()))
        assert run_auditor("verify", path).returncode == ExitCode.TAMPERED
        assert run_auditor("verify", path, "--ledger", "nowhere").returncode == ExitCode.NOT_CHECKED
        assert run_auditor("verify", path, "--signer", "abc").returncode == ExitCode.CONFIGURATION

    def test_no_plugin_is_loaded(
        self,
        signed_reports: Mapping[str, Signed],
        finished_run: Path,
        file_of: Callable[[bytes], Path],
        tmp_path: Path,
    ) -> None:
        """A third party's plugin is not even imported, findings recomputed or not."""
        site = ScratchSite(tmp_path / "site")
        site.add("auditor-loud", {"auditor_loud.py": "import sys\nsys.stderr.write('LOADED')\n"})
        report = str(file_of(signed_reports["alone"].data))
        assert "LOADED" in run_auditor("plugins", path=site.folder).stderr
        done = run_auditor("verify", report, "--ledger", str(finished_run), path=site.folder)
        assert "passed       findings" in done.stdout
        assert not done.stderr
