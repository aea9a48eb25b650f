"""Child processes that Ctrl-C reaches, and that do not outlive their test.

A shell starts background jobs with SIGINT ignored, children inherit it, and a Python that finds it ignored installs no
handler: a test of Ctrl-C would then wait for ever, for a reason of the shell's.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

__all__ = ["interruptible"]


@contextmanager
def interruptible(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    prepare: Callable[[], None] | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """Start ``command`` with SIGINT as a terminal would leave it; whatever happens, it is gone at the end.

    :param prepare: run in the child before the command, for limits.
    """

    def before() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if prepare is not None:
            prepare()

    child = subprocess.Popen(
        command,
        env=None if environment is None else dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()
