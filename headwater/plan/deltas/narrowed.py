"""ΔA ⋈ B = ΔA ⋈ B|K with K the join keys of ΔA: of the other side only those keys are computed.

In the example no totals are made but those that a changed row is joined to.

View:
    SELECT r.k, b.total FROM r JOIN (SELECT g, sum(n) AS total FROM t GROUP BY g) AS b ON r.g = b.g
Change:
    WITH touched AS (SELECT DISTINCT g FROM r_changes),
    b AS (SELECT g, sum(n) AS total FROM t LEFT SEMI JOIN touched ON t.g <=> touched.g GROUP BY g)
    SELECT r.k, b.total, weight FROM r_changes AS r JOIN b ON r.g = b.g
"""

from __future__ import annotations

from sqlglot import exp

from headwater.plan.deltas.keyed import PREFIX, touched_keys
from headwater.plan.equality import equal_pairs
from headwater.plan.planning import Planning
from headwater.plan.restrict import Restrict, restrict
from headwater.plan.within import Bound, Within
from headwater.vocabulary.algebra import (
    Aggregate,
    Distinct,
    Item,
    Join,
    Node,
    Pivot,
    SetOperation,
    Window,
    scans,
    walk,
)
from headwater.vocabulary.dialect import written as text

_COSTLY = (Aggregate, Distinct, Pivot, SetOperation, Window)
"""Worth narrowing: a table or a row-by-row operator is joined to a small change as it is."""


def narrowed_right(planning: Planning, join: Join, left: str) -> Node:
    """The right side, for as many keys as the rows of a relation on the left have."""
    return _narrowed(planning, join.right, left, [(r, m) for m, r in equal_pairs(join)])


def narrowed_left(planning: Planning, join: Join, right: str) -> Node:
    return _narrowed(planning, join.left, right, list(equal_pairs(join)))


def _narrowed(
    planning: Planning, side: Node, rows: str, pairs: list[tuple[exp.Expr, exp.Expr]]
) -> Node:
    if not pairs:
        return side
    if not any(isinstance(node, _COSTLY) for node in walk(side)):
        return _near(planning, side, rows, pairs)
    items = tuple(Item(f"join_{n}", theirs) for n, (_, theirs) in enumerate(pairs, 1))
    wanted = tuple((mine, PREFIX + item.id) for (mine, _), item in zip(pairs, items, strict=True))
    if isinstance(restrict(side, wanted, ""), Restrict):
        return side
    return restrict(side, wanted, touched_keys(planning, [(rows, items)]))


def _near(
    planning: Planning, side: Node, rows: str, pairs: list[tuple[exp.Expr, exp.Expr]]
) -> Node:
    """Of a large table only the files are read where partners may be.

    Files tell of columns only; what is computed of one may fail for rows that the join leaves out.
    """
    plain = [(mine, theirs) for mine, theirs in pairs if isinstance(mine.unnest(), exp.Column)]
    if not plain or not any(scan.source in planning.large for scan in scans(side)):
        return side
    planning.keep_if_dear(rows)
    bounds = (Bound(f"({text(mine)})", rows, text(theirs)) for mine, theirs in plain)
    return Within(side, tuple(bounds))
