"""A run in a process of its own, killed by SIGKILL at the nth time that it comes to a named point.

``python campaign_child.py SPEC RUNS [POINT NTH [retry]]``; prints the run folder when it comes to its end.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from pathlib import Path

from auditor.campaign import RunOptions, run_campaign
from campaign_kit import stub_plugins


def main(spec: str, runs: str, point: str = "", nth: str = "0", retry: str = "") -> None:
    """Run, or die."""
    counter = itertools.count(1)

    def probe(reached: str, key: str) -> None:
        # Points of a call are counted at the served system alone: it is the one whose requests are logged.
        counts = reached == point and (not key or key.startswith("ask/0."))
        if counts and next(counter) == int(nth):
            os.kill(os.getpid(), signal.SIGKILL)

    options = RunOptions(Path(spec), runs=Path(runs), retry=bool(retry))
    result = run_campaign(options, lambda event: None, plugins=stub_plugins(), probe=probe)
    sys.stdout.write(f"{result.folder}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
