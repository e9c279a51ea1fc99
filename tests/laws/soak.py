"""Random views and changes against Spark, for as long as you like: `python -m tests.laws.soak`."""

from __future__ import annotations

import argparse
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique
from tests.laws.clock_words import times_of
from tests.laws.schema import added_rows, changed_rows, random_rows, random_tables
from tests.laws.shrink import Case, shrunk
from tests.laws.views import FAMILIES, ViewWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEPTH = 4
_TOLD = 100
"""So many views from one line of progress to the next."""
_REFUSED = ("AnalysisException", "ParseException")
"""Spark does not take every query that the generator writes; such a one proves nothing."""
_BROKEN = "PLAN_VALIDATION_FAILED"
"""Spark's own optimizer made a plan that it does not take; a refresh recomputes."""


def random_case(
    random: Random, depth: int = DEPTH, families: tuple[str, ...] = ()
) -> tuple[str, dict[str, TableStates]]:
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
    return ViewWriter(random, tables, depth, families).query(), states


def assert_all_right(spark: SparkSession, seeds: range) -> None:
    """Every technique that was open for every view gave what a recompute gives."""
    counted = Soak(spark).run(seeds)
    assert not counted["wrong"], counted
    assert not counted["errors"], counted
    assert counted["incremental"] > len(seeds) // 5, counted


class Soak:
    """Checks case after case, counts, and makes what fails small."""

    def __init__(self, spark: SparkSession, reports: Path | None = None) -> None:
        self.oracle = Oracle(spark)
        self.counted = Counter[str]()
        self._reports = reports

    def run(
        self,
        seeds: range,
        minutes: float | None = None,
        depth: int = DEPTH,
        families: tuple[str, ...] = (),
    ) -> Counter[str]:
        """Check seeds until they or the minutes run out."""
        ends = time.monotonic() + minutes * 60 if minutes else None
        for seed in seeds:
            if ends is not None and time.monotonic() > ends:
                break
            self.check(seed, *random_case(Random(seed), depth, families))
            if self.counted["views"] % _TOLD == 0:
                print(f"{self.counted['views']} views, last seed {seed}", flush=True)
        return self.counted

    def check(self, seed: int, sql: str, states: dict[str, TableStates]) -> None:
        """One case; a crash is a finding like any other."""
        self.counted["views"] += 1
        try:
            tried, failed = self.oracle.check(sql, states, times_of(sql), small=seed % 8 != 0)
        except Exception as error:  # noqa: BLE001
            self._crashed(seed, sql, states, error)
            return
        self.counted.update(f"{t.value}: {word}" for t, word in tried.items())
        if any(word == "sound" for t, word in tried.items() if t is not Technique.REBUILD):
            self.counted["incremental"] += 1
        if failed and self.oracle.is_disputed(sql, states):
            self.counted["disputed by Spark itself"] += 1
            print(f"seed {seed}: Spark contradicts itself\n  {sql}", flush=True)
            return
        for mismatch in failed:
            self.counted["wrong"] += 1
            print(f"seed {seed}: {mismatch.technique} is wrong: {mismatch.rows[:3]}", flush=True)
            self._report(seed, Case(sql, states), self._is_wrong)

    def _crashed(
        self, seed: int, sql: str, states: dict[str, TableStates], error: Exception
    ) -> None:
        kind = type(error).__name__
        if "HEADWATER_DRIFT" in str(error) and self.oracle.rounds(sql, states):
            self.counted["drift"] += 1  # noticed: a refresh would rebuild the view
            print(f"seed {seed}: drift\n  {sql}", flush=True)
            return
        if kind in _REFUSED and "__hw" not in str(error):
            self.counted["refused by Spark"] += 1
            print(f"seed {seed}: refused: {str(error)[:300]}\n  {sql}", flush=True)
            return
        if _BROKEN in str(error):
            self.counted["broken by Spark"] += 1
            print(f"seed {seed}: {str(error)[:300]}\n  {sql}", flush=True)
            return
        self.counted["errors"] += 1
        print(f"seed {seed}: {kind}: {str(error)[:600]}\n  {sql}", flush=True)
        if kind not in _REFUSED:
            traceback.print_exc(limit=-3)
        self._report(seed, Case(sql, states), lambda case: self._fails_alike(case, error))

    def _is_wrong(self, case: Case) -> bool:
        try:
            return bool(self.oracle.check(case.sql, case.tables, case.times)[1])
        except Exception:  # noqa: BLE001
            return False

    def _fails_alike(self, case: Case, error: Exception) -> bool:
        try:
            self.oracle.check(case.sql, case.tables, case.times)
        except Exception as again:  # noqa: BLE001
            return type(again) is type(error) and str(again)[:60] == str(error)[:60]
        return False

    def _report(self, seed: int, case: Case, fails: object) -> None:
        if self._reports is None:
            return
        small = shrunk(case, fails)  # type: ignore[arg-type]
        self._reports.mkdir(parents=True, exist_ok=True)
        place = self._reports / f"seed_{seed}.py"
        place.write_text(small.script())
        print(f"  shrunk to {place}:\n  {small.sql}", flush=True)
        for name, s in small.tables.items():
            print(f"    {name}({s.ddl}): {s.before} -> {s.after}", flush=True)


def main() -> int:
    from headwater.config import load_config
    from headwater.execute.session import build_session

    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=None)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--views", type=int, default=10**9)
    options.add_argument("--depth", type=int, default=DEPTH)
    options.add_argument("--families", nargs="*", choices=list(FAMILIES), default=[])
    options.add_argument("--reports", type=Path, default=Path("build/soak"))
    chosen = options.parse_args()
    spark = build_session(load_config(None, {}, {}))
    seeds = range(chosen.first, chosen.first + chosen.views)
    soak = Soak(spark, chosen.reports)
    counted = soak.run(seeds, chosen.minutes, chosen.depth, tuple(chosen.families))
    for what, number in sorted(counted.items()):
        print(f"{number:8} {what}")
    return 1 if counted["wrong"] or counted["errors"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
