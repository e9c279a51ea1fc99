"""Groups of texts that a collation takes for equal: each shows the spelling of any of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headwater.vocabulary.algebra import Aggregate, Distinct, Node, Pivot, SetOperation, walk


def collated_group(root: Node, types: Mapping[str, str]) -> str | None:
    """A column by which rows are grouped, with its type, that may be spelled in several ways."""
    grouped = (id_ for node in walk(root) for id_ in _keys(node))
    return next((f"{i} {types[i]}" for i in grouped if "collate " in types.get(i, "")), None)


def _keys(node: Node) -> Iterator[str]:
    if isinstance(node, Aggregate):
        yield from (key.id for key in node.keys)
    elif isinstance(node, (Distinct, SetOperation)):
        yield from node.columns
    elif isinstance(node, Pivot):
        yield from node.groups
