"""However a command ends, the user gets one clear line and the exit code of docs/exit-codes.md."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from auditor.errors import ExitCode
from scratch_site import ScratchSite, run_auditor

COMMANDS = """
import click
from auditor import errors

@click.command()
@click.argument("name")
def fail(name):
    raise getattr(errors, name)("what is wrong")

@click.command()
def crash():
    raise KeyError("\\x1b[31mred\\u202e")

@click.command()
def disk():
    raise OSError(28, "No space left on device", "runs/ledger.sqlite")

@click.command()
def flood():
    for number in range(100_000):
        click.echo(f"line {number}")

@click.command()
def glyphs():
    click.echo("\\u6771\\u4eac")

@click.command()
def pressed():
    raise KeyboardInterrupt

class NoCommand: ...
"""
INIT = """
from auditor.plugin import Offer, hookimpl

@hookimpl
def auditor_commands():
    names = ["fail", "crash", "disk", "flood", "glyphs", "pressed"]
    offers = [Offer(name, f"Does {name}.", f"auditor_acme.commands:{name}") for name in names]
    return [
        *offers,
        Offer("broken", "Cannot be imported.", "auditor_acme.nowhere:command"),
        Offer("odd", "Is no command.", "auditor_acme.commands:NoCommand"),
        Offer("init", "Takes a name.", "auditor_acme.commands:fail"),
    ]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plugin whose commands end in every way."""
    folder = tmp_path_factory.mktemp("site")
    ScratchSite(folder).add("acme-commands", {"auditor_acme/__init__.py": INIT, "auditor_acme/commands.py": COMMANDS})
    return folder


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("ConfigurationError", ExitCode.CONFIGURATION),
        ("SpecError", ExitCode.CONFIGURATION),
        ("PluginError", ExitCode.PLUGIN),
        ("IncompleteRun", ExitCode.INCOMPLETE),
        ("ChangedRun", ExitCode.CHANGED),
        ("LockedRun", ExitCode.LOCKED),
        ("StorageError", ExitCode.STORAGE),
        ("LedgerError", ExitCode.TAMPERED),
        ("UnsealedLedger", ExitCode.NOT_SEALED),
        ("NotVouched", ExitCode.NOT_VOUCHED),
        ("NotChecked", ExitCode.NOT_CHECKED),
        ("AuditorError", ExitCode.FAILED),
    ],
)
def test_each_error_of_ours_has_its_code(site: Path, name: str, code: ExitCode) -> None:
    """One line on standard error, nothing on standard output, the error's own code."""
    done = run_auditor("fail", name, path=site)
    assert done.returncode == code
    assert done.stderr == "auditor: error: what is wrong\n"
    assert done.stdout == ""


def test_unexpected_error_is_one_harmless_line(site: Path) -> None:
    """No traceback unless asked for, and nothing in the message moves the terminal's cursor."""
    done = run_auditor("crash", path=site)
    assert done.returncode == ExitCode.FAILED
    assert len(done.stderr.splitlines()) == 1
    assert "unexpected KeyError" in done.stderr and "--debug" in done.stderr
    assert "\x1b" not in done.stderr and "\u202e" not in done.stderr
    debug = run_auditor("--debug", "crash", path=site)
    assert "Traceback" in debug.stderr
    assert "\x1b" not in debug.stderr


def test_full_disk_is_named_with_its_file(site: Path) -> None:
    """An error of the system that nobody caught is still a clear line."""
    done = run_auditor("disk", path=site)
    assert done.returncode == ExitCode.STORAGE
    assert done.stderr == "auditor: error: runs/ledger.sqlite: No space left on device\n"


def test_reader_that_leaves_is_no_error(site: Path) -> None:
    """``auditor … | head -1`` prints no traceback and no complaint."""
    code = "import sys; from auditor.cli import cli; sys.argv[0] = 'auditor'; sys.exit(cli())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "flood"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(site)},
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == b"line 0\n"
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=30) == ExitCode.FAILED
    assert complaint == b""


def test_terminal_without_the_characters_shows_escapes(site: Path) -> None:
    """A Western European terminal gets escapes for what it lacks, not a UnicodeEncodeError."""
    done = run_auditor("glyphs", path=site, environment={"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"})
    assert done.returncode == ExitCode.OK
    assert done.stdout.endswith("\\u6771\\u4eac\n")


def test_interrupted_command_says_so(site: Path) -> None:
    """Ctrl-C has a code of its own."""
    done = run_auditor("pressed", path=site)
    assert done.returncode == ExitCode.INTERRUPTED
    assert "auditor: interrupted" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu"], "there is no command 'rnu'; did you mean 'run'?"),
        (["plugins", "--jsn"], "--jsn"),
        (["run"], "Missing argument 'SPEC'"),
        (["run", "demo", "--new", "--retry"], "choose one"),
        (["x\x1b[2J"], "there is no command"),
    ],
)
def test_wrong_usage_is_two(arguments: list[str], message: str) -> None:
    """A mistake on the command line names what was probably meant."""
    done = run_auditor(*arguments)
    assert done.returncode == ExitCode.USAGE
    assert message in done.stderr
    assert "\x1b" not in done.stderr


def test_plugin_commands_stand_in_help_and_run(site: Path) -> None:
    """A plugin's command is listed with its line; one that cannot be loaded is an error of that command alone."""
    listing = run_auditor("--help", path=site)
    assert "Does crash." in listing.stdout
    assert "Write a commented audit.yaml" in listing.stdout and "Takes a name." not in listing.stdout
    for name in ("broken", "odd"):
        done = run_auditor(name, path=site)
        assert done.returncode == ExitCode.PLUGIN
        assert "acme" in done.stderr
    assert run_auditor("init", "--help", path=site).stdout.startswith("Usage: auditor init")


def test_console_script_is_installed() -> None:
    """The script beside the interpreter is this command line."""
    script = Path(sys.executable).parent / "auditor"
    if not script.exists():
        pytest.skip("not installed as a distribution")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("auditor ")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_standard_streams_are_nobodys_error(tmp_path: Path, closed: str) -> None:
    """The command does its work, and no file that it opens stands where a stream was."""
    script = "import sys; from auditor.cli import cli; sys.argv[0] = 'auditor'; cli()"
    arguments = [sys.executable, "-c", script, "init", str(tmp_path / "new")]
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {closed}', "sh", *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (ExitCode.OK, "")
    assert (tmp_path / "new" / "audit.yaml").is_file()
