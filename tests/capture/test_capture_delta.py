"""Against tables that Delta itself wrote: what the log says is what Spark reads."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.capture.changes import ChangeKind, ChangeSet, capture_changes
from headwater.capture.log import TableLog, open_log
from headwater.capture.memory import LogMemory
from headwater.capture.storage import LocalFiles
from headwater.vocabulary.frontier import SourceVersion

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Bag = Counter[tuple[Any, ...]]
USED = ("id", "v")
FEED = "delta.enableChangeDataFeed"

UPSERT = """
MERGE INTO {t} t USING (SELECT id * 5 AS id FROM range(1, 5)) s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET v = 0
WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, -1)
"""
HISTORY = (
    "INSERT INTO {t} SELECT id, CAST(id AS INT), 'w' FROM range(8)",
    "INSERT INTO {t} VALUES (10, 1, 'w'), (10, 1, 'w')",
    "OPTIMIZE {t}",
    "UPDATE {t} SET v = v + 100 WHERE id < 2",
    "ALTER TABLE {t} ADD COLUMNS (extra STRING)",
    "DELETE FROM {t} WHERE id = 3",
    UPSERT,
    "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
    "DELETE FROM {t} WHERE id IN (6, 7)",
    "INSERT OVERWRITE {t} SELECT id, v, w, extra FROM {t} WHERE id <> 10",
    "RESTORE TABLE {t} TO VERSION AS OF 8",
)


class Table:
    """A real table and its log."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.path = str(folder)
        self.name = f"delta.`{folder}`"

    @property
    def log(self) -> TableLog:
        """Read anew each time, so that nothing is known from before."""
        return TableLog(LocalFiles(self.path), LogMemory())

    def run(self, *statements: str) -> Table:
        for statement in statements:
            self.spark.sql(statement.format(t=self.name))
        return self

    def create(self, columns: str, **properties: str) -> Table:
        told = ", ".join(f"'{k}' = '{v}'" for k, v in {FEED: "true", **properties}.items())
        return self.run(f"CREATE TABLE {{t}} ({columns}) USING delta TBLPROPERTIES ({told})")

    def rows(self, version: int) -> Bag:
        at = self.spark.read.format("delta").option("versionAsOf", version).load(self.path)
        return Counter(tuple(row) for row in at.select(*USED).collect())

    def feed(self, after: int, up_to: int) -> DataFrame:
        reader = self.spark.read.format("delta").option("readChangeFeed", "true")
        window = {"startingVersion": after + 1, "endingVersion": up_to}
        return reader.options(**window).load(self.path)

    def captured(self, since: int, up_to: int | None = None, **asked: Any) -> ChangeSet:
        log = self.log
        return capture_changes(
            log,
            source="orders",
            since=SourceVersion(log.metadata(since).table_id, since),
            up_to=log.latest_version() if up_to is None else up_to,
            used_columns=frozenset(USED),
            **asked,
        )


@pytest.fixture
def table(delta_spark: SparkSession, tmp_path: Path) -> Table:
    return Table(delta_spark, tmp_path / "table")


@pytest.fixture(scope="module")
def history(delta_spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """One table that went through most of what a source can go through."""
    table = Table(delta_spark, tmp_path_factory.mktemp("history") / "table")
    table.create("id BIGINT, v INT, w STRING", **{"delta.enableDeletionVectors": "false"})
    return table.run(*HISTORY)


def test_each_step_has_its_kind(history: Table) -> None:
    """Eleven statements run by Spark are told apart by their commits alone."""
    kinds = [history.captured(v, v + 1).kind for v in range(len(HISTORY))]
    none, append, mixed, replaced = (
        ChangeKind.NONE,
        ChangeKind.APPEND,
        ChangeKind.MIXED,
        ChangeKind.REPLACE,
    )
    assert kinds == [
        append,
        append,
        none,
        mixed,
        none,
        mixed,
        mixed,
        none,
        mixed,
        replaced,
        replaced,
    ]


@pytest.fixture(scope="module")
def bags(history: Table) -> dict[int, Bag]:
    """The rows at most versions, as Spark reads them; the others only set a property."""
    return {version: history.rows(version) for version in (1, 2, 3, 4, 6, 7, 9, 10, 11)}


def test_every_window_is_what_happened(history: Table, bags: dict[int, Bag]) -> None:
    """In all windows NONE is equality, APPEND loses no row, and the feed nets to the truth."""
    signed = _signed(history.feed(0, len(HISTORY)))
    for a, b in combinations(bags, 2):
        change = history.captured(a, b, own=True)
        if change.kind is ChangeKind.NONE:
            assert bags[a] == bags[b], (a, b)
        if change.kind is ChangeKind.APPEND:
            assert bags[a] <= bags[b], (a, b)
        assert change.has_feed, (a, b)
        assert _applied(bags[a], signed, a, b) == bags[b], (a, b)


def _signed(feed: DataFrame) -> list[tuple[int, tuple[Any, ...], int]]:
    rows = feed.select("_commit_version", "_change_type", *USED).collect()
    plus = {"insert", "update_postimage"}
    return [(row[0], tuple(row[2:]), 1 if row[1] in plus else -1) for row in rows]


def _applied(before: Bag, signed: list[tuple[int, tuple[Any, ...], int]], a: int, b: int) -> Bag:
    after = Counter(before)
    for version, row, sign in signed:
        if a < version <= b:
            after[row] += sign
    assert all(n >= 0 for n in after.values())
    return +after


def test_row_counts_are_true(history: Table, bags: dict[int, Bag]) -> None:
    """Statistics from the log count what Spark counts, deletion vectors and restore included."""
    for version, bag in bags.items():
        assert history.log.statistics(version).rows == bag.total()
    updated = history.captured(3, 4)
    assert updated.rows == 4


def test_a_lost_column_closes_the_feed_as_delta_does(table: Table) -> None:
    """Where the log says the feed is closed by a schema change, Delta refuses to read it."""
    table.create("id BIGINT, v INT, w STRING", **{"delta.columnMapping.mode": "name"})
    table.run(
        "INSERT INTO {t} VALUES (1, 1, 'w')",
        "ALTER TABLE {t} DROP COLUMN w",
        "INSERT INTO {t} VALUES (2, 2)",
        "ALTER TABLE {t} RENAME COLUMN v TO value",
    )
    change = table.captured(0, 3)
    assert (change.kind, change.has_feed, change.has_snapshot) == (ChangeKind.APPEND, False, True)
    with pytest.raises(Exception, match="INCOMPATIBLE_DATA_SCHEMA"):
        table.feed(0, 3).collect()
    assert table.rows(3).total() - table.rows(0).total() == change.rows
    assert [r.code for r in table.captured(2, 4).reasons] == ["SCHEMA_CHANGED"]


def test_types_are_those_of_spark(table: Table) -> None:
    """Every column's type is spelled as Spark spells it, without asking Spark."""
    table.create(
        "a BIGINT, b INT, c SMALLINT, d TINYINT, e DECIMAL(38,10), f DOUBLE, g FLOAT, h BOOLEAN, "
        "i DATE, j TIMESTAMP, k TIMESTAMP_NTZ, l BINARY, m STRING NOT NULL, n VARIANT, "
        "o ARRAY<STRUCT<x: INT, y: MAP<STRING, ARRAY<BIGINT>>>>, p CHAR(5), q VARCHAR(7)"
    )
    schema = table.spark.read.format("delta").load(table.path).schema
    read = table.log.metadata()
    assert [f.type_text for f in read.schema] == [f.dataType.simpleString() for f in schema]
    assert list(read.columns) == schema.names
    detail = table.spark.sql(f"DESCRIBE DETAIL {table.name}").first()
    assert detail is not None
    assert read.table_id == detail["id"]
    assert read.feed_enabled


def test_vacuumed_history_is_a_gap(table: Table) -> None:
    """After VACUUM has taken the files of a window, it is a gap, and Spark could not read it."""
    spark = table.spark
    table.create("id BIGINT, v INT").run("INSERT INTO {t} VALUES (1, 1)", "DELETE FROM {t}")
    assert table.captured(1).kind is ChangeKind.MIXED
    check = "spark.databricks.delta.retentionDurationCheck.enabled"
    spark.conf.set(check, "false")
    table.run("VACUUM {t} RETAIN 0 HOURS")
    spark.conf.unset(check)
    change = table.captured(1)
    assert change.kind is ChangeKind.GAP
    assert [r.code for r in change.reasons] == ["FILES_VACUUMED"]
    with pytest.raises(Exception, match=r"FILE_NOT_EXIST|does not exist|NOT_FOUND"):
        table.rows(1)


@pytest.mark.parametrize("policy", ["classic", "v2"])
def test_checkpoints_stand_in_for_cleaned_up_commits(table: Table, policy: str) -> None:
    """With commits and checksums cleaned up, states are read from the checkpoint."""
    told = {"delta.checkpointPolicy": policy, "delta.checkpointInterval": "2"}
    table.create("id BIGINT, v INT", **told)
    frame = table.spark.range(3).selectExpr("id", "CAST(id AS INT) AS v")
    for version in (1, 2):
        options = {"txnAppId": "app", "txnVersion": str(version)}
        frame.write.format("delta").mode("append").options(**options).save(table.path)
    table.run("INSERT INTO {t} VALUES (9, 9)")
    before = (table.log.metadata(), table.log.statistics(), table.log.transaction_version("app"))
    for file in Path(table.path, "_delta_log").glob("[0-9]*"):
        if file.suffix == ".crc" or (file.stem.isdigit() and int(file.stem) <= 2):
            file.unlink()
    log = table.log
    assert (log.metadata(), log.statistics(), log.transaction_version("app")) == before
    assert before[1].rows == 7
    assert before[2] == 2
    assert log.earliest_commit() == 3
    assert table.captured(2).kind is ChangeKind.APPEND
    older = SourceVersion(before[0].table_id, 1)
    change = capture_changes(log, source="s", since=older, up_to=3)
    assert [r.code for r in change.reasons] == ["HISTORY_GONE"]


def test_a_stamped_write_is_read_back(table: Table) -> None:
    """User metadata and transaction version of a real write come back from its commit."""
    note = json.dumps({"anything": 1})
    frame = table.spark.range(2).selectExpr("id", "CAST(id AS INT) AS v")
    options = {"userMetadata": note, "txnAppId": "headwater", "txnVersion": "5"}
    frame.write.format("delta").options(**options).save(table.path)
    log = open_log(table.path)
    assert log.commit(0).user_metadata == note
    assert log.commit(0).transactions == {"headwater": 5}
    assert log.transaction_version("headwater") == 5
    assert log.statistics().rows == 2


def test_a_table_dropped_and_made_again_is_replaced(
    delta_spark: SparkSession, tmp_path: Path
) -> None:
    """Recreated under the same path, a source is replaced, as its table id tells."""
    delta_spark.range(3).write.format("delta").save(str(tmp_path / "t"))
    log = open_log(str(tmp_path / "t"))
    since = SourceVersion(log.metadata().table_id, log.latest_version())
    delta_spark.sql(f"CREATE OR REPLACE TABLE delta.`{tmp_path}/t` USING delta AS SELECT 1L AS id")
    change = capture_changes(log, source="s", since=since, up_to=log.latest_version())
    assert change.kind is ChangeKind.REPLACE
    assert [r.code for r in change.reasons] == ["SOURCE_RECREATED"]
