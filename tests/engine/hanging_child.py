"""A process whose calls never return: ``hanging_child.py LEDGER socket|product|executor``. It prints ``calling`` when
they are on the wire, and ends as the console entry point does on Ctrl-C.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from auditor.engine import Call, Encoded, Endpoint, EndpointLimits, Engine, Task
from auditor.errors import Fault, FaultReport
from auditor.ledger import Ledger

SLOTS = 2


def _socket(call: Call) -> None:
    """Read from a peer that never writes."""
    ours, theirs = socket.socketpair()
    ours.recv(1)
    theirs.close()


def _product(call: Call) -> None:
    """Multiply matrices for minutes, outside of the interpreter lock."""
    import numpy

    matrix = numpy.ones((4000, 4000))
    for _ in range(500):
        matrix = matrix @ matrix * 1e-9


def _executor(call: Call) -> None:
    """Wait for a library's own pool, which Python would join at exit."""
    pool = ThreadPoolExecutor(2)
    pool.submit(time.sleep, 600).result()


def main(path: Path, kind: str) -> None:
    """Run until interrupted."""
    ledger = Ledger.create(path)
    on_wire = threading.Semaphore(0)

    def run(call: Call) -> None:
        on_wire.release()
        {"socket": _socket, "product": _product, "executor": _executor}[kind](call)

    def announce() -> None:
        for _ in range(SLOTS):
            on_wire.acquire()
        time.sleep(0.3)
        sys.stdout.write("calling\n")
        sys.stdout.flush()

    threading.Thread(target=announce, daemon=True).start()
    engine = Engine(ledger, {"x": Endpoint("x", EndpointLimits(slots=SLOTS, deadline_s=600))}, seed=1)
    tasks = [
        Task(f"ask/{n}", "x", "0", run, lambda value, key: Encoded(), lambda error: FaultReport(Fault.INTERNAL, ""))
        for n in range(10)
    ]
    try:
        engine.run("ask", tasks)
    except KeyboardInterrupt:
        engine.shutdown(0.2)
        ledger.close(1.0)
        os._exit(130)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
