"""Window functions: the WINDOW clause, QUALIFY, and one operator for all functions of a SELECT."""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.context import Lowering
from headwater.define.lowering.refusal import NotLoweredError
from headwater.vocabulary.algebra import Item, Node, Window, column


def with_windows_inlined(select: exp.Select) -> exp.Select:
    """A copy without a WINDOW clause: `OVER w` becomes `OVER (what w says)`."""
    named = {w.name.lower(): w for w in select.args.get("windows") or []}
    if not named:
        return select
    copied = select.copy()
    copied.set("windows", None)
    for over in list(copied.find_all(exp.Window)):
        if over.args.get("alias") and over.find_ancestor(exp.Select) is copied:
            _inline(over, named)
    return copied


def _inline(over: exp.Window, named: dict[str, exp.Window]) -> None:
    meant = named.get(over.args["alias"].name.lower())
    own = ("partition_by", "order", "spec")
    if meant is None or meant.args.get("alias") or any(over.args.get(part) for part in own):
        raise NotLoweredError("NAMED_WINDOW", "a window built on another one")
    over.set("alias", None)
    for part in own:
        value = meant.args.get(part)
        if isinstance(value, list):
            over.set(part, [e.copy() for e in value])
        elif value is not None:
            over.set(part, value.copy())


class Windowing:
    """Collects the window functions of a SELECT and puts columns in their place."""

    def __init__(self, context: Lowering) -> None:
        self._context = context
        self._items: list[Item] = []

    def columns(self, expression: exp.Expr) -> exp.Expr:
        """The expression over the window's columns."""
        return expression.transform(self._column)

    def node(self, below: Node) -> Node:
        return Window(below, tuple(self._items)) if self._items else below

    def _column(self, part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Window):
            return part
        if part.args.get("alias") or any(w is not part for w in part.find_all(exp.Window)):
            raise NotLoweredError("NAMED_WINDOW", "a named or nested window")
        for item in self._items:
            if item.expression == part:
                return column(item.id)
        self._items.append(Item(self._context.fresh("window"), part.copy()))
        return column(self._items[-1].id)
