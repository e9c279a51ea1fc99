"""Operators as Spark SQL.

Column ids are unique in the whole tree, so no expression needs a qualifier. Every relation has an
alias all the same: Spark reads `FROM x WHERE (c)` as a relation called `WHERE` with a column `c`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

from sqlglot import exp

from headwater.define.lowering.expressions import function_name
from headwater.define.lowering.functions import TABLE_GENERATORS
from headwater.vocabulary.algebra import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Item,
    Join,
    Node,
    Opaque,
    Pivot,
    Project,
    Scan,
    SetOperation,
    TopK,
    UnionAll,
    Window,
    used_columns,
)
from headwater.vocabulary.dialect import written as text
from headwater.vocabulary.names import quoted

Leaves = Callable[[Scan], str]
"""Which relation stands for a leaf: the source before, after, or as it changed."""


def listed(ids: tuple[str, ...]) -> str:
    return ", ".join(quoted(id_) for id_ in ids)


def computed(items: tuple[Item, ...]) -> str:
    return ", ".join(f"{text(item.expression)} AS {quoted(item.id)}" for item in items)


@singledispatch
def render(node: Node, leaves: Leaves) -> str:
    """A SELECT statement whose columns are the node's ids, in order."""
    raise TypeError(f"no SQL for {type(node).__name__}")


@render.register
def _scan(node: Scan, leaves: Leaves) -> str:
    fields = ", ".join(f"{quoted(name)} AS {quoted(id_)}" for name, id_ in node.fields)
    return f"SELECT {fields} FROM {quoted(leaves(node))}"


@render.register
def _filter(node: Filter, leaves: Leaves) -> str:
    return f"SELECT * FROM ({render(node.input, leaves)}) AS i WHERE {text(node.predicate)}"


@render.register
def _project(node: Project, leaves: Leaves) -> str:
    return f"SELECT {computed(node.items)} FROM ({render(node.input, leaves)})"


@render.register
def _join(node: Join, leaves: Leaves) -> str:
    left, right = render(node.left, leaves), render(node.right, leaves)
    return join_text(node, f"({left})", f"({right})")


def join_text(node: Join, left: str, right: str, extra: str = "") -> str:
    """The join of two given relations by a node's kind and condition."""
    on = f" ON {text(node.on)}" if node.on is not None else ""
    sides = f"{left} AS l {node.kind.value} JOIN {right} AS r"
    return f"SELECT {listed(node.columns)}{extra} FROM {sides}{on}"


@render.register
def _aggregate(node: Aggregate, leaves: Leaves) -> str:
    return aggregate_text(node, f"({render(node.input, leaves)})")


def aggregate_text(node: Aggregate, source: str) -> str:
    """The aggregate of a given relation; with keys but no aggregates it is a DISTINCT."""
    shown = computed((*node.keys, *node.aggregates))
    if not node.keys:
        return f"SELECT {shown or '1'} FROM {source}"
    keys = ", ".join(text(key.expression) for key in node.keys)
    return f"SELECT {shown} FROM {source} GROUP BY {keys}"


@render.register
def _distinct(node: Distinct, leaves: Leaves) -> str:
    return f"SELECT DISTINCT * FROM ({render(node.input, leaves)})"


@render.register
def _union(node: UnionAll, leaves: Leaves) -> str:
    return union_text(node, tuple(f"({render(b, leaves)})" for b in node.branches))


def union_text(node: UnionAll, branches: tuple[str, ...], extra: str = "") -> str:
    """The union of given relations, by position, under the node's ids."""
    parts = []
    for branch, relation in zip(node.branches, branches, strict=True):
        pairs = zip(branch.columns, node.ids, strict=True)
        renamed = ", ".join(f"{quoted(mine)} AS {quoted(ours)}" for mine, ours in pairs)
        parts.append(f"SELECT {renamed}{extra} FROM {relation}")
    return " UNION ALL ".join(parts)


@render.register
def _set_operation(node: SetOperation, leaves: Leaves) -> str:
    operator = f"{node.operator} {'ALL' if node.keeps_duplicates else 'DISTINCT'}"
    pairs = zip(node.left.columns, node.ids, strict=True)
    renamed = ", ".join(f"{quoted(mine)} AS {quoted(ours)}" for mine, ours in pairs)
    left = f"SELECT {renamed} FROM ({render(node.left, leaves)})"
    return f"{left} {operator} SELECT * FROM ({render(node.right, leaves)})"


@render.register
def _window(node: Window, leaves: Leaves) -> str:
    return f"SELECT *, {computed(node.items)} FROM ({render(node.input, leaves)})"


@render.register
def _generate(node: Generate, leaves: Leaves) -> str:
    return generate_text(node, f"({render(node.input, leaves)})")


def generate_text(node: Generate, source: str) -> str:
    if function_name(node.generator) in TABLE_GENERATORS:
        return f"SELECT * FROM {source}, LATERAL {text(node.generator)} AS g({listed(node.ids)})"
    outer = " OUTER" if node.outer else ""
    made = f"{text(node.generator)} g AS {listed(node.ids)}"
    return f"SELECT * FROM {source} LATERAL VIEW{outer} {made}"


@render.register
def _pivot(node: Pivot, leaves: Leaves) -> str:
    """Spark groups by whatever else its input has, so the input is cut to what is named."""
    read = {id_ for item in node.aggregates for id_ in used_columns(item.expression)}
    input_ids = tuple(i for i in node.input.columns if i in {*node.groups, *node.on, *read})
    source = f"SELECT {listed(input_ids)} FROM ({render(node.input, leaves)})"
    names = [quoted(f"v{n}") for n, _ in enumerate(node.values)]
    chosen = ", ".join(f"{text(v)} AS {n}" for v, n in zip(node.values, names, strict=True))
    on = f"({listed(node.on)})" if len(node.on) > 1 else listed(node.on)
    made = (
        f"SELECT * FROM ({source}) AS i PIVOT ({computed(node.aggregates)} FOR {on} IN ({chosen}))"
    )
    return f"SELECT * FROM ({made}) AS t({listed(node.columns)})"


@render.register
def _top_k(node: TopK, leaves: Leaves) -> str:
    order = f" ORDER BY {', '.join(text(key) for key in node.order)}" if node.order else ""
    limit = f" LIMIT {text(node.limit)}" if node.limit is not None else ""
    offset = f" OFFSET {text(node.offset)}" if node.offset is not None else ""
    return f"SELECT * FROM ({render(node.input, leaves)}){order}{limit}{offset}"


@render.register
def _opaque(node: Opaque, leaves: Leaves) -> str:
    stand_ins = {scan.stand_in: leaves(scan) for scan in node.scans}
    query = node.query.copy()
    for table in query.find_all(exp.Table):
        if table.name in stand_ins:
            table.set("this", exp.to_identifier(stand_ins[table.name], quoted=True))
    inner = text(query)
    if not node.ids:
        return inner
    return f"SELECT * FROM ({inner}) AS t({listed(node.ids)})"
