"""TPC-H's queries after its refresh functions, every sound technique against Spark's own rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.define.query import examine
from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique
from tests.tpch.data import Thinned, generate, thinned
from tests.tpch.queries import CHANNELS, TPCH
from tests.tpch.retail import batch, retailer
from tests.tpch.streams import dictionaries, rf1, rf2, states

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPEN = {
    "merge rekey": "q01 q04 q05 q07 q08 q09 q12 q13 q22",
    "merge": "q06 q14 q17 q19",
    "rekey": "q02 q03 q10 q11 q15 q16 q18 q20 q21",
}
"""Techniques besides a rebuild -> the queries for which they are sound: 22 of 22."""

OPEN_OF_CHANNELS = {
    "merge rekey": "channel_cube kept_revenue shops_only",
    "rekey": """all_channels basket_sizes best_of_category brand_months category_rollup dear_items
        grown_online many_returns never_returned running_totals year_over_year""",
}


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Oracle:
    return Oracle(spark)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Thinned:
    return thinned(generate(tmp_path_factory.mktemp("tpch")))


def open_for(view: str, expected: dict[str, str]) -> str:
    (techniques,) = [open_ for open_, views in expected.items() if view in views.split()]
    return techniques


def follow(oracle: Oracle, sql: str, tables: dict[str, TableStates]) -> str:
    """The open techniques, none of which may be wrong; the view has rows before and after."""
    tried, failed = oracle.check(sql, tables)
    assert failed == []
    for content in ("__hw_before", "__hw_wanted"):
        rows = oracle._session.table(content).limit(2).collect()
        assert [row for row in rows if any(value is not None for value in row)], content
    incremental = [t for t, word in tried.items() if word == "sound" and t != Technique.REBUILD]
    return " ".join(incremental)


@pytest.mark.parametrize("query", TPCH)
def test_a_query_follows_the_refresh_functions(oracle: Oracle, data: Thinned, query: str) -> None:
    """New orders come and old ones go; the dictionaries too where a query reads nothing else."""
    after = rf2(data, rf1(data))
    if not {"orders", "lineitem"} & set(examine(TPCH[query]).tables):
        after = dictionaries(after)
    assert follow(oracle, TPCH[query], states(data.tables, after)) == open_for(query, OPEN)


@pytest.mark.slow
@pytest.mark.parametrize("query", TPCH)
def test_a_query_follows_everything_at_once(oracle: Oracle, data: Thinned, query: str) -> None:
    """All tables but the nations and parts change together."""
    after = dictionaries(rf2(data, rf1(data)))
    assert follow(oracle, TPCH[query], states(data.tables, after))


@pytest.mark.slow
@pytest.mark.parametrize("query", TPCH)
def test_a_query_follows_new_orders_alone(oracle: Oracle, data: Thinned, query: str) -> None:
    """The log proves that rows were only inserted."""
    tables = states(data.tables, rf1(data), inserts_only=True)
    if {"orders", "lineitem"} & set(examine(TPCH[query]).tables):
        assert follow(oracle, TPCH[query], tables)


@pytest.mark.parametrize("view", CHANNELS)
def test_a_view_of_all_channels_follows(oracle: Oracle, view: str) -> None:
    """Sales, returns and dictionaries of a retailer change together."""
    assert follow(oracle, CHANNELS[view], batch(retailer())) == open_for(view, OPEN_OF_CHANNELS)
