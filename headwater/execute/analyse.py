"""Ask Spark what a query means: its columns, its aggregates' types, and if we read it right."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from headwater.execute.bracketed import bracketed
from headwater.plan.mergeable import AggregateTypes
from headwater.plan.render import aggregate_text, render
from headwater.plan.widened import unions
from headwater.vocabulary.algebra import Aggregate, Item, Node, Query, Scan, walk
from headwater.vocabulary.dialect import parsed, written
from headwater.vocabulary.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Columns = tuple[tuple[str, str], ...]  # (name, type)

_ALL = 2**31 - 1
_SEED = re.compile(r"(?<![#\d])-?\d{5,}")
_NUMBER = re.compile(r"(#|CTERelation(?:Def|Ref) )\d+")


@dataclass(frozen=True)
class Analysis:
    """What Spark says about a view's query over its sources."""

    columns: Columns
    same_text: bool  # the text as our parser writes it means the same to Spark
    same_tree: bool  # our operators yield the same columns and types
    types: dict[str, AggregateTypes]
    keys: Columns = ()  # what groups are made by
    inner: dict[str, str] = field(default_factory=dict)  # every id in the tree -> type
    widened: dict[str, str] = field(default_factory=dict)  # column of a branch -> type of the whole


def register_empty(session: SparkSession, sources: Mapping[str, Columns]) -> None:
    """Stand-ins for the sources: their schema and no rows."""
    nothing = session.sparkContext.emptyRDD()
    for name, columns in sources.items():
        schema = ", ".join(f"{quoted(column)} {type_}" for column, type_ in columns)
        session.createDataFrame(nothing, schema).createOrReplaceTempView(name)


def analyse(session: SparkSession, sql: str, query: Query) -> Analysis:
    """Analyse a query whose sources are registered; Spark's own error is raised as it is."""
    original = session.sql(sql)
    columns = tuple((f.name, f.dataType.simpleString()) for f in original.schema.fields)
    try:
        rewritten = session.sql(written(bracketed(parsed(sql))))
        same_text = _same(rewritten, original)
    except Exception:  # noqa: BLE001  (whatever Spark refuses here, the text is then kept whole)
        same_text = False
    if not query.root.columns:
        return Analysis(columns, same_text, same_tree=False, types={})
    try:
        lowered = session.sql(render(query.root, _by_source))
        found = tuple(f.dataType.simpleString() for f in lowered.schema.fields)
        keys, types = aggregate_types(session, query)
    except Exception:  # noqa: BLE001
        return Analysis(columns, same_text, same_tree=False, types={})
    same_tree = found == tuple(t for _, t in columns)
    inner, widened = _inner(lowered, query), _widened(session, query)
    return Analysis(columns, same_text, same_tree, types, keys, inner, widened)


def _same(one: DataFrame, other: DataFrame) -> bool:
    """Equal plans as written, or else (numbers of CTEs differ) as optimised.

    Spark does not find a plan equal to itself where `rank()` is filtered or a CTE stands in a
    sub-query; so the drawings of both are compared too, without the seeds of random numbers.
    """
    if one.sameSemantics(other):
        return True
    runs = [frame._jdf.queryExecution() for frame in (one, other)]  # noqa: SLF001
    if runs[0].optimizedPlan().sameResult(runs[1].optimizedPlan()):
        return True
    drawn = [run.analyzed().treeString(True, False, _ALL, False, False) for run in runs]  # noqa: FBT003
    if not runs[0].analyzed().deterministic():
        drawn = [_SEED.sub("seed", drawing) for drawing in drawn]
    return _renumbered(drawn[0]) == _renumbered(drawn[1])


def _renumbered(drawing: str) -> str:
    """Spark numbers columns and CTEs anew for every query: here, by their first appearance."""
    numbers: dict[str, int] = {}
    return _NUMBER.sub(
        lambda found: f"{found[1]}{numbers.setdefault(found[0], len(numbers))}", drawing
    )


def _inner(lowered: DataFrame, query: Query) -> dict[str, str]:
    """The columns anywhere in the tree; one of a union has the type that it has above its cast."""
    ids = {id_ for node in walk(query.root) for id_ in node.columns}
    found: dict[str, str] = {}
    left = [lowered._jdf.queryExecution().analyzed()]  # noqa: SLF001
    while left:
        plan = left.pop()
        below = plan.children()
        left += [below.apply(n) for n in range(below.size())]
        here = _schema(plan.schema().json())
        found |= {name: type_ for name, type_ in here if name in ids and name not in found}
    return found


def _widened(session: SparkSession, query: Query) -> dict[str, str]:
    """The columns of branches that a union or set operation converts."""
    found: dict[str, str] = {}
    for node in unions(query.root):
        whole = _types(session, node)
        for branch in node.inputs:
            triples = zip(branch.columns, _types(session, branch), whole, strict=True)
            found |= {id_: wide for id_, own, wide in triples if own != wide}
    return found


def _types(session: SparkSession, node: Node) -> tuple[str, ...]:
    schema = session.sql(render(node, _by_source)).schema
    return tuple(field.dataType.simpleString() for field in schema.fields)


def _schema(told: str) -> Columns:
    from pyspark.sql.types import StructType  # noqa: PLC0415  (loads only where Spark runs)

    fields = StructType.fromJson(json.loads(told)).fields
    return tuple((field.name, field.dataType.simpleString()) for field in fields)


def aggregate_types(
    session: SparkSession, query: Query
) -> tuple[Columns, dict[str, AggregateTypes]]:
    """The keys of all groups in the tree; argument and result type of every plain aggregate."""
    keys: dict[str, str] = {}
    types: dict[str, AggregateTypes] = {}
    for node in walk(query.root):
        if isinstance(node, Aggregate):
            found = _types_of(session, node)
            keys |= {key.id: found[key.id].result for key in node.keys}
            types |= {item.id: found[item.id] for item in node.aggregates}
    return tuple(keys.items()), types


def _types_of(session: SparkSession, node: Aggregate) -> dict[str, AggregateTypes]:
    plain = [item for item in node.aggregates if _argument(item.expression) is not None]
    probes = tuple(
        Item(f"probe_{n}", exp.Anonymous(this="any_value", expressions=[_argument(i.expression)]))
        for n, i in enumerate(plain)
    )
    probing = Aggregate(node.input, node.keys, (*node.aggregates, *probes))
    schema = session.sql(aggregate_text(probing, f"({render(node.input, _by_source)})")).schema
    found = {field.name: field.dataType.simpleString() for field in schema.fields}
    arguments = {item.id: found[f"probe_{n}"] for n, item in enumerate(plain)}
    return {id_: AggregateTypes(arguments.get(id_, ""), type_) for id_, type_ in found.items()}


def _argument(call: exp.Expr) -> exp.Expr | None:
    argument = call.this
    if not isinstance(argument, exp.Expr) or isinstance(argument, (exp.Star, exp.Distinct)):
        return None
    return argument.copy() if isinstance(call, (exp.Sum, exp.Avg, exp.Min, exp.Max)) else None


def _by_source(scan: Scan) -> str:
    return scan.source
