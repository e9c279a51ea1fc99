"""|Δ(R ⋈ S)| ≈ |ΔR| · |S| / d(S.k): how many rows a changed row meets on its way up through joins.

d(S.k), the number of different keys, is at most |S| and at most what the log's statistics leave
room for. Where R seems to have each key once, S has no more different keys than R has rows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

from sqlglot import exp

from headwater.plan.equality import equal_pairs
from headwater.plan.strategies.inputs import SourceWindow
from headwater.vocabulary.algebra import Join, Node, Project, scans, walk

Windows = Mapping[str, SourceWindow]
Field = tuple[int, str]
"""A scan's leaf, and a column of its source."""

Keys = list[tuple[str, str]]
"""Pairs of fields that are set equal."""

Graph = dict[int, dict[int, Keys]]
"""Leaf -> the leaves that it is joined with, and by what."""


def fan_outs(root: Node, windows: Windows) -> dict[str, float]:
    """Source -> the most that a row of it turns into; 1 where nothing is joined with it."""
    joins = [node for node in walk(root) if isinstance(node, Join)]
    joined = {scan.leaf: scan.source for join in joins for scan in scans(join)}
    graph = _joined(root, joins)
    found = dict.fromkeys(windows, 1.0)
    for leaf, source in joined.items():
        found[source] = max(found[source], _from(leaf, graph, joined, windows))
    return found


def _from(start: int, graph: Graph, sources: Mapping[int, str], windows: Windows) -> float:
    """Partners of one row in every scan that can be reached, where it has fewest first."""
    reached, product = {start}, 1.0
    ahead: dict[int, float] = {}
    here = start
    while True:
        for there, keys in graph.get(here, {}).items():
            if there not in reached:
                pair = windows[sources[here]], windows[sources[there]]
                ahead[there] = min(ahead.get(there, math.inf), _partners(*pair, keys))
        if not ahead:
            break
        here = min(ahead, key=lambda leaf: (ahead[leaf], leaf))
        product *= ahead.pop(here)
        reached.add(here)
    return product if len(reached) > 1 else max(1.0, _ratio(windows[sources[start]], windows))


def _partners(here: SourceWindow, there: SourceWindow, keys: Keys) -> float:
    """Rows of another source for a row of this one."""
    mine, theirs = _rows(here), _rows(there)
    own = _different(here, [own for own, _ in keys])
    different = min(theirs, _different(there, [other for _, other in keys]))
    return max(theirs / different, theirs / mine if mine <= own else 0.0, 1.0)


def _different(window: SourceWindow, columns: list[str]) -> float:
    """How many keys there is room for."""
    return math.prod(float(max(window.values.get(column, math.inf), 1)) for column in columns)


def _rows(window: SourceWindow) -> float:
    return float(max(window.total_rows or 0, 1))


def _ratio(window: SourceWindow, windows: Windows) -> float:
    """Where no keys can be traced: as many as the largest source has for each row of this one."""
    return max(map(_rows, windows.values())) / _rows(window)


def _joined(root: Node, joins: list[Join]) -> Graph:
    """Which scans are joined by which of their fields, in either direction."""
    fields = _fields(root)
    graph: Graph = defaultdict(lambda: defaultdict(list))
    for join in joins:
        for pair in equal_pairs(join):
            left, right = (_field(side, fields) for side in pair)
            if left is not None and right is not None:
                graph[left[0]][right[0]].append((left[1], right[1]))
                graph[right[0]][left[0]].append((right[1], left[1]))
    return graph


def _field(expression: exp.Expr, fields: Mapping[str, Field]) -> Field | None:
    return fields.get(expression.name) if isinstance(expression, exp.Column) else None


def _fields(root: Node) -> dict[str, Field]:
    """Column id -> the field of a scan that it hands on."""
    found = {id_: (scan.leaf, name) for scan in scans(root) for name, id_ in scan.fields}
    projects = [node for node in walk(root) if isinstance(node, Project)]
    for project in reversed(projects):  # the lowest first
        for item in project.items:
            handed = _field(item.expression, found)
            if handed is not None:
                found[item.id] = handed
    return found
