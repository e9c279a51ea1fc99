"""ΔQ = Q(S′)|K − Q(S)|K: the difference of an operator on its touched keys.

It holds for whatever makes the rows of a key of that key's rows alone.

View:
    SELECT g, median(n) AS middle FROM r GROUP BY g
Change:
    WITH touched AS (SELECT DISTINCT g FROM r_changes),
    new AS (SELECT * FROM r LEFT SEMI JOIN touched ON r.g <=> touched.g),
    old AS (SELECT * FROM r_before AS r LEFT SEMI JOIN touched ON r.g <=> touched.g)
    SELECT g, median(n) AS middle, 1 AS weight FROM new GROUP BY g
    UNION ALL
    SELECT g, median(n) AS middle, -1 AS weight FROM old GROUP BY g
"""

from __future__ import annotations

from headwater.plan.planning import Planning
from headwater.plan.render import computed
from headwater.plan.restrict import restrict
from headwater.vocabulary.algebra import Item, Node
from headwater.vocabulary.names import quoted

PREFIX = "__hw_touched_"
"""What a touched key is called in the relation of touched keys."""


def touched_keys(planning: Planning, moved: list[tuple[str, tuple[Item, ...]]]) -> str:
    """The distinct keys of some changes; both images of an update count."""
    parts = []
    for relation, keys in moved:
        items = tuple(Item(PREFIX + key.id, key.expression) for key in keys)
        parts.append(f"SELECT {computed(items)} FROM {quoted(relation)}")
    union = " UNION ALL ".join(parts)
    return planning.relation("touched", f"SELECT DISTINCT * FROM ({union})", once=True)


def keyed_difference(planning: Planning, node: Node, keys: tuple[Item, ...], touched: str) -> str:
    """New minus old, both evaluated on the touched keys only."""
    kept = restrict(node, tuple((k.expression, PREFIX + k.id) for k in keys), touched)
    sql = planning.difference(node.columns, planning.new(kept), planning.old(kept))
    return planning.relation("keyed", sql)
