"""A process that asks the loopback vendor: ``child.py LEDGER PORT COUNT [POINT NTH]`` kills itself at the NTH POINT."""

from __future__ import annotations

import os
import signal
import sys
import threading
import urllib.request
from decimal import Decimal
from pathlib import Path

from auditor.engine import Call, Encoded, Endpoint, EndpointLimits, Engine, History, Task, read_histories
from auditor.errors import Fault, FaultReport
from auditor.ledger import Ledger, commitment, text_entry

_SLOTS = 3


def _encode(value: str, key: str) -> Encoded:
    text = text_entry(f"{key}/answer", value)
    return Encoded((text,), {"outcome": "text", "texts": {"answer": commitment(text)}})


def _classify(error: BaseException) -> FaultReport:
    return FaultReport(Fault.INTERNAL, repr(error))


def main(path: Path, port: int, count: int, point: str = "", nth: int = 0) -> None:
    """Go on with what the ledger lacks."""
    ledger = Ledger.open(path) if path.exists() else Ledger.create(path)
    seen, lock = [0], threading.Lock()

    def probe(at: str, key: str) -> None:
        with lock:
            seen[0] += at == point
            if at == point and seen[0] == nth:
                os.kill(os.getpid(), signal.SIGKILL)

    def run(call: Call) -> str:
        if call.abandoned:
            raise AssertionError("nothing is abandoned here")
        with call.wire(), urllib.request.urlopen(f"http://127.0.0.1:{port}/{call.key}") as reply:
            return str(reply.read().decode())

    histories = read_histories(ledger)
    keys = [f"ask/0.0.{n}.0.0" for n in range(count)]
    tasks = [
        Task(key, "stub", f"{n:032x}", run, _encode, _classify, history=histories.get(key, History()),
             cost_usd=lambda value: Decimal(0))
        for n, key in enumerate(keys) if not histories.get(key, History()).ended
    ]  # fmt: skip
    with Engine(ledger, {"stub": Endpoint("stub", EndpointLimits(slots=_SLOTS))}, seed=1, probe=probe) as engine:
        engine.run("ask", tasks)
    ledger.seal()
    ledger.close()


if __name__ == "__main__":
    main(
        Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), "".join(sys.argv[4:5]), int("".join(sys.argv[5:6]) or 0)
    )
