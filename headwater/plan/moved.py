"""What moved since a view's frontier: sources, and the clock where its value is another one.

Both are names in one set. A clock is called as it is asked, `current_date()`, which no source is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from sqlglot import exp

from headwater.define.clock_calls import clock_of
from headwater.vocabulary.algebra import Item, Node, scans, walk

_CALL = "()"


def moved_clocks(before: Mapping[str, str], now: Mapping[str, str]) -> frozenset[str]:
    """The clocks that tell something else than they did."""
    return frozenset(name + _CALL for name, value in now.items() if before.get(name) != value)


def is_moved(node: Node, changed: frozenset[str]) -> bool:
    """Whether an operator's rows may be other ones."""
    if any(scan.source in changed for scan in scans(node)):
        return True
    return _has_clocks(changed) and any(asks_anew(below, changed) for below in walk(node))


def asks_anew(node: Node, changed: frozenset[str]) -> bool:
    """Whether an operator itself, not one below it, computes with a clock that moved."""
    if not _has_clocks(changed):
        return False
    return any(f"{name}{_CALL}" in changed for part in _own(node) for name in clocks_of(part))


def asks_clock(node: Node) -> bool:
    """Whether an operator itself computes with a clock, moved or not."""
    return any(True for part in _own(node) for _ in clocks_of(part))


def clocks_of(expression: exp.Expr) -> Iterator[str]:
    """The clocks that an expression asks."""
    for call in expression.find_all(exp.Anonymous):
        name = clock_of(call)
        if name is not None:
            yield name


def _has_clocks(changed: frozenset[str]) -> bool:
    return any(name.endswith(_CALL) for name in changed)


def _own(node: Node) -> Iterator[exp.Expr]:
    for field in fields(node):
        yield from _expressions(getattr(node, field.name))


def _expressions(value: object) -> Iterator[exp.Expr]:
    if isinstance(value, exp.Expr):
        yield value
    elif isinstance(value, Item):
        yield value.expression
    elif isinstance(value, tuple):
        for part in value:
            yield from _expressions(part)
