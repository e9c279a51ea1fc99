"""First rows: followed while they are known, asked for again where rows must move up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.define.lowering.lower import lower
from headwater.plan.shape import followed_top
from headwater.plan.strategies.top import _placed
from headwater.plan.strategies.top import _short as _shortage
from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

S = "k int, g int, n bigint"

VIEWS = {
    "rows": "SELECT k, g, n FROM s ORDER BY n DESC, k, g LIMIT 3",
    "groups": "SELECT g, sum(n) AS total FROM s GROUP BY g ORDER BY total DESC, g LIMIT 3",
    "by some columns": "SELECT k, g, n FROM s ORDER BY n DESC LIMIT 3",
    "by what is hidden": "SELECT k + 1 AS k FROM s ORDER BY n DESC, g LIMIT 3",
    "after the first": "SELECT k, g, n FROM s ORDER BY n DESC, k, g LIMIT 2 OFFSET 1",
    "all after two": "SELECT k, n FROM s ORDER BY n DESC, k, g LIMIT 99 OFFSET 2",
    "none": "SELECT k, g, n FROM s ORDER BY n LIMIT 0",
}
_BEFORE = [(1, 1, 90), (2, 2, 80), (3, 3, 70), (4, 4, 60), (5, 5, 50), (6, None, None)]
CHANGES = {
    "one comes above": ([*_BEFORE, (7, 7, 85)], False),
    "one comes below": ([*_BEFORE, (7, 7, 65)], False),
    "two come above": ([*_BEFORE, (7, 7, 85), (8, 8, 95)], False),
    "the first goes": (_BEFORE[1:], True),
    "the last of the first goes": (_BEFORE[:2] + _BEFORE[3:], True),
    "one goes from below": (_BEFORE[:3] + _BEFORE[4:], False),
    "one goes, another comes above": ([*_BEFORE[1:], (7, 7, 85)], False),
    "one goes, another comes below": ([*_BEFORE[1:], (7, 7, 65)], True),
    "the last one moves down": ([*_BEFORE[:2], (3, 3, 55), *_BEFORE[3:]], True),
    "one moves up": ([*_BEFORE[:4], (5, 5, 99), _BEFORE[5]], False),
    "all go but two": (_BEFORE[:2], True),
}
"""What `s` is afterwards, and whether rows from below must move up."""
_ONLY_BELOW = ("one comes below", "one goes from below")
"""Changes that leave the first two rows as they are, and the third."""


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Oracle:
    return Oracle(spark)


def follow(oracle: Oracle, view: str, before: list, after: list) -> bool:
    """Every sound technique is right; whether the query had to be asked."""
    for old in _short(oracle):
        oracle._session.catalog.dropTempView(old)
    tried, failed = oracle.check(VIEWS[view], {"s": TableStates(S, before, after)})
    assert failed == []
    assert tried[Technique.REKEY] == "sound"
    (short,) = _short(oracle)
    return oracle._session.table(short).count() == 1


def _short(oracle: Oracle) -> list[str]:
    """The relation that has a row if too few of the first rows are known."""
    return [row.viewName for row in oracle._session.sql("SHOW VIEWS LIKE '*_short'").collect()]


@pytest.mark.parametrize("change", CHANGES)
def test_first_rows_follow_without_asking(oracle: Oracle, change: str) -> None:
    """Only where a row of the first ones goes and none takes its place is the query evaluated."""
    after, asked = CHANGES[change]
    assert follow(oracle, "rows", _BEFORE, after) is asked
    other = ("groups", "by what is hidden")[list(CHANGES).index(change) % 2]  # they take turns
    assert follow(oracle, other, _BEFORE, after) is asked


@pytest.mark.parametrize("change", CHANGES)
def test_rows_after_an_offset_follow_what_changes_below_them(oracle: Oracle, change: str) -> None:
    """The rows that are skipped are not stored: the query is asked where they may be others."""
    after, _ = CHANGES[change]
    assert follow(oracle, "after the first", _BEFORE, after) is (change not in _ONLY_BELOW)
    assert follow(oracle, "all after two", _BEFORE, after) is (change not in _ONLY_BELOW)


def test_nothing_may_be_known_of_what_an_offset_skips(oracle: Oracle) -> None:
    """Fewer rows than are skipped: the view is empty, and any row may be its first."""
    one = _BEFORE[:1]
    assert follow(oracle, "all after two", one, _BEFORE) is True
    assert follow(oracle, "all after two", [], one) is True
    assert follow(oracle, "after the first", _BEFORE, []) is True
    equal = [(3, 3, 80), (2, 2, 80)]
    assert follow(oracle, "after the first", one + equal, [*one, *equal, (1, 1, 80)]) is True


def test_a_view_that_is_not_full_holds_all_rows(oracle: Oracle) -> None:
    """With fewer rows than LIMIT allows nothing is below, so nothing need be asked."""
    two = _BEFORE[:2]
    assert follow(oracle, "rows", two, [two[0], (9, 9, 9)]) is False
    assert follow(oracle, "rows", [], _BEFORE) is False
    assert follow(oracle, "rows", two, []) is False


def test_a_choice_between_equals_is_left_to_spark(oracle: Oracle) -> None:
    """Two rows that the order finds equal, one of which is first: the query decides, not we."""
    equal = [(3, 3, 70), (4, 4, 70)]
    assert follow(oracle, "by some columns", _BEFORE[:2] + equal[:1], _BEFORE[:2] + equal) is True
    assert follow(oracle, "by some columns", _BEFORE, [*_BEFORE, (7, 7, 85)]) is False
    twice = [_BEFORE[0], _BEFORE[0]]
    assert follow(oracle, "rows", _BEFORE, twice + _BEFORE[1:]) is False
    assert follow(oracle, "rows", twice + _BEFORE[1:], _BEFORE) is True


def test_no_rows_at_all(oracle: Oracle) -> None:
    """LIMIT 0 is empty before and after."""
    assert follow(oracle, "none", _BEFORE, _BEFORE[1:]) is False


def test_a_row_that_is_not_found_again_is_asked_for(spark: SparkSession) -> None:
    """A sum of floats went with other last digits than it is stored with: it is no row below."""
    top = followed_top(lower("SELECT k, n FROM s ORDER BY k LIMIT 3", {"s": ("k", "n")}).query.root)
    assert top is not None
    columns = ", ".join((*top.columns, "held", "kept", "moved", "missed"))
    stored = "(1, 0.1D, 1L, 1L, false, false)"
    for rows, asked in ((stored, 0), (f"{stored}, (1, 0.11D, 0L, 0L, true, true)", 1)):
        spark.sql(f"SELECT * FROM VALUES {rows} AS v({columns})").createOrReplaceTempView("known")
        spark.sql(_placed(top, "known")).createOrReplaceTempView("placed")
        assert spark.sql(_shortage(top, "placed", "3")).count() == asked
