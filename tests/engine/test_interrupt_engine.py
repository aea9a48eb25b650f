"""Ctrl-C with calls that never return: the process is gone within two seconds, and the ledger is whole."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.ledger import Ledger
from interruptible import interruptible

CHILD = Path(__file__).with_name("hanging_child.py")


@pytest.mark.parametrize("kind", ["socket", "product", "executor"])
def test_ctrl_c_ends_a_process_whose_calls_never_return(tmp_path: Path, kind: str) -> None:
    """FAULTS 31: a socket that is silent, a product that takes minutes, a library's own thread pool."""
    path = tmp_path / "ledger.sqlite"
    with interruptible([sys.executable, str(CHILD), str(path), kind]) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "calling\n"
        began_s = time.perf_counter()
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == 130
        assert time.perf_counter() - began_s < 2
    ledger = Ledger.open(path)
    assert len(list(ledger.rows("intent"))) >= 2 and not list(ledger.rows("outcome"))
    ledger.close()


@pytest.fixture
def heard() -> Iterator[None]:
    """SIGINT raises here, also where the shell that started the tests had it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupt_comes_through_at_once(bench: Any, heard: None) -> None:
    """``run`` raises ``KeyboardInterrupt`` while its only call still hangs; no further call starts."""
    release = threading.Event()
    engine = bench.engine(slots=1)
    threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT)).start()
    began_s = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        engine.run("ask", [bench.task(n, lambda call: release.wait(10)) for n in range(5)])
    assert time.perf_counter() - began_s < 1
    release.set()
    assert engine.shutdown(2.0)
    bench.ledger.flush()
    assert bench.keys("outcome") == ["ask/0.0.0.0.0#1"], "what was on the wire is recorded, nothing else is asked"
    assert engine.stop_reason == "interrupted"
