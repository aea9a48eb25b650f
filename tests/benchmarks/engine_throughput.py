"""How fast the engine records calls, with the ledger on the disk, closing included.

Prints the figures, and fails where one is beyond its limit: at least 4,000 recorded calls a second without latency, and
at most 1.05 times the ideal wall time at 100 ms. The ideal is calls × latency ÷ slots.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auditor.canonical import Json
from auditor.engine import Call, Encoded, Endpoint, EndpointLimits, Engine, Task
from auditor.errors import Fault, FaultReport
from auditor.ledger import Ledger, commitment, raw_entry, text_entry

FULL = 2
SLOTS = 64
REPLY = "A reply of the stub, word by word. " * 59  # 2 kB
MIN_CALLS_PER_S = 4_000.0
MAX_RATIO = 1.05


def _encode(reply: str, key: str) -> Encoded:
    """Three texts: the answer, the raw reply, the evidence."""
    texts = (
        text_entry(f"{key}/answer", reply[:600]),
        raw_entry(f"{key}/raw", reply.encode()),
        text_entry(f"{key}/evidence", reply[:1200]),
    )
    roles = ("answer", "raw", "evidence")
    body: dict[str, Json] = {
        "outcome": "text",
        "texts": {role: commitment(text) for role, text in zip(roles, texts, strict=True)},
        "usage": {"input_tokens": 812, "output_tokens": 96},
        "model": "stub-1",
        "request_id": "r" + key[-8:],
    }
    return Encoded(texts, body)


def _classify(error: BaseException) -> FaultReport:
    return FaultReport(Fault.INTERNAL, repr(error))


def _tasks(count: int, run: Callable[[Call], str]) -> list[Task[Any]]:
    return [Task(f"ask/0.0.{i}.0.0", "stub", f"{i:032x}", run, _encode, _classify) for i in range(count)]


def _synchronous(ledger: Ledger) -> int:
    """``PRAGMA synchronous`` as the writing connection reads it back; 2 is FULL. The ledger offers no other view."""
    return int(ledger._writer._connection.execute("PRAGMA synchronous").fetchone()[0])


def measure(count: int, latency_s: float) -> tuple[float, int]:
    """Seconds from the first intent to the closed file, and the number of entries in it."""

    def stub(call: Call) -> str:
        with call.wire():
            if latency_s:
                time.sleep(latency_s)
        return REPLY

    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "ledger.sqlite"
        ledger = Ledger.create(path, clock=lambda: datetime.now(UTC))
        engine = Engine(ledger, {"stub": Endpoint("stub", EndpointLimits(slots=SLOTS))}, seed=1)
        tasks = _tasks(count, stub)
        ledger.append_wait([text_entry("begun", "")])
        assert _synchronous(ledger) == FULL, "the ledger is not written with synchronous = FULL"
        started_s = time.perf_counter()
        result = engine.run("ask", tasks)
        engine.shutdown(5.0)
        ledger.close()
        wall_s = time.perf_counter() - started_s
        assert len(result.ended) == count and not any(ended.report for ended in result.ended.values())
        connection = sqlite3.connect(path)
        entries = int(connection.execute("SELECT count(*) FROM entries").fetchone()[0])
        connection.close()
    assert entries > 5 * count
    return wall_s, entries


def main() -> int:
    """Measure both settings; 1 when a limit is missed."""
    say = sys.stdout.write
    counts = [int(text) for text in sys.argv[1:]] or [20_000, 2_560]
    wall_s, entries = measure(counts[0], 0.0)
    rate = counts[0] / wall_s
    did = f"no latency: {counts[0]} calls, {entries} entries, {wall_s:.2f} s"
    say(f"{did}, {rate:,.0f} calls/s (at least {MIN_CALLS_PER_S:,.0f})\n")
    wall_s, entries = measure(counts[1], 0.1)
    ratio = wall_s / (counts[1] * 0.1 / SLOTS)
    did = f"100 ms: {counts[1]} calls, {entries} entries, {wall_s:.2f} s"
    say(f"{did}, {ratio:.3f} x ideal (at most {MAX_RATIO})\n")
    return 0 if rate >= MIN_CALLS_PER_S and ratio <= MAX_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
