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
from headwater.vocabulary.algebra import Join, Node, Project, Scan, scans, walk

Windows = Mapping[str, SourceWindow]
Field = tuple[Scan, str]
Keys = list[tuple[str, str]]
"""Pairs of fields that are set equal."""


def fan_out(source: str, root: Node, windows: Windows) -> float:
    """The most that a row of any occurrence of a source turns into; 1 where nothing is joined."""
    joins = [node for node in walk(root) if isinstance(node, Join)]
    joined = {scan for join in joins for scan in scans(join)}
    graph = _joined(root, joins)
    starts = [scan for scan in joined if scan.source == source]
    return max((_from(scan, graph, windows) for scan in starts), default=1.0)


def _from(start: Scan, graph: Mapping[tuple[Scan, Scan], Keys], windows: Windows) -> float:
    """Partners of one row of each scan that can be reached, where it has fewest first."""
    reached, product = {start}, 1.0
    while True:
        ahead = {
            there: min(
                _partners(here, there, keys, windows)
                for (here, to), keys in graph.items()
                if to == there and here in reached
            )
            for (known, there) in graph
            if known in reached and there not in reached
        }
        if not ahead:
            return max(product, _ratio(start, windows) if len(reached) == 1 else 1.0)
        nearest = min(ahead, key=lambda scan: (ahead[scan], scan.leaf))
        reached.add(nearest)
        product *= ahead[nearest]


def _partners(here: Scan, there: Scan, keys: Keys, windows: Windows) -> float:
    """Rows of another scan for a row of this one."""
    mine, theirs = _rows(here, windows), _rows(there, windows)
    own = _different(windows[here.source], [own for own, _ in keys])
    different = min(theirs, _different(windows[there.source], [other for _, other in keys]))
    by_key = theirs / different
    return max(by_key, theirs / mine if mine <= own else 0.0, 1.0)


def _different(window: SourceWindow, columns: list[str]) -> float:
    """How many keys there is room for."""
    return math.prod(max(window.values.get(column, math.inf), 1) for column in columns)


def _rows(scan: Scan, windows: Windows) -> int:
    return max(windows[scan.source].total_rows or 0, 1)


def _ratio(start: Scan, windows: Windows) -> float:
    """Where no keys can be traced: as many as the largest source has for each row of this one."""
    largest = max(w.total_rows or 0 for w in windows.values())
    return largest / _rows(start, windows)


def _joined(root: Node, joins: list[Join]) -> dict[tuple[Scan, Scan], Keys]:
    """Which scans are joined by which of their fields, in either direction."""
    fields = _fields(root)
    graph: dict[tuple[Scan, Scan], Keys] = defaultdict(list)
    for join in joins:
        for pair in equal_pairs(join):
            left, right = (_field(side, fields) for side in pair)
            if left is not None and right is not None:
                graph[left[0], right[0]].append((left[1], right[1]))
                graph[right[0], left[0]].append((right[1], left[1]))
    return graph


def _field(expression: exp.Expr, fields: Mapping[str, Field]) -> Field | None:
    return fields.get(expression.name) if isinstance(expression, exp.Column) else None


def _fields(root: Node) -> dict[str, Field]:
    """Column id -> the field of a scan that it hands on."""
    found = {id_: (scan, name) for scan in scans(root) for name, id_ in scan.fields}
    projects = [node for node in walk(root) if isinstance(node, Project)]
    for project in reversed(projects):  # the lowest first
        for item in project.items:
            handed = _field(item.expression, found)
            if handed is not None:
                found[item.id] = handed
    return found
