"""How the ``auditor`` process ends: each outcome as one clear line and one exit code (docs/exit-codes.md).

Invariant: no exception gets past ``guarded_main``, and after Ctrl-C the process ends even if a thread never does.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from auditor.cli import interrupt
from auditor.cli.text import clipped, visible, visible_lines
from auditor.errors import AuditorError, ExitCode

__all__ = ["guarded_main", "show_tracebacks", "tell"]

_LAST_STANDARD_STREAM = 2
_tracebacks = False


def show_tracebacks() -> None:
    """Show tracebacks of unexpected errors from here on (``--debug``)."""
    global _tracebacks
    _tracebacks = True


def tell(text: str) -> None:
    """One line on standard error. A closed stream is nobody's error."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def guarded_main(main: Callable[[], Any]) -> NoReturn:
    """Run ``main`` and leave the process."""
    _make_streams_lenient()
    code: int = ExitCode.FAILED
    try:
        code = _exit_code(main())
        sys.stdout.flush()
    except click.exceptions.Abort as error:
        if isinstance(error.__cause__, EOFError):
            tell("auditor: error: standard input ended before an answer was given")
        else:
            _leave_interrupted()
    except KeyboardInterrupt:
        _leave_interrupted()
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        code = _usage(error)
    except AuditorError as error:
        code = _failed(error, error.exit_code)
    except OSError as error:
        code = _system_error(error)
    except Exception as error:  # noqa: BLE001 - the last frame: a traceback is no message for a user
        code = _unexpected(error)
    sys.exit(code)


def _exit_code(returned: Any) -> int:
    """What a command returns is its exit code; most return nothing."""
    return int(returned) if isinstance(returned, int) and not isinstance(returned, bool) else ExitCode.OK


def _make_streams_lenient() -> None:
    """A terminal that cannot show a character shows its escape; it never stops a command.

    A stream that the caller closed becomes the null device, under its own number: else the next file to be opened, a
    ledger perhaps, would be what a library writes its messages to.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _LAST_STANDARD_STREAM:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            with contextlib.suppress(OSError, ValueError):
                reconfigure(errors="backslashreplace")


def _usage(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    if context is not None:
        tell(context.get_usage())
    tell(f"auditor: error: {clipped(visible(error.format_message()))}")
    if context is not None:
        tell(f"Try '{context.command_path} --help'.")
    return error.exit_code


def _failed(error: AuditorError, code: int) -> int:
    _traceback()
    tell(f"auditor: error: {visible_lines(clipped(str(error)))}")
    return code


def _system_error(error: OSError) -> int:
    """The disk or a pipe; both can come from anywhere."""
    if isinstance(error, BrokenPipeError) or error.errno == errno.EPIPE:
        _swallow_broken_pipe()
        return ExitCode.FAILED
    _traceback()
    name = f"{visible(os.fsdecode(error.filename))}: " if isinstance(error.filename, (str, bytes)) else ""
    tell(f"auditor: error: {name}{visible(error.strerror or str(error))}")
    return ExitCode.STORAGE


def _unexpected(error: Exception) -> int:
    _traceback()
    hint = "" if _tracebacks else " (auditor --debug … shows the traceback)"
    tell(f"auditor: error: unexpected {type(error).__name__}: {clipped(visible(str(error)), 500)}{hint}")
    return ExitCode.FAILED


def _traceback() -> None:
    if _tracebacks:
        import traceback

        tell(visible_lines(traceback.format_exc()))


def _swallow_broken_pipe() -> None:
    """The reader of our output is gone (``auditor plugins | head -1``): nothing to say, and nobody to say it to."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _leave_interrupted() -> NoReturn:
    tell("auditor: interrupted")
    interrupt.leave()
