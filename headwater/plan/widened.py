"""Unions whose common type Spark does not compare with that of a branch.

It unites `array<decimal(10,2)>` and `array<int>` as `array<decimal(12,2)>`, but takes no equality
of two of them. So a key of the union cannot be looked for in the branch.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.vocabulary.algebra import Node, SetOperation, UnionAll, walk


def unlike_branch(root: Node, types: Mapping[str, str]) -> str | None:
    """A column of a branch, with its type, that is not compared with that of the whole."""
    for node in walk(root):
        if not isinstance(node, (UnionAll, SetOperation)):
            continue
        for branch in node.inputs:
            for ours, theirs in zip(node.columns, branch.columns, strict=True):
                mine, other = types.get(ours, ""), types.get(theirs, "")
                if mine != other and "<" in other and "decimal" in mine:
                    return f"{theirs} {other}"
    return None
