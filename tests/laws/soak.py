"""Random views and changes against Spark, for as long as you like: `python -m tests.laws.soak`."""

from __future__ import annotations

import argparse
import time
import traceback
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

from headwater.testing.oracle import Oracle, TableStates
from tests.laws.schema import added_rows, changed_rows, random_rows, random_tables
from tests.laws.views import ViewWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def random_case(random: Random, depth: int = 3) -> tuple[str, dict[str, TableStates]]:
    """One query over random tables, and one change of some of them."""
    tables = random_tables(random)
    inserts_only = random.random() < 0.3
    states = {}
    for table in tables:
        before = random_rows(random, table)
        moved = random.random() < 0.7
        grow = added_rows if inserts_only else changed_rows
        after = grow(random, table, before) if moved else list(before)
        states[table.name] = TableStates(table.ddl, before, after, inserts_only)
    return ViewWriter(random, tables, depth).query(), states


def soak(spark: SparkSession, seeds: range, minutes: float | None = None) -> Counter[str]:
    """Check seeds until they or the minutes run out; prints and counts what fails."""
    oracle, counted = Oracle(spark), Counter[str]()
    ends = time.monotonic() + minutes * 60 if minutes else None
    for seed in seeds:
        if ends is not None and time.monotonic() > ends:
            break
        sql, states = random_case(Random(seed))
        counted["views"] += 1
        try:
            tried, failed = oracle.check(sql, states)
        except Exception as error:  # noqa: BLE001  (a crash is a finding like any other)
            counted["errors"] += 1
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:600]}\n  {sql}")
            if "Analysis" not in type(error).__name__:
                traceback.print_exc(limit=-3)
            continue
        counted.update(f"{t.value}: {word}" for t, word in tried.items())
        for mismatch in failed:
            counted["wrong"] += 1
            print(f"seed {seed}: {mismatch.technique} is wrong: {mismatch.rows[:3]}\n  {sql}")
            for name, s in states.items():
                print(f"    {name}({s.ddl}): {s.before} -> {s.after}")
    return counted


def main() -> int:
    from headwater.config import load_config
    from headwater.execute.session import build_session

    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=None)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--views", type=int, default=10**9)
    chosen = options.parse_args()
    spark = build_session(load_config(None, {}, {}))
    seeds = range(chosen.first, chosen.first + chosen.views)
    counted = soak(spark, seeds, chosen.minutes)
    for what, number in sorted(counted.items()):
        print(f"{number:8} {what}")
    return 1 if counted["wrong"] or counted["errors"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
