"""Changes too large for the driver: what is made of them may be large as well, or small."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from headwater.execute import executor, relations
from headwater.vocabulary.profile import total_work
from tests.scenarios.lake import Lake

ROWS = 400
MANY = 15
"""Of more rows a relation is large in these tests."""


@pytest.fixture(scope="module", autouse=True)
def few_rows_are_many() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, "SMALL_ROWS", MANY)
        patch.setattr(executor, "SMALL_ROWS", MANY)
        yield


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    rows = [(i, i % 40, i % 7, None if i % 11 == 0 else f"s{i % 5}") for i in range(ROWS)]
    shared_lake.source("t", "id INT, k INT, v INT, s STRING", rows)
    shared_lake.source("d", "k INT, name STRING", [(k, f"d{k % 9}") for k in range(38)])
    shared_lake.view("kept", "SELECT k, v, s FROM t WHERE v < 6")
    shared_lake.view("joined", "SELECT t.k, t.v, d.name FROM t LEFT JOIN d ON t.k = d.k")
    shared_lake.view("by_text", "SELECT s, sum(v) AS total, count(*) AS n FROM kept GROUP BY s")
    shared_lake.view("by_key", "SELECT k, max(v) AS most FROM joined GROUP BY k")
    shared_lake.view("names", "SELECT DISTINCT name, v FROM joined")
    shared_lake.view("first", "SELECT k, v, s FROM t ORDER BY k, v, s, id LIMIT 12")
    shared_lake.refresh()
    return shared_lake


def test_they_are_followed(lake: Lake) -> None:
    """Rows that come, go and change, equal ones among them, and rows joined to them."""
    random = Random(5)
    for turn in range(2):
        first = random.randrange(ROWS - 60)
        lake.change("t", update={"v": "(v + 1) % 7"}, where=f"id BETWEEN {first} AND {first + 40}")
        lake.change("t", delete=f"id % 23 = {turn}")
        lake.insert("t", *((ROWS + 50 * turn + i, i % 40, i % 3, None) for i in range(30)))
        lake.change("d", update={"name": "concat(name, '!')"}, where=f"k % 3 = {turn}")
        lake.refresh()
        lake.assert_right()


def test_all_of_a_table(lake: Lake) -> None:
    """Nothing is left, then everything comes back."""
    lake.change("t", delete="TRUE")
    lake.refresh()
    lake.assert_right()
    lake.insert("t", *((i, i % 40, i % 7, f"s{i % 5}") for i in range(100)))
    lake.refresh()
    lake.assert_right()


def test_a_small_result_is_brought_home(lake: Lake) -> None:
    """The few groups of many changed rows are looked up as few rows are, in few jobs."""
    lake.change("t", update={"v": "v + 1"}, where="id < 100")
    receipt = lake.refresh()["by_text"]
    work = total_work(receipt.profile)
    assert work is not None
    assert work.jobs < 15
    assert work.cpu_ms > 0
    lake.assert_right()
