"""`python -m tests.chaos --rounds N`: kill refreshes until N have died, then say what was seen."""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from headwater.config import load_config
from headwater.execute.session import build_session, stop_session
from tests.chaos.harness import STEPS, VIEWS, Arena
from tests.chaos.victim import SPARK


def main() -> int:
    asked = _arguments()
    os.environ.setdefault("HEADWATER_ARCHIVE", "off")
    with tempfile.TemporaryDirectory(prefix="hw-chaos-") as folder:
        spark = build_session(load_config(Path(folder), {}, {"spark": SPARK}))
        arena = Arena.make(Path(folder), spark, asked.seed)
        try:
            _run(arena, asked.rounds)
        finally:
            arena.close()
            stop_session(spark)
    return 0


def _run(arena: Arena, rounds: int) -> None:
    """Named steps first and then every third round; the others are killed at a random moment."""
    steps, views = itertools.cycle(STEPS), itertools.cycle(VIEWS)
    started = time.monotonic()
    for number in range(1, rounds + 1):
        if number <= len(STEPS) or number % 3 == 0:
            step = next(steps)
            arena.kill_at(step, next(views))
        else:
            step = "a random moment"
            arena.kill_some_time()
        seconds = time.monotonic() - started
        print(f"{number:5} killed at {step:16} {seconds / number:5.1f} s per round", flush=True)
    print(
        f"{rounds} kills: every view equal to Spark's result after each, no sequence twice, "
        f"{arena.orphaned} attempts orphaned, {arena.survived} deaths outside an attempt, "
        f"{arena.fenced} refreshes fenced off, "
        f"next refresh after {statistics.median(arena.times):.1f} s (median)"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    found = parser.parse_args()
    print(f"seed {found.seed}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
