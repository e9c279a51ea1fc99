"""What the tests do for a short time, for a long one, and what was seen.

`python -m tests.chaos --rounds N` kills refreshes until N have died; `--fleet MINUTES` lets three
runners on one PostgreSQL live through everything for so long.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.config import load_config
from headwater.execute.session import build_session, stop_session
from tests.chaos.arena import STEPS, VIEWS, Arena
from tests.chaos.fleet import Fleet, own_database
from tests.chaos.victim import SPARK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WHOLE_EVERY = 10
"""Every so many rounds the process dies together with a Spark of its own, which takes longer."""

_REFRESH_EVERY = 4
"""After the others the next victim is the one that must be able to go on."""


def main() -> int:
    asked = _arguments()
    os.environ.setdefault("HEADWATER_ARCHIVE", "off")
    with tempfile.TemporaryDirectory(prefix="hw-chaos-") as folder:
        spark = build_session(load_config(Path(folder), {}, {"spark": SPARK}))
        try:
            if asked.fleet:
                _live_through(Path(folder), spark, asked)
            else:
                _kill(Path(folder), spark, asked)
        finally:
            stop_session(spark)
    return 0


def _live_through(folder: Path, spark: SparkSession, asked: argparse.Namespace) -> None:
    with own_database() as database:
        url = database.get_uri(driver="psycopg")
        fleet = Fleet.make(folder / "fleet", spark, url, database, asked.seed, size=4)
        print(*fleet.live_through(asked.fleet * 60), sep="\n", flush=True)


def _kill(folder: Path, spark: SparkSession, asked: argparse.Namespace) -> None:
    arena = Arena.make(folder, spark, asked.seed)
    try:
        _run(arena, asked.rounds, time.monotonic() + asked.minutes * 60)
    finally:
        lines = arena.tally.lines() if arena.tally.recovery else []
        print("\n".join([*lines, arena.witness.told()]), flush=True)
        arena.close()


def _run(arena: Arena, rounds: int, until: float) -> None:
    """Named steps and random moments in turn; most with a Spark that lives on."""
    steps, views = itertools.cycle(STEPS), itertools.cycle(VIEWS)
    arena.prepare(with_spark=True)
    arena.prepare(with_spark=False)
    for number in range(1, rounds + 1):
        with_spark, refresh = number % _WHOLE_EVERY == 0, number % _REFRESH_EVERY == 0
        arena.prepare(with_spark=with_spark)
        started, step, view = time.monotonic(), "a random moment", next(views)
        if number % 3:
            step = next(steps)
            arena.kill_at(step, view, with_spark=with_spark, refresh=refresh)
        else:
            arena.kill_some_time(view, with_spark=with_spark, refresh=refresh)
        spark = "with its Spark" if with_spark else ""
        print(f"{number:5} {step:16} {time.monotonic() - started:5.1f} s {spark}", flush=True)
        if time.monotonic() > until:
            break
    for view in VIEWS:
        arena.refresh(view)
    arena.witness.check(list(VIEWS))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument(
        "--minutes", type=float, default=600.0, help="stop after these, at the latest"
    )
    parser.add_argument("--fleet", type=float, metavar="MINUTES", help="runners, not refreshes")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    found = parser.parse_args()
    print(f"seed {found.seed}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
