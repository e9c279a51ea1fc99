"""Many seeds on all cores: `python -m tests.simulation --seeds 5000`."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import structlog

from headwater.testing.invariants import InvariantBroken
from headwater.testing.simulation import Report, simulate


def one(seed: int) -> Report | str:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        return simulate(seed)
    except InvariantBroken as broken:
        return str(broken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    given = parser.parse_args()
    began, faults, broken, runs, commits = time.monotonic(), Counter(), [], 0, 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        seeds = range(given.first, given.first + given.seeds)
        for report in pool.map(one, seeds, chunksize=5):
            if isinstance(report, str):
                broken.append(report)
                print(report)
                continue
            faults.update(dict(report.faults))
            runs, commits = runs + report.runs, commits + report.commits
    figures = {
        "seeds": given.seeds,
        "broken": len(broken),
        "runs": runs,
        "commits": commits,
        "faults": dict(sorted(faults.items())),
        "seconds": round(time.monotonic() - began, 1),
    }
    print(json.dumps(figures, indent=2))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
