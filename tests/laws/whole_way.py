"""Random views over real Delta tables under random commits: `python -m tests.laws.whole_way`.

What `soak` checks on local relations is checked here with everything around it: logs, change feeds,
files, commits, views that read views, and a project that is closed and opened in between.
"""

from __future__ import annotations

import argparse
import math
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, cast

from headwater.testing.oracle import UNSORTING, local_rows
from headwater.vocabulary.errors import HeadwaterError, TechniqueRefused
from headwater.vocabulary.technique import Technique
from tests.laws.schema import Column, Row, Table, random_row, random_rows, random_tables
from tests.laws.views import TOLD_BY_TEXT, ViewWriter
from tests.scenarios.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

VIEWS = 6
ROUNDS = 4
DEPTH = 3

_KINDS = (
    "",
    "",
    "'delta.enableDeletionVectors' = 'true'",
    "'delta.columnMapping.mode' = 'name'",
)
_CLAUSES = ("", "POLICY INCREMENTAL", "POLICY INCREMENTAL", "CLUSTER BY (k)", "PARTITIONED BY (k)")
_WHERE = ("k = 1", "g IS NULL", "k > 1", "g <=> 2", "k IS NULL OR g = 0", "k = g", "g < 1")
_SET = ("g = k", "k = coalesce(k, 0) + 1", "g = 2", "g = NULL", "k = 1 - k", "g = g")
_TRIED = (Technique.APPEND, Technique.DELTA, Technique.MERGE, Technique.REKEY, Technique.REBUILD)


@dataclass
class Voyage:
    """One project from its first build through some rounds of commits; `told` is what happened."""

    seed: int
    lake: Lake
    counted: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._tables = random_tables(self._random)

    def run(self, views: int = VIEWS, rounds: int = ROUNDS) -> None:
        for table in self._tables:
            self._make(table)
        readable = list(self._tables)
        for number in range(views):
            made = self._view(f"v{number}", tuple(readable))
            readable += [made] if made is not None else []
        self._compare("built")
        for number in range(rounds):
            self._commit_some()
            if self._random.random() < 0.2:
                self.lake.reopen()
            self._refresh()
            self._compare(f"round {number + 1}")

    # --- sources ----------------------------------------------------------------------------------

    def _make(self, table: Table) -> None:
        properties = [self._random.choice(_KINDS)]
        if self._random.random() < 0.9:
            properties.append("'delta.enableChangeDataFeed' = 'true'")
        told = ", ".join(p for p in properties if p)
        parted = " PARTITIONED BY (g)" if self._random.random() < 0.2 else ""
        self._sql(
            f"CREATE TABLE {self._place(table)} ({table.ddl}) USING DELTA{parted}"
            + (f" TBLPROPERTIES ({told})" if told else "")
        )
        self._append(table, random_rows(self._random, table))
        self.lake.register(table.name)

    def _commit_some(self) -> None:
        commits: tuple[Callable[[Table], None], ...] = (
            *[self._insert] * 4,
            *[self._delete] * 2,
            *[self._update] * 3,
            *[self._merge] * 2,
            self._delete_by_merge,
            self._optimize,
            self._overwrite,
            self._restore,
            self._empty,
        )
        for table in self._tables:
            for _ in range(self._random.choice([0, 1, 1, 2, 3])):
                self._random.choice(commits)(table)

    def _insert(self, table: Table) -> None:
        rows = random_rows(self._random, table, most=3)
        if self._random.random() < 0.3:
            kept = f"SELECT * FROM {self._place(table)} WHERE {self._random.choice(_WHERE)}"
            self._sql(f"INSERT INTO {self._place(table)} {kept}")  # equal rows once more
        self._append(table, rows)

    def _delete(self, table: Table) -> None:
        self._sql(f"DELETE FROM {self._place(table)} WHERE {self._random.choice(_WHERE)}")

    def _update(self, table: Table) -> None:
        other = self._random.choice(table.columns[2:])
        value = self._random.choice([self._random.choice(_SET), f"{other.name} = NULL"])
        where = self._random.choice(_WHERE)
        self._sql(f"UPDATE {self._place(table)} SET {value} WHERE {where}")

    def _merge(self, table: Table) -> None:
        rows = {row[0]: row for row in random_rows(self._random, table, most=4)}
        self._frame(table, list(rows.values())).createOrReplaceTempView("come")
        self._sql(
            f"MERGE INTO {self._place(table)} AS t USING come AS s ON t.k = s.k "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )

    def _delete_by_merge(self, table: Table) -> None:
        self._sql(
            f"MERGE INTO {self._place(table)} AS t USING (SELECT DISTINCT 1 AS k) AS s "
            "ON t.k = s.k WHEN MATCHED AND t.g > 0 THEN DELETE WHEN MATCHED THEN UPDATE SET g = 3"
        )

    def _optimize(self, table: Table) -> None:
        self._sql(f"OPTIMIZE {self._place(table)}")

    def _overwrite(self, table: Table) -> None:
        rows = [random_row(self._random, table) for _ in range(3)]
        self._append(table, rows, mode="overwrite")

    def _restore(self, table: Table) -> None:
        version = self._random.randrange(1, self.lake.version(table.name) + 1)
        self._sql(f"RESTORE TABLE {self._place(table)} TO VERSION AS OF {version}")

    def _empty(self, table: Table) -> None:
        self._sql(f"DELETE FROM {self._place(table)}")

    def _append(self, table: Table, rows: list[Row], mode: str = "append") -> None:
        self.told.append(f"{table.name}: {mode} {rows}")
        self._frame(table, rows).write.format("delta").mode(mode).save(self._path(table))

    def _frame(self, table: Table, rows: list[Row]) -> DataFrame:
        from pyspark.sql.types import StructType

        schema = cast("StructType", StructType.fromDDL(table.ddl))
        return local_rows(self.lake.spark, schema, rows)

    def _sql(self, text: str) -> None:
        self.told.append(text)
        self.lake.spark.sql(text)

    def _path(self, table: Table) -> str:
        return str(self.lake.folder / "data" / table.name)

    def _place(self, table: Table) -> str:
        return f"delta.`{self._path(table)}`"

    # --- views -----------------------------------------------------------------------------------

    def _view(self, name: str, readable: tuple[Table, ...]) -> Table | None:
        """The view as a table that others may read, if Spark takes it."""
        relation = ViewWriter(self._random, readable, DEPTH, TOLD_BY_TEXT).relation(DEPTH)
        clauses = self._random.choice(_CLAUSES)
        if "(k)" in clauses and Column("k", "int") not in relation.columns:
            clauses = ""
        self.told.append(f"{name} {clauses}: {relation.sql}")
        try:
            self.lake.view(name, relation.sql, clauses)
        except HeadwaterError as error:
            self.lake.queries.pop(name)
            self.counted[f"refused: {error.code}"] += 1
            self.told.append(f"{name} was refused: {error}")
            return None
        self.counted["views"] += 1
        known = tuple(c for c in relation.columns if c.type != "other")
        needed = {Column("k", "int"), Column("g", "int")}
        return Table(name, known) if needed <= set(known) else None

    def _refresh(self) -> None:
        """All as is thought best, or each by some technique that is open to it."""
        if self._random.random() < 0.5:
            outcome = self.lake.hw.refresh_all()
            for receipt in outcome.receipts.values():
                self._ran(receipt.view, receipt.technique)
            for view, error in outcome.failures.items():
                self._failed(view, error)
            return
        for view in self.lake.queries:
            ways = self._random.sample(_TRIED, len(_TRIED))
            for technique in [w for w in ways if w is not Technique.REBUILD] + [Technique.REBUILD]:
                if self._by(view, technique):
                    break

    def _by(self, view: str, technique: Technique) -> bool:
        outcome = self.lake.hw.refresh_all([view], technique=technique)
        error = outcome.failures.get(view)
        if isinstance(error, TechniqueRefused):
            return False
        if error is not None:
            self._failed(view, error)
        elif view in outcome.receipts:
            self._ran(view, outcome.receipts[view].technique)
        return True

    def _ran(self, view: str, technique: Technique) -> None:
        self.counted[technique.value] += 1
        self.told.append(f"{view} was refreshed by {technique}")

    def _failed(self, view: str, error: Exception) -> None:
        if "HEADWATER_DRIFT" in str(error) or "HEADWATER_INEXACT" in str(error):
            self.counted["gave up, as it says"] += 1
            self.lake.hw.refresh(view, full=True)
            return
        self._is_wrong(view, f"{type(error).__name__}: {str(error)[:600]}")

    # --- comparing -------------------------------------------------------------------------------

    def _compare(self, when: str) -> None:
        views = tuple(self.lake.queries)
        wanted = self._recomputed(views)
        for view in views:
            stored = _bag(self.lake.hw.table(view).collect())
            self.counted["compared"] += 1
            if stored == wanted[view]:
                continue
            if stored == self._recomputed((view,), UNSORTING)[view]:
                self.counted["disputed by Spark itself"] += 1
                self.lake.hw.refresh(view, full=True)
                continue
            lacks, more = list(wanted[view] - stored), list(stored - wanted[view])
            self._is_wrong(view, f"{when}: lacks {lacks[:4]}, has {more[:4]}")

    def _recomputed(self, views: tuple[str, ...], excluded: str = "") -> dict[str, Counter[str]]:
        session = self.lake.spark.newSession()
        session.conf.set("spark.sql.optimizer.excludedRules", excluded)
        for source in self.lake.sources:
            rows = session.read.format("delta").load(self.lake.path(source))
            rows.createOrReplaceTempView(source)
        found = {}
        for view, query in self.lake.queries.items():
            frame = session.sql(query)
            frame.createOrReplaceTempView(view)
            if view in views:
                found[view] = _bag(frame.collect())
        return found

    def _is_wrong(self, view: str, what: str) -> None:
        self.counted["wrong"] += 1
        self.wrong.append(f"seed {self.seed}, {view}: {what}\n  {self.lake.queries[view]}")


def _bag(rows: list[Any]) -> Counter[str]:
    """By text, so that NaN equals NaN; sums of floats to the digits that no order changes."""
    return Counter(repr(_plain(tuple(row))) for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.9g}") + 0.0
    if isinstance(value, dict):
        return sorted(((k, _plain(v)) for k, v in value.items()), key=repr)
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    return value


def sail(spark: SparkSession, seed: int, views: int = VIEWS, rounds: int = ROUNDS) -> Voyage:
    """One voyage in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="headwater-voyage-"))
    voyage = Voyage(seed, Lake(folder, spark.newSession()))
    try:
        voyage.run(views, rounds)
    finally:
        voyage.lake.hw.close()
        shutil.rmtree(folder, ignore_errors=True)
    return voyage


def main() -> int:
    from headwater.config import load_config
    from headwater.execute.session import build_session
    from tests.conftest import TINY

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--voyages", type=int, default=10**9)
    options.add_argument("--minutes", type=float, default=math.inf)
    options.add_argument("--verbose", action="store_true", help="tell all that happened")
    chosen = options.parse_args()
    spark = build_session(load_config(None, {}, {"spark": TINY}))
    ends = time.monotonic() + chosen.minutes * 60
    counted = Counter[str]()
    for seed in range(chosen.first, chosen.first + chosen.voyages):
        if time.monotonic() > ends:
            break
        voyage = sail(spark, seed)
        counted.update(voyage.counted)
        print(f"seed {seed}: {dict(voyage.counted)}", flush=True)
        if voyage.wrong or chosen.verbose:
            print("\n".join((*voyage.told, *voyage.wrong)), flush=True)
    for what, number in sorted(counted.items()):
        print(f"{number:8} {what}")
    return 1 if counted["wrong"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
