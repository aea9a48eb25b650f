"""Entries a second through the ledger, from several producer threads, five entries a call as the engine writes them.

Run as a script: ``.venv/bin/python tests/benchmarks/ledger_throughput.py [calls] [threads]``. Counted from the first
append to the closed file; ``PRAGMA synchronous`` is read back as FULL by the ledger itself before the first commit.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

from auditor.ledger import Entry, Ledger, commitment, raw_entry, text_entry

_ANSWER = "The amendment was ratified on 4 December 2001 in Zürich, says the second paragraph. " * 12
_RAW = b'{"id":"resp_1","output":"' + b"x" * 2_000 + b'"}'
_TARGET = 25_000


def _call(ledger: Ledger, number: int) -> None:
    key = f"ask/3.0.{number}.plain.0#1"
    ledger.append([Entry("intent", key, {"endpoint": "stub", "input": "f" * 32})])
    answer = text_entry(f"{key}/answer", _ANSWER)
    sent = text_entry(f"{key}/sent", _ANSWER[:300])
    raw = raw_entry(f"{key}/raw", _RAW)
    outcome = Entry(
        "outcome",
        key,
        {
            "input": "f" * 32,
            "latency_ms": "103.4",
            "model": "stub-1",
            "outcome": "text",
            "started": "2026-01-01T00:00:00.000Z",
            "texts": {"answer": commitment(answer), "raw": commitment(raw), "sent": commitment(sent)},
            "usage": {"input_tokens": 400, "output_tokens": 90},
        },
    )
    ledger.append([answer, sent, raw, outcome])


def measure(calls: int = 20_000, threads: int = 4) -> float:
    """Entries a second on a ledger below the current folder."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        ledger = Ledger.create(Path(folder) / "ledger.sqlite")
        share = [range(start, calls, threads) for start in range(threads)]

        def produce(numbers: range) -> None:
            for number in numbers:
                _call(ledger, number)

        workers = [threading.Thread(target=produce, args=(numbers,)) for numbers in share]
        started = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        ledger.close()
        return calls * 5 / (time.perf_counter() - started)


if __name__ == "__main__":
    arguments = [int(text) for text in sys.argv[1:]]
    rate = measure(*arguments)
    sys.stdout.write(f"{rate:,.0f} entries/s (at least {_TARGET:,})\n")
    sys.exit(0 if rate >= _TARGET else 1)
