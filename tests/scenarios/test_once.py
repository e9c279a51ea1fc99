"""Columns that are computed once: their values stay as long as the rest of their row does."""

from __future__ import annotations

from random import Random

import pytest

from headwater.vocabulary.errors import HeadwaterError
from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake

DDL = "k INT, a INT, note STRING"
TICKETS = (
    "SELECT k, a, uuid() AS token, concat(note, rand()) AS told, now() AS seen FROM t WHERE a > 0"
)
BOTH = (
    "SELECT k, a, rand() AS x FROM t UNION ALL SELECT k + 1000, a, rand() AS x FROM t WHERE a > 2"
)
CLAUSES = "COMPUTE ONCE (Token, told, seen) KEY (k) POLICY INCREMENTAL"


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    shared_lake.source("t", DDL, [(n, n % 4, "note") for n in range(1, 13)])
    shared_lake.view("tickets", TICKETS, CLAUSES)
    shared_lake.view("both", BOTH, "COMPUTE ONCE (x) KEY (k) POLICY INCREMENTAL")
    return shared_lake


def tickets(lake: Lake) -> dict[int, tuple[object, ...]]:
    rows = lake.hw.table("tickets").collect()
    assert len({row["k"] for row in rows}) == len(rows)
    return {row["k"]: (row["a"], row["token"], row["told"], row["seen"]) for row in rows}


def assert_kept(lake: Lake, before: dict[int, tuple[object, ...]]) -> dict[int, tuple[object, ...]]:
    """Rows whose other columns are as they were have the values they had; the others have new."""
    now = tickets(lake)
    for k in before.keys() & now.keys():
        if before[k][0] == now[k][0]:
            assert before[k] == now[k]
        else:
            assert before[k][1] != now[k][1]
    return now


def test_values_are_computed_for_rows_that_come(lake: Lake) -> None:
    before = tickets(lake)
    lake.insert("t", (20, 1, "new"), (21, 0, "hidden"))
    assert lake.hw.refresh("tickets").technique is Technique.APPEND
    assert assert_kept(lake, before).keys() - before.keys() == {20}


def test_values_stay_until_the_rest_of_the_row_changes(lake: Lake) -> None:
    """A change that ends in such columns alone is none."""
    before = tickets(lake)
    lake.run("UPDATE {t} SET note = 'other' WHERE k = 5", "UPDATE {t} SET a = 7 WHERE k = 6")
    lake.run("DELETE FROM {t} WHERE k = 7")
    receipt = lake.hw.refresh("tickets")
    assert receipt.technique is Technique.DELTA
    assert (receipt.rows_inserted, receipt.rows_deleted) == (1, 2)
    now = assert_kept(lake, before)
    assert now[5] == before[5]
    assert now[6][0] == 7
    lake.run("UPDATE {t} SET note = 'again' WHERE k = 5")
    assert lake.hw.refresh("tickets").technique is Technique.SKIP


def test_a_rebuild_keeps_them_too(lake: Lake) -> None:
    before = tickets(lake)
    lake.run("UPDATE {t} SET a = 9 WHERE k = 9")
    assert lake.hw.refresh("tickets", full=True).technique is Technique.REBUILD
    now = assert_kept(lake, before)
    assert now[9][0] == 9
    lake.hw.refresh("tickets", full=True)
    assert tickets(lake) == now


def test_random_changes(lake: Lake) -> None:
    """Whatever comes and goes, the rest of the query is followed as in any other view."""
    random = Random(4)
    before = tickets(lake)
    k = random.randint(1, 12)
    lake.run(f"UPDATE {{t}} SET a = (a + {k}) % 5 WHERE k % 3 = {k % 3}")
    lake.run(f"DELETE FROM {{t}} WHERE k = {k}")
    lake.insert("t", (random.randint(100, 900), random.randint(0, 4), "x"), (k, 3, "y"))
    assert lake.refresh("tickets", "both")["both"].technique is Technique.DELTA
    assert_kept(lake, before)
    found = lake.hw.verify("tickets")
    assert (found.equal, found.ignored) == (True, ("token", "told", "seen"))
    assert lake.hw.verify("both").equal


def test_a_key_that_two_rows_share_is_refused(lake: Lake) -> None:
    """The view stays as it is, and the next good change heals it."""
    before = tickets(lake)
    lake.run("UPDATE {t} SET note = 'z' WHERE k = 1")
    lake.insert("t", (9, 8, "second"))
    with pytest.raises(HeadwaterError, match="same KEY"):
        lake.hw.refresh("tickets", technique="delta")
    assert tickets(lake) == before
    lake.run("DELETE FROM {t} WHERE k = 9 AND a = 8")
    lake.hw.refresh("tickets")
    assert_kept(lake, before)


def test_another_list_of_columns_computes_all_of_them_anew(lake: Lake) -> None:
    before = tickets(lake)
    lake.hw.sql(f"CREATE OR REPLACE MATERIALIZED VIEW tickets {CLAUSES} AS {TICKETS} AND k > -1")
    now = tickets(lake)
    assert {k: row[0] for k, row in now.items()} == {k: row[0] for k, row in before.items()}
    assert not {row[1] for row in now.values()} & {row[1] for row in before.values()}
