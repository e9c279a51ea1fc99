"""All of Spark's aggregates: followed to the same rows, or refused where nobody promises a value.

The new state is read in another order each time, so what depends on it is found out.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import TYPE_CHECKING

import pytest

from headwater.define.as_they_come import AS_THEY_COME
from headwater.define.lowering.functions import AGGREGATES
from headwater.plan.compiled import Compilation, restore
from headwater.plan.soundness import verdicts
from headwater.plan.strategies.inputs import SourceWindow
from headwater.testing.oracle import Oracle, TableStates
from headwater.vocabulary.technique import Technique
from tests.laws.shuffled import Shuffled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = (
    ("g", "int"),
    ("k", "int"),
    ("n", "bigint"),
    ("c", "decimal(10,2)"),
    ("b", "boolean"),
    ("w", "string"),
    ("x", "double"),
    ("v", "array<float>"),
)
DDL = ", ".join(" ".join(column) for column in COLUMNS)

EXACT = {
    "any": "any(b)",
    "approx_count_distinct": "approx_count_distinct(k)",
    "avg": "avg(c)",
    "bit_and": "bit_and(k)",
    "bit_or": "bit_or(n)",
    "bit_xor": "bit_xor(k)",
    "bitmap_and_agg": "bitmap_and_agg(to_binary(hex(k), 'hex'))",
    "bitmap_construct_agg": "bitmap_construct_agg(bitmap_bit_position(k))",
    "bitmap_or_agg": "bitmap_or_agg(to_binary(hex(k), 'hex'))",
    "bool_and": "bool_and(b)",
    "bool_or": "bool_or(b)",
    "count": "count(k, w)",
    "count_if": "count_if(b)",
    "count_min_sketch": "count_min_sketch(k, 0.5D, 0.5D, 7)",
    "every": "every(b)",
    "max": "max(w)",
    "mean": "mean(k)",
    "median": "median(k)",
    "min": "min(n)",
    "percentile": "percentile(n, 0.3)",
    "percentile_cont": "percentile_cont(0.5) WITHIN GROUP (ORDER BY k)",
    "percentile_disc": "percentile_disc(0.5) WITHIN GROUP (ORDER BY n DESC)",
    "regr_count": "regr_count(k, n)",
    "schema_of_variant_agg": "schema_of_variant_agg(parse_json(if(b, '1', w)))",
    "some": "some(b)",
    "sum": "sum(c)",
    "try_avg": "try_avg(c)",
    "try_sum": "try_sum(k)",
}
"""The same rows give the same value, whatever their order."""

ROUNDED = {
    "corr": "corr(x, k)",
    "covar_pop": "covar_pop(x, k)",
    "covar_samp": "covar_samp(x, n)",
    "kurtosis": "kurtosis(x)",
    "regr_avgx": "regr_avgx(k, x)",
    "regr_avgy": "regr_avgy(x, k)",
    "regr_intercept": "regr_intercept(x, k)",
    "regr_r2": "regr_r2(x, k)",
    "regr_slope": "regr_slope(x, k)",
    "regr_sxx": "regr_sxx(k, x)",
    "regr_sxy": "regr_sxy(x, k)",
    "regr_syy": "regr_syy(x, k)",
    "skewness": "skewness(x)",
    "std": "std(x)",
    "stddev": "stddev(x)",
    "stddev_pop": "stddev_pop(x)",
    "stddev_samp": "stddev_samp(x)",
    "sum": "sum(x)",
    "var_pop": "var_pop(x)",
    "var_samp": "var_samp(x)",
    "variance": "variance(x)",
    "vector_avg": "vector_avg(v)",
    "vector_sum": "vector_sum(v)",
}
"""Their last digits depend on the order of addition."""

TAKEN = {
    "any_value": ("any_value(k)", "any_value(g)"),
    "approx_percentile": ("approx_percentile(k, 0.5)",) * 2,
    "approx_top_k": ("approx_top_k(k, 2)", "approx_top_k(g, 2)"),
    "approx_top_k_accumulate": (
        "approx_top_k_accumulate(k)",
        "approx_top_k_estimate(approx_top_k_accumulate(g))",
    ),
    "array_agg": ("array_agg(k)", "sort_array(array_agg(k))"),
    "collect_list": ("collect_list(k)", "sort_array(collect_list(k))"),
    "collect_set": ("collect_set(k)", "sort_array(collect_set(k))"),
    "first": ("first(k)", "first(g)"),
    "first_value": ("first_value(k)", "first_value(g)"),
    "histogram_numeric": (
        "histogram_numeric(k, 2)",
        "aggregate(histogram_numeric(k, 2), 0D, (total, bin) -> total + bin.y)",
    ),
    "hll_sketch_agg": ("hll_sketch_agg(k)", "hll_sketch_estimate(hll_sketch_agg(k))"),
    "kll_sketch_agg_bigint": (
        "kll_sketch_agg_bigint(n)",
        "kll_sketch_get_quantile_bigint(kll_sketch_agg_bigint(coalesce(n, 0)), 0.5D)",
    ),
    "kll_sketch_agg_double": (
        "kll_sketch_agg_double(x)",
        "kll_sketch_get_n_double(kll_sketch_agg_double(x))",
    ),
    "kll_sketch_agg_float": (
        "kll_sketch_agg_float(cast(x AS float))",
        "kll_sketch_get_n_float(kll_sketch_agg_float(cast(x AS float)))",
    ),
    "last": ("last(k) IGNORE NULLS", "last(g)"),
    "last_value": ("last_value(k)", "last_value(g)"),
    "listagg": (
        "listagg(w, ',') WITHIN GROUP (ORDER BY k)",
        "listagg(w, ',') WITHIN GROUP (ORDER BY w)",
    ),
    "max_by": ("max_by(k, n)", "max_by(k, (n, k))"),
    "min_by": ("min_by(w, n)", "min_by(upper(w), w)"),
    "mode": ("mode(k)", "mode(k, true)"),
    "percentile_approx": ("percentile_approx(k, array(0.5, 0.9))",) * 2,
    "string_agg": (
        "string_agg(w)",
        "string_agg(DISTINCT w, '-') WITHIN GROUP (ORDER BY w)",
    ),
    "theta_sketch_agg": ("theta_sketch_agg(k)", "theta_sketch_estimate(theta_sketch_agg(k))"),
    "tuple_sketch_agg_double": (
        "tuple_sketch_agg_double(k, x)",
        "tuple_sketch_estimate_double(tuple_sketch_agg_double(k, x))",
    ),
    "tuple_sketch_agg_integer": (
        "tuple_sketch_agg_integer(k, k)",
        "tuple_sketch_summary_integer(tuple_sketch_agg_integer(k, k))",
    ),
}
"""A call whose value is a matter of order, and one of which all orders make the same."""

SKETCHES = {
    "hll": "hll_sketch_agg(k)",
    "theta": "theta_sketch_agg(k)",
    "kb": "kll_sketch_agg_bigint(n)",
    "kd": "kll_sketch_agg_double(x)",
    "kf": "kll_sketch_agg_float(cast(x AS float))",
    "td": "tuple_sketch_agg_double(k, x)",
    "ti": "tuple_sketch_agg_integer(k, k)",
    "top": "approx_top_k_accumulate(g)",
}
MERGED = {
    "approx_top_k_combine": "approx_top_k_estimate(approx_top_k_combine(top))",
    "hll_union_agg": "hll_sketch_estimate(hll_union_agg(hll))",
    "kll_merge_agg_bigint": "kll_sketch_get_n_bigint(kll_merge_agg_bigint(kb))",
    "kll_merge_agg_double": "kll_sketch_get_n_double(kll_merge_agg_double(kd))",
    "kll_merge_agg_float": "kll_sketch_get_n_float(kll_merge_agg_float(kf))",
    "theta_intersection_agg": "theta_sketch_estimate(theta_intersection_agg(theta))",
    "theta_union_agg": "theta_sketch_estimate(theta_union_agg(theta))",
    "tuple_intersection_agg_double": (
        "tuple_sketch_estimate_double(tuple_intersection_agg_double(td))"
    ),
    "tuple_intersection_agg_integer": (
        "tuple_sketch_estimate_integer(tuple_intersection_agg_integer(ti))"
    ),
    "tuple_union_agg_double": "tuple_sketch_estimate_double(tuple_union_agg_double(td))",
    "tuple_union_agg_integer": "tuple_sketch_estimate_integer(tuple_union_agg_integer(ti))",
}
"""They put together what others have made; see SKETCHES."""

LEFT_OUT = {
    "grouping": "only beside GROUPING SETS: `grouping functions` in the corpus",
    "grouping_id": "likewise",
    "measure": "only over a metric view, which is no source",
}


WAYS = (Technique.APPEND, Technique.MERGE, Technique.DELTA, Technique.REKEY)


def test_no_aggregate_is_forgotten() -> None:
    """One that Spark adds must be put in its place here, too."""
    assert {*EXACT, *ROUNDED, *TAKEN, *MERGED, *LEFT_OUT} == AGGREGATES
    assert {*TAKEN, *MERGED} == set(AS_THEY_COME)
    for shelf in (EXACT, ROUNDED, MERGED):
        assert [name for name, call in shelf.items() if name not in call] == []


def batched(calls: Iterable[str], size: int) -> list[tuple[str, ...]]:
    every = tuple(calls)
    return [every[start : start + size] for start in range(0, len(every), size)]


def _shown(calls: tuple[str, ...], source: str = "t") -> str:
    named = ", ".join(f"{call} AS x{n}" for n, call in enumerate(calls))
    return f"SELECT g, {named} FROM {source} GROUP BY g"


def _deciding(calls: tuple[str, ...]) -> str:
    names = ", ".join(f"x{n}" for n, _ in enumerate(calls))
    return f"SELECT {names}, count(*) AS n FROM ({_shown(calls)}) GROUP BY {names}"


def _row(random: Random) -> tuple[object, ...]:
    k = random.choice([None, 0, 1, 2, 3, 4])
    x = random.choice([None, 0.1, 0.7, 1.3, -2.9])
    v = random.choice([None, [0.1, 0.2], [0.7, 1.5], [-3.1, 2.2]])
    n, c = random.choice([None, 1, 2, 5]), random.choice([None, 1, 2])
    word = random.choice(["1", '"a"', '{"a": 1}'])
    return random.choice([1, 2, None]), k, n, c, random.choice([True, False, None]), word, x, v


_VARIED = [(g, k, k + 1, k, True, "1", k + 0.1, [0.1, 0.2]) for g in (1, 2, None) for k in (1, 4)]
"""Spark's corr() divides by zero where all rows of a group are alike."""


def _changes() -> list[dict[str, TableStates]]:
    """Inserts, updates and deletes, and inserts alone."""
    random, found = Random(9), []
    for only in (False, True):
        before = [*_VARIED, *(_row(random) for _ in range(16))]
        kept = [row for row in before if only or row in _VARIED or random.random() < 0.7]
        after = kept + [_row(random) for _ in range(5)]
        found.append({"t": TableStates(DDL, before, after, inserts_only=only)})
    return found


@pytest.fixture(scope="module")
def oracle(spark: SparkSession) -> Oracle:
    return Shuffled(spark)


def _followed(oracle: Oracle, sql: str) -> set[str]:
    """How rekey was judged; no technique that is open may be wrong."""
    words = set()
    for states in _changes():
        tried, failed = oracle.check(sql, states)
        assert failed == [], sql
        words.add(tried[Technique.REKEY])
    return words


SETTLED = [*EXACT.values(), *(settled for _, settled in TAKEN.values())]


@pytest.mark.parametrize("calls", batched(SETTLED, 14), ids=lambda calls: calls[0][:20])
def test_whatever_order_rows_come_in(oracle: Oracle, calls: tuple[str, ...]) -> None:
    """Shown, by group."""
    assert _followed(oracle, _shown(calls)) == {"sound"}


@pytest.mark.parametrize("calls", batched(EXACT.values(), 7), ids=lambda calls: calls[0][:20])
def test_what_is_exact_may_decide(oracle: Oracle, calls: tuple[str, ...]) -> None:
    """Grouped by, it tells which rows there are."""
    assert _followed(oracle, _deciding(calls)) == {"sound"}


LISTED = ["sort_array(collect_list(k))", "size(collect_set(k))", "max_by(k, (n, k))"]
NAMED = ["mode(k, true)", "listagg(w) WITHIN GROUP (ORDER BY k, w)", "min_by(w, w)"]


@pytest.mark.parametrize("calls", [LISTED, NAMED])
def test_what_no_order_can_change_may_decide(oracle: Oracle, calls: list[str]) -> None:
    """A list that is sorted, an order that tells the value too."""
    assert _followed(oracle, _deciding(tuple(calls))) == {"sound"}


@pytest.mark.parametrize("calls", batched(ROUNDED.values(), 8), ids=lambda calls: calls[0])
def test_what_is_rounded_is_shown(oracle: Oracle, calls: tuple[str, ...]) -> None:
    """Equal but for the last digits, also in arrays."""
    assert _followed(oracle, _shown(calls)) == {"sound"}


@pytest.mark.parametrize("name", [*ROUNDED, "histogram_numeric"])
def test_what_is_rounded_does_not_decide(oracle: Oracle, name: str) -> None:
    """Spark tells which types have floats in them; arrays and structs of such count too."""
    call = ROUNDED.get(name) or "histogram_numeric(x, 2)"
    view = oracle._compiled(_deciding((call,)), _changes()[0])
    windows = {"t": SourceWindow("t", 0, 1, changed=True)}
    found = {each.technique: each.reason.code for each in verdicts(view, windows, ())}
    assert {found[way] for way in WAYS} == {"ROUNDED"}


def test_sketches_are_put_together(oracle: Oracle) -> None:
    """By group, of the sketches of smaller groups."""
    made = ", ".join(f"{sketch} AS {name}" for name, sketch in SKETCHES.items())
    parts = f"(SELECT g, k % 2 AS h, {made} FROM t GROUP BY g, k % 2)"
    assert _followed(oracle, _shown(tuple(MERGED.values()), parts)) == {"sound"}


def _judged(sql: str) -> dict[Technique, str]:
    """The planner's verdicts, for which Spark need not be asked."""
    view = restore("v", sql, Compilation({"t": COLUMNS}, (("x", "int"), ("n", "bigint")), {}, None))
    windows = {"t": SourceWindow("t", 0, 1, changed=True)}
    return {each.technique: each.reason.code for each in verdicts(view, windows, ())}


TOLD_APART = {"max_by", "min_by"}
"""Of the rows that share a place the greatest value is taken where something hangs on it."""


@pytest.mark.parametrize("name", [n for n in (*TAKEN, *MERGED) if n not in TOLD_APART])
@pytest.mark.parametrize(
    "above",
    [
        "SELECT x, count(*) AS n FROM ({}) GROUP BY x",
        "SELECT x, g AS n FROM ({}) WHERE x IS NOT NULL",
        "SELECT DISTINCT x, 1 AS n FROM ({})",
        "SELECT q.x, t.n FROM ({}) AS q JOIN t ON q.x = t.k",
    ],
)
def test_what_depends_on_order_does_not_decide(name: str, above: str) -> None:
    """Whatever is made of it could not be taken back."""
    call, _ = TAKEN.get(name, (f"{name}(c)", ""))
    found = _judged(above.format(f"SELECT g, {call} AS x FROM t GROUP BY g"))
    assert {found[way] for way in WAYS} == {"FIRST_TO_COME"}


@pytest.mark.parametrize("call", ["first(k)", "mode(k)"])
def test_inside_of_others(call: str) -> None:
    """As a column of a PIVOT, and inside a part that is kept as text."""
    pivot = f"SELECT * FROM (SELECT g, k, n, b FROM t) PIVOT ({call} FOR b IN (true AS x))"
    text = f"SELECT g, {call} AS x FROM t GROUP BY g SORT BY g"
    for inner in (f"SELECT x FROM ({pivot})", f"SELECT x FROM ({text})"):
        found = _judged(f"SELECT x, count(*) AS n FROM ({inner}) GROUP BY x")
        assert found[Technique.REKEY] == "FIRST_TO_COME"
