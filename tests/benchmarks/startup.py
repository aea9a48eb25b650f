"""Time of ``auditor --help``, best and median of several starts: at most 0.25 s (DESIGN §3, Plugins).

``python tests/benchmarks/startup.py`` prints the figures and exits with 1 when the best is slower.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

STARTS = 15
LIMIT_S = 0.25


def start_s() -> float:
    """Wall time of one start."""
    script = Path(sys.executable).parent / "auditor"
    began = time.perf_counter()
    subprocess.run([script, "--help"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> int:
    """Measure and print."""
    start_s()  # compiles what is not compiled yet
    times = sorted(start_s() for _ in range(STARTS))
    best, median = times[0], statistics.median(times)
    sys.stdout.write(
        f"auditor --help: best {best:.3f} s (at most {LIMIT_S}), median {median:.3f} s of {STARTS} starts\n"
    )
    return int(times[0] > LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
