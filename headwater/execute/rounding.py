"""Ask Spark which values of a query depend on the order in which numbers are added."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from headwater.plan.render import render
from headwater.vocabulary.algebra import (
    Aggregate,
    Item,
    Opaque,
    Pivot,
    Query,
    Scan,
    Window,
    walk,
)
from headwater.vocabulary.dialect import written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FLOATING = re.compile(r"\b(double|float)\b")
"""In a type: of the value itself, or of something inside of it."""

_WHOLE = {"tinyint", "smallint", "int", "bigint"}
"""Added exactly, as doubles, as long as their sums stay below 2^53."""

_CHOSEN = frozenset(
    """
    any_value approx_percentile approx_quantile approx_top_k arg_max arg_min array_agg
    collect_list collect_set cume_dist first first_value lag last last_value lead max max_by
    median min min_by mode nth_value percent_rank percentile percentile_approx percentile_cont
    percentile_disc quantile
    """.split()
)
"""Functions that give some of their values, or something between two: nothing is added up."""

_ADDING = re.compile(
    "try_sum|try_avg|mean|std|var|covar|corr|regr_|skewness|kurtosis|vector_(?:avg|sum)|histogram_numeric"
)
"""Those that our parser knows by their names only."""


def rounded_values(session: SparkSession, query: Query) -> Iterator[str]:
    """The ids of the columns where such values arise; the sources are registered by name."""
    for node in walk(query.root):
        if isinstance(node, Opaque):
            if _adds_anything(node) and _reads_floating(session, node):
                yield from node.ids
        elif isinstance(node, Pivot):
            below = f"({render(node.input, _by_source)})"
            for item in node.aggregates:
                types = _types(session, f"SELECT {written(item.expression)} AS x FROM {below}")
                if _is_rounded(session, node, item, types["x"]):
                    yield from node.ids
        elif isinstance(node, (Aggregate, Window)):
            items = node.aggregates if isinstance(node, Aggregate) else node.items
            types = _types(session, render(node, _by_source))
            yield from (i.id for i in items if _is_rounded(session, node, i, types[i.id]))


def _is_rounded(
    session: SparkSession, node: Aggregate | Window | Pivot, item: Item, type_: str
) -> bool:
    if not _FLOATING.search(type_):
        return False
    call = _call(item.expression)
    if _name(call) in _CHOSEN:
        return False
    if isinstance(call, (exp.Sum, exp.Avg)) and isinstance(call.this, exp.Expr):
        below = f"({render(node.input, _by_source)})"
        types = _types(session, f"SELECT {written(call.this)} AS added FROM {below}")
        return types["added"] not in _WHOLE
    return True


def _call(expression: exp.Expr) -> exp.Expr:
    """The function itself, without its frame, filter or treatment of NULLs."""
    wrappers = (exp.Window, exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)
    while isinstance(expression, wrappers):
        expression = expression.this
    return expression


def _name(call: exp.Expr) -> str:
    if isinstance(call, exp.Anonymous):
        return str(call.this).lower()
    return call.sql_name().lower() if isinstance(call, exp.Func) else ""


def _adds_anything(node: Opaque) -> bool:
    return any(
        _name(call) not in _CHOSEN
        for call in node.query.find_all(exp.AggFunc, exp.Anonymous)
        if not isinstance(call, exp.Count)
        and (isinstance(call, exp.AggFunc) or _ADDING.match(_name(call)))
    )


def _reads_floating(session: SparkSession, node: Opaque) -> bool:
    found = (_types(session, render(scan, _by_source)).values() for scan in node.scans)
    return any(_FLOATING.search(type_) for types in found for type_ in types)


def _types(session: SparkSession, sql: str) -> dict[str, str]:
    return {f.name: f.dataType.simpleString() for f in session.sql(sql).schema.fields}


def _by_source(scan: Scan) -> str:
    return scan.source
