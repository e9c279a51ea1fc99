"""Sources whose history breaks off: the view is right and says what happened."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake, codes

DDL = "k STRING, v INT, note STRING"
ROWS = [("a", 1, "x"), ("a", 2, "y"), ("b", 3, "z"), ("b", 3, "z")]


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    shared_lake.source("t", DDL, ROWS)
    shared_lake.view("sums", "SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k")
    shared_lake.view("flat", "SELECT k, v FROM t WHERE v > 1")
    return shared_lake


def truncated(lake: Lake) -> None:
    lake.run("DELETE FROM {t}")


def refilled(lake: Lake) -> None:
    lake.write("t", DDL, [("c", 7, None)], mode="append")


def overwritten(lake: Lake) -> None:
    frame = lake.spark.createDataFrame([*ROWS, ("d", 9, "w")], DDL).coalesce(1)
    options = {"overwriteSchema": "true", "delta.enableChangeDataFeed": "true"}
    frame.write.format("delta").mode("overwrite").options(**options).save(lake.path("t"))


def restored(lake: Lake) -> None:
    lake.run(f"RESTORE TABLE {{t}} TO VERSION AS OF {lake.version('t') - 1}")


def recreated(lake: Lake) -> None:
    shutil.rmtree(lake.path("t"))
    lake.write("t", DDL, [("a", 10, "x"), ("e", 1, None)])


def recreated_with_more_versions(lake: Lake) -> None:
    shutil.rmtree(lake.path("t"))
    lake.write("t", DDL, [("f", 10, "x")])
    for number in range(3):
        lake.write("t", DDL, [("g", number, "y")], mode="append")


def feed_switched_off(lake: Lake) -> None:
    lake.run(
        "ALTER TABLE {t} SET TBLPROPERTIES (delta.enableChangeDataFeed = false)",
        "UPDATE {t} SET v = v + 1 WHERE k = 'g'",
    )


def without_feed(lake: Lake) -> None:
    lake.run("DELETE FROM {t} WHERE k = 'f'")


def feed_switched_on(lake: Lake) -> None:
    lake.run(
        "UPDATE {t} SET v = v + 1 WHERE k = 'g'",
        "ALTER TABLE {t} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)",
        "INSERT INTO {t} VALUES ('h', 5, NULL)",
    )


def column_added(lake: Lake) -> None:
    lake.run("ALTER TABLE {t} ADD COLUMN (extra INT)", "INSERT INTO {t} VALUES ('h', 6, 'n', 1)")


def unused_column_dropped(lake: Lake) -> None:
    lake.run(
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "ALTER TABLE {t} DROP COLUMN extra",
        "INSERT INTO {t} VALUES ('h', 7, 'n')",
    )


def unused_column_renamed(lake: Lake) -> None:
    lake.run("ALTER TABLE {t} RENAME COLUMN note TO remark", "DELETE FROM {t} WHERE v = 7")


def vacuumed(lake: Lake) -> None:
    lake.run("UPDATE {t} SET v = v + 1", "DELETE FROM {t} WHERE v = 6")
    lake.spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    lake.run("VACUUM {t} RETAIN 0 HOURS")


CASES: list[tuple[Callable[[Lake], None], set[str]]] = [
    (truncated, {"SOURCE_TRUNCATED", "TOUCHED_GROUPS", "ADDITIVE_STATE", "LINEAR"}),
    (refilled, {"ADDITIVE_STATE", "INSERTS_ONLY"}),
    (overwritten, {"SOURCE_OVERWRITTEN"}),
    (restored, {"SOURCE_RESTORED"}),
    (recreated, {"SOURCE_RECREATED"}),
    (recreated_with_more_versions, {"SOURCE_RECREATED"}),
    (feed_switched_off, {"FEED_OFF", "TOUCHED_GROUPS", "ADDITIVE_STATE", "LINEAR"}),
    (without_feed, {"FEED_OFF", "TOUCHED_GROUPS", "ADDITIVE_STATE", "LINEAR"}),
    (feed_switched_on, {"FEED_OFF", "TOUCHED_GROUPS", "ADDITIVE_STATE", "LINEAR"}),
    (column_added, {"ADDITIVE_STATE", "INSERTS_ONLY", "COLUMN_ADDED", "LINEAR"}),
    (unused_column_dropped, {"ADDITIVE_STATE", "COLUMN_MAPPING_CHANGED", "LINEAR"}),
    (unused_column_renamed, {"ADDITIVE_STATE", "LINEAR", "FEED_SCHEMA_CHANGED"}),
    (vacuumed, {"FILES_VACUUMED", "HISTORY_GONE"}),
]


@pytest.mark.parametrize(("change", "allowed"), CASES, ids=[c.__name__ for c, _ in CASES])
def test_broken_history_is_never_guessed_at(
    lake: Lake, change: Callable[[Lake], None], allowed: set[str]
) -> None:
    """S42: whatever happens to a source, the view is equal and its receipt names the cause."""
    change(lake)
    receipts = lake.refresh()
    lake.assert_right(verify=("sums",))
    for view, receipt in receipts.items():
        assert codes(receipt) & allowed, (view, receipt.technique, receipt.reasons)
        if receipt.technique is Technique.REBUILD:
            named = {c for c in codes(receipt) if not c.startswith(("TOUCHED", "ADDITIVE"))}
            assert named & allowed, (view, receipt.reasons)


def test_used_column_lost_is_an_error_with_its_name(lake: Lake) -> None:
    """S42: a view whose column is gone fails with a coded error, as it was, and heals."""
    lake.refresh()
    before = lake.content("flat")
    lake.run("ALTER TABLE {t} RENAME COLUMN v TO value", "INSERT INTO {t} VALUES ('q', 9, NULL)")
    outcome = lake.hw.refresh_all(["flat"])
    assert "v" in outcome.failures["flat"].what
    assert lake.content("flat") == before
    lake.run("ALTER TABLE {t} RENAME COLUMN value TO v")
    lake.refresh()
    lake.assert_right()


def test_unused_columns_write_nothing(lake: Lake) -> None:
    """S63: a change of columns that the view does not use moves the frontier and writes nothing."""
    lake.refresh()
    versions = {view: lake.version(view) for view in lake.queries}
    lake.run("UPDATE {t} SET remark = 'other'")
    receipts = lake.refresh()
    assert {view: lake.version(view) for view in lake.queries} == versions
    for receipt in receipts.values():
        assert (receipt.rows_inserted, receipt.rows_deleted) == (0, 0)
        assert receipt.frontier["t"].version == lake.version("t")
    lake.assert_right()
