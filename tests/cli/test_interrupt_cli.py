"""Ctrl-C ends the process within two seconds, whatever other threads and the main thread are inside of."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest

from auditor.errors import ExitCode
from interruptible import interruptible

PRELUDE = """
import sys, threading, time
from auditor.cli.guard import guarded_main
from auditor.cli.interrupt import on_interrupt
marks = sys.argv[1]
def mark(name):
    with open(marks, "a") as handle:
        handle.write(name + "\\n")
def ready():
    print("ready", flush=True)
def wait():
    ready()
    threading.Event().wait()
on_interrupt(lambda: mark("ledger"))
on_interrupt(lambda: mark("engine"))
"""
SOCKET = """
import socket
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=socket.create_connection(server.getsockname()).recv, args=(1,)).start()
guarded_main(wait)
"""
PRODUCT = """
import numpy
def product():
    a = numpy.ones((6000, 6000))
    while True:
        a @ a
threading.Thread(target=product).start()
guarded_main(wait)
"""
EXECUTOR = """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
pool.submit(time.sleep, 600)
guarded_main(wait)
"""
MAIN_IN_C = """
import numpy
def inside():
    a = numpy.ones((9000, 9000))
    ready()
    a @ a @ a @ a
guarded_main(inside)
"""
SWALLOWED = """
def stubborn():
    ready()
    while True:
        try:
            time.sleep(600)
        except KeyboardInterrupt:
            pass
guarded_main(stubborn)
"""
HANGING_CALLBACK = """
on_interrupt(lambda: threading.Event().wait())
def raising():
    raise RuntimeError
on_interrupt(raising)
guarded_main(wait)
"""


def interrupted(folder: Path, body: str) -> tuple[int, float, list[str]]:
    """Exit code, seconds from the signal to the end, and the marks that callbacks left."""
    marks = folder / "marks"
    with interruptible([sys.executable, "-c", PRELUDE + body, str(marks)]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        code = process.wait(timeout=4)
        took_s = time.monotonic() - began
    return code, took_s, marks.read_text().splitlines() if marks.exists() else []


@pytest.mark.parametrize(
    "body",
    [SOCKET, PRODUCT, EXECUTOR, MAIN_IN_C, SWALLOWED],
    ids=["socket", "numpy-product", "executor", "main-thread-in-c", "swallowed"],
)
def test_process_ends_within_two_seconds(tmp_path: Path, body: str) -> None:
    """A call that never returns keeps neither the process nor what has to be closed: last registered, first called."""
    code, took_s, marks = interrupted(tmp_path, body)
    assert code == ExitCode.INTERRUPTED
    assert took_s < 2.0
    assert marks == ["engine", "ledger"]


def test_callback_that_hangs_or_raises_keeps_nobody(tmp_path: Path) -> None:
    """The other callbacks are called, and the end still comes in time."""
    code, took_s, marks = interrupted(tmp_path, HANGING_CALLBACK)
    assert code == ExitCode.INTERRUPTED
    assert took_s < 2.0
    assert marks[:1] == ["engine"]


def test_callback_can_be_taken_back(tmp_path: Path) -> None:
    """What has been closed is not closed again."""
    body = "on_interrupt(lambda: mark('gone'))()\nguarded_main(wait)\n"
    assert interrupted(tmp_path, body)[2] == ["engine", "ledger"]
