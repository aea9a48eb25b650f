"""Ctrl-C: what must still be closed, and an end within two seconds whatever other threads do.

A thread inside a BLAS product, a socket or a library's own executor never ends by itself, and the interpreter waits for
it on ``sys.exit``; so the process leaves by ``os._exit`` after the callbacks (DESIGN §3, Engine).
Invariant: from the signal to the end pass at most ``_SIGNAL_GRACE_S`` + ``_TOTAL_S`` seconds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import NoReturn

from auditor.errors import ExitCode

__all__ = ["leave", "on_interrupt"]

_SIGNAL_GRACE_S = 0.7  # for the main thread to come back from where it is
_CALLBACK_S = 0.9
_TOTAL_S = 1.1

_callbacks: list[Callable[[], object]] = []
_leaving = threading.Lock()
_watching = False


def on_interrupt(callback: Callable[[], object]) -> Callable[[], None]:
    """Call ``callback`` when the process is interrupted; returns what takes it back.

    Callbacks run last in, first out, each in a daemon thread and for about a second at most, perhaps at the same time
    as the code that they interrupt: they are to flush and close, and to be idempotent.
    """
    _callbacks.append(callback)
    _watch()

    def forget() -> None:
        with contextlib.suppress(ValueError):
            _callbacks.remove(callback)

    return forget


def leave(code: int = ExitCode.INTERRUPTED) -> NoReturn:
    """Run the callbacks, then end the process. A second Ctrl-C meanwhile ends it at once."""
    with contextlib.suppress(ValueError):  # only the main thread may set a handler
        signal.signal(signal.SIGINT, lambda *_: os._exit(code))
    if not _leaving.acquire(blocking=False):
        time.sleep(_TOTAL_S)  # another thread is at it; it ends the process under us
        os._exit(code)
    end = time.monotonic() + _TOTAL_S
    for callback in reversed(_callbacks):
        _bounded(callback, min(_CALLBACK_S, end - time.monotonic()))
    _bounded(_flush, max(0.1, end - time.monotonic()))
    os._exit(code)


def _bounded(call: Callable[[], object], timeout_s: float) -> None:
    if timeout_s <= 0:
        return
    thread = threading.Thread(target=_quietly, args=(call,), daemon=True)
    thread.start()
    thread.join(timeout_s)


def _quietly(call: Callable[[], object]) -> None:
    with contextlib.suppress(Exception):
        call()


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def _watch() -> None:
    """Notice SIGINT also while the main thread is inside C code, where no handler runs.

    The C-level handler writes the signal's number into a socket at once; a daemon thread reads it and ends the process
    when the main thread has not come to ``leave`` by itself.
    """
    global _watching
    if _watching or threading.current_thread() is not threading.main_thread():
        return
    _watching = True
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_await_signal, args=(reader, writer), name="interrupt", daemon=True).start()


def _await_signal(reader: socket.socket, writer: socket.socket) -> None:
    while True:
        if signal.SIGINT in reader.recv(1):
            time.sleep(_SIGNAL_GRACE_S)
            leave()
