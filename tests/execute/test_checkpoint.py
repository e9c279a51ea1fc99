"""A large relation that is kept may be read by several parts of one query."""

from __future__ import annotations

from headwater.execute.checkpoint import release
from headwater.execute.isolated import isolated
from headwater.execute.relations import gathered, keep


def test_it_is_read_twice(spark) -> None:
    """What Spark proves of its columns, one of them never null, does not break the planning."""
    session = isolated(spark)
    rows = "SELECT id AS a, IF(id % 2 = 0, 1L, NULL) AS x FROM range(10)"
    netted = f"SELECT a, SUM(x) AS w FROM ({rows}) GROUP BY a HAVING SUM(x) <> 0"
    kept = keep(session, session.sql(netted), may_be_small=False)
    assert kept.rows == 5
    kept.frame.createOrReplaceTempView("kept")
    both = "SELECT a, w FROM kept UNION ALL SELECT a, w FROM kept"
    joined = session.sql(f"SELECT u.a FROM ({both}) u LEFT JOIN ({rows}) r ON u.a = r.a")
    assert sorted(row["a"] for row in joined.collect()) == [0, 0, 2, 2, 4, 4, 6, 6, 8, 8]


def test_it_is_given_back(spark) -> None:
    """Executors hold it until nobody reads it, not until the driver's memory runs short."""
    session = isolated(spark)
    before = held(spark)
    kept = keep(session, session.range(1000).selectExpr("id * 2 AS a"), may_be_small=False)
    assert len(held(spark) - before) == 1
    assert kept.frame.where("a < 10").count() == 5
    kept.release()
    assert held(spark) - before == set()


def test_what_turns_out_to_be_small_is_not_held(spark) -> None:
    """It is taken home to the driver."""
    session = isolated(spark)
    before = held(spark)
    large = keep(session, session.range(10), may_be_small=False)
    small = gathered(session, large)
    assert small.table is not None
    assert small.frame.count() == 10
    assert held(spark) - before == set()


def held(spark) -> set[int]:
    """The ids of relations that executors hold."""
    return set(spark.sparkContext._jsc.getPersistentRDDs())


def test_a_spark_that_died_is_no_failure() -> None:
    """What was committed before stays committed, and the first error is the one that is told."""
    release(None)
