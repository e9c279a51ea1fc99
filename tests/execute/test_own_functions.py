"""Functions that users register: followed like built-in ones, and known by their body."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pandas as pd
import pytest

from headwater.execute.own_functions import own_functions
from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique

TABLES = {
    "r": TableStates(
        "k int, g int",
        [(1, 1), (2, 1), (3, None), (4, 2)],
        [(1, 1), (2, 2), (3, None), (5, 1)],
    )
}


@pytest.fixture(scope="module")
def own(spark):
    from pyspark.sql.functions import pandas_udf, udf

    def spread(values: pd.Series) -> int:
        return None if values.isna().all() else int(values.max() - values.min())

    spark.udf.register("hw_spread", pandas_udf(spread, "bigint"))
    spark.udf.register("hw_twice", lambda x: None if x is None else x * 2, "int")
    spark.udf.register("hw_dice", udf(lambda: 4, "int").asNondeterministic())
    return spark


def test_a_registered_function_is_followed(own) -> None:
    """A deterministic Python function in a filter, a projection and an aggregate's argument."""
    sql = "SELECT g, sum(hw_twice(k)) AS s FROM r WHERE hw_twice(k) < 9 GROUP BY g"
    tried, failed = Oracle(own).check(sql, TABLES)
    assert failed == []
    assert tried[Technique.MERGE] == "sound"


AGGREGATED = {
    "alone": "SELECT g, hw_spread(k) AS s FROM r GROUP BY g",
    "computed with": "SELECT g % 2 AS h, hw_spread(hw_twice(k)) + 1 AS s FROM r GROUP BY g % 2",
    "below a filter": "SELECT s FROM (SELECT g, hw_spread(k) AS s FROM r GROUP BY g) WHERE s > 0",
    "having": "SELECT g, hw_spread(k) AS s FROM r GROUP BY g HAVING hw_spread(k) > 0",
    "of groups": (
        "SELECT s, count(*) AS n FROM (SELECT g, hw_spread(k) AS s FROM r GROUP BY g) GROUP BY s"
    ),
}


@pytest.mark.parametrize("view", AGGREGATED)
def test_a_registered_aggregate_is_kept_by_key(own, view: str) -> None:
    """A function of a group's rows, in pandas: the touched groups are computed anew."""
    tried, failed = Oracle(own).check(AGGREGATED[view], TABLES)
    assert failed == []
    assert tried[Technique.REKEY] == "sound"


def test_a_function_that_is_not_deterministic_is_not_followed(own) -> None:
    """Its old value cannot be computed again, so the view is rebuilt."""
    tried, _ = Oracle(own).check("SELECT k, hw_dice() AS d FROM r", TABLES)
    assert {word for t, word in tried.items() if t is not Technique.REBUILD} == {"UNKNOWN_FUNCTION"}


def test_another_body_has_another_fingerprint(own) -> None:
    """The name alone does not say what a function does."""
    before = own_functions(own, ["hw_twice", "hw_dice", "upper", "nobody"])
    assert set(before) == {"hw_twice"}
    assert own_functions(own, ["hw_twice"]) == before
    own.udf.register("hw_twice", lambda x: None if x is None else x * 3, "int")
    after = own_functions(own, ["hw_twice"])
    assert after["hw_twice"].fingerprint != before["hw_twice"].fingerprint


def test_an_edited_module_has_another_fingerprint(own, tmp_path: Path, monkeypatch) -> None:
    """Spark is sent no more than the name of a function that can be imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def registered(text: str) -> str:
        (tmp_path / "hw_rates.py").write_text(text)
        sys.modules.pop("hw_rates", None)
        importlib.invalidate_caches()
        own.udf.register("hw_rated", importlib.import_module("hw_rates").rated, "int")
        return own_functions(own, ["hw_rated"])["hw_rated"].fingerprint

    text = "RATE = 2\ndef rated(x):\n    return x * RATE\n"
    before = registered(text)
    assert registered(f"# moved down\n{text}") == before
    assert registered(text.replace("RATE = 2", "RATE = 3")) != before
    assert registered(text.replace("x *", "x +")) != before
    sys.modules.pop("hw_rates")
