"""CHAR columns, which Spark fills up with blanks where it compares two of them, but not everywhere.

`c = 'a'` and `t.c = u.c` compare padded values; an IN over a query, a comparison with a sub-query
and a set operation compare them as they are stored. To us all of these are equalities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from headwater.vocabulary.algebra import Node, scans
from headwater.vocabulary.dialect import parsed

Padded = Mapping[str, frozenset[str]]
"""Source -> its CHAR columns, in lower case."""


def unlike_padding(sql: str, root: Node, padded: Padded) -> str | None:
    """What in a query may compare CHAR columns without padding them, if it reads any."""
    reads = any(
        name.lower() in padded.get(scan.source, frozenset())
        for scan in scans(root)
        for name, _ in scan.fields
    )
    return next(_unpadded(parsed(sql)), None) if reads else None


def _unpadded(tree: exp.Expr) -> Iterator[str]:
    for node in tree.walk():
        if isinstance(node, exp.SetOperation):
            yield node.key.upper()
        elif isinstance(node, exp.In) and node.args.get("query") is not None:
            yield "IN over a query"
        elif isinstance(node, exp.Subquery) and isinstance(node.parent, exp.Predicate):
            yield "a comparison with a sub-query"
