"""Values that depend on the order of addition, and what must not hang on them.

A sum of floating-point numbers has other last digits when its rows are added in another order, as
after a compaction. Recomputed, a row of the old result may then differ from the row that is stored.
Where that row is only shown or replaced by its key, this does no harm, and a row that cannot be
found again is noticed. Where such a value decides which rows there are, it would not be noticed.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

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
    SetOperation,
    TopK,
    UnionAll,
    Window,
    used_columns,
    walk,
)

Ids = frozenset[str]


def rounded_columns(node: Node, seeds: Ids) -> Ids:
    """The columns of an operator that are made of such values; `seeds` are where they arise."""
    return Rounded(seeds).columns(node)


class Rounded:
    """Which columns are made of such values; of a tree each operator is looked at once."""

    def __init__(self, seeds: Ids) -> None:
        self._seeds = seeds
        self._found: dict[int, tuple[Node, Ids]] = {}  # an id is only unique while its object lives

    def columns(self, node: Node) -> Ids:
        if not self._seeds:
            return frozenset()
        if id(node) not in self._found:
            of_inputs = [self.columns(child) for child in node.inputs]
            self._found[id(node)] = (node, _made_of(node, of_inputs, self._seeds))
        return self._found[id(node)][1]

    def below(self, node: Node) -> Ids:
        """Of its inputs."""
        return frozenset[str]().union(*(self.columns(child) for child in node.inputs))


def _made_of(node: Node, of_inputs: list[Ids], seeds: Ids) -> Ids:
    below = frozenset[str]().union(*of_inputs)
    if isinstance(node, (UnionAll, SetOperation)):
        positions = {
            at
            for branch, found in zip(node.inputs, of_inputs, strict=True)
            for at, id_ in enumerate(branch.columns)
            if id_ in found
        }
        return frozenset(id_ for at, id_ in enumerate(node.ids) if at in positions)
    made = {item.id for item in _items(node) if used_columns(item.expression) & below}
    if isinstance(node, Pivot) and any(used_columns(i.expression) & below for i in node.aggregates):
        made |= set(node.ids)
    if isinstance(node, Generate) and used_columns(node.generator) & below:
        made |= set(node.ids)
    return (below | made | seeds) & frozenset(node.columns)


def decided_by_rounding(root: Node, seeds: Ids) -> Node | None:
    """The first operator that such a value tells which rows there are, or which belong together."""
    if not seeds:
        return None
    rounded = Rounded(seeds)
    for node in walk(root):
        below = rounded.below(node)
        if isinstance(node, Opaque) and seeds & frozenset(node.ids):
            return node
        if below and any(used & below for used in _deciding(node)):
            return node
    return None


def _items(node: Node) -> tuple[Item, ...]:
    if isinstance(node, (Project, Window)):
        return node.items
    if isinstance(node, Aggregate):
        return (*node.keys, *node.aggregates)
    return ()


def _deciding(node: Node) -> Iterator[Ids]:
    """The columns by which an operator chooses or groups rows."""
    if isinstance(node, Filter):
        yield used_columns(node.predicate)
    elif isinstance(node, Join):
        yield used_columns(node.on) if node.on is not None else frozenset()
    elif isinstance(node, Aggregate):
        yield from (used_columns(key.expression) for key in node.keys)
    elif isinstance(node, Window):
        yield from (used_columns(by) for item in node.items for by in _partition(item.expression))
    elif isinstance(node, TopK):
        yield from (used_columns(by) for by in node.order)
    elif isinstance(node, Generate):
        yield used_columns(node.generator)
    elif isinstance(node, Pivot):
        yield frozenset((*node.groups, *node.on))
    elif isinstance(node, (Distinct, SetOperation)):
        yield frozenset(id_ for child in node.inputs for id_ in child.columns)


def _partition(expression: exp.Expr) -> Iterator[exp.Expr]:
    for window in expression.find_all(exp.Window):
        yield from window.args.get("partition_by") or ()
