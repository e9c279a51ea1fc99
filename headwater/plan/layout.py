"""Which columns a view's table has: those the user sees, and the state that upkeep needs.

Every row of the table is a row of the view and the other way round; only columns are hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.plan.firsts import Firsts, firsts_of
from headwater.plan.mergeable import AggregateTypes, Part, parts_of
from headwater.plan.over_all import looked_at, with_input
from headwater.plan.shape import Grouped, followed_top, grouped_shape, rebuilt
from headwater.plan.stem import carried, carrying
from headwater.vocabulary.algebra import Item, Node, Query, column
from headwater.vocabulary.names import HIDDEN_PREFIX

COUNT = f"{HIDDEN_PREFIX}count"


@dataclass(frozen=True)
class Groups:
    """How the state of each group is stored, if it can be added to."""

    shape: Grouped
    parts: tuple[Part, ...]
    shown: tuple[tuple[str, Item], ...]  # table column -> expression over keys and aggregates

    @property
    def has_extremes(self) -> bool:
        return any(part.is_extreme for part in self.parts)


@dataclass(frozen=True)
class Layout:
    """The stored form of a view."""

    root: Node  # its columns are the table's, in order
    columns: tuple[str, ...]
    visible: tuple[str, ...]
    keys: tuple[str, ...] | None  # columns that identify a row; () is a single row; None is a bag
    groups: Groups | None  # set where groups' state can be merged
    unmergeable: str = ""  # why groups is None although the view is grouped
    all_rows: Node | None = None  # what windows over all rows look at, where the table has it too
    firsts: Firsts | None = None  # where the table has the first rows of partitions

    @property
    def hidden(self) -> tuple[str, ...]:
        return self.columns[len(self.visible) :]

    def id_of(self, name: str) -> str:
        return self.root.columns[self.columns.index(name)]


def layout_of(
    query: Query, types: Mapping[str, AggregateTypes], unkept: frozenset[str] = frozenset()
) -> Layout:
    """Decide the stored columns of a view; `unkept` are those that none can be made for."""
    top = followed_top(query.root)
    if top is not None:
        hidden = (
            f"{HIDDEN_PREFIX}order_{n}" for n, _ in enumerate(top.columns[len(query.names) :])
        )
        return Layout(top, (*query.names, *hidden), query.names, None, None)
    over_all = _over_all(query, unkept)
    if over_all is not None:
        return over_all
    firsts = _firsts(query, unkept)
    if firsts is not None:
        return firsts
    shape = grouped_shape(query.root)
    if shape is None:
        return Layout(query.root, query.names, query.names, None, None)
    items = tuple(
        Item(f"out_{n}", item.expression) for n, item in enumerate(shape.project.items, 1)
    )
    shown = tuple(zip(query.names, items, strict=True))
    keys, key_items = _key_columns(shape, shown)
    parts, why = (None, "HAVING") if shape.filters else parts_of(shape.aggregate, types)
    if parts is None:
        root = rebuilt(shape, (*items, *(i for _, i in key_items)), shape.aggregate.aggregates)
        columns = (*query.names, *(n for n, _ in key_items))
        return Layout(root, columns, query.names, keys, None, why)
    return _mergeable(query, shape, shown, keys, key_items, parts)


def _over_all(query: Query, unkept: frozenset[str]) -> Layout | None:
    """What windows over all rows look at is stored beside what they say of it."""
    below = looked_at(query.root)
    if below is None:
        return None
    root, below = with_input(query.root, below)
    rest = root.columns[len(query.names) :]
    if not below.columns or not unkept.isdisjoint(rest):
        return None
    hidden = (f"{HIDDEN_PREFIX}row_{n}" for n, _ in enumerate(rest, 1))
    return Layout(root, (*query.names, *hidden), query.names, None, None, all_rows=below)


def _firsts(query: Query, unkept: frozenset[str]) -> Layout | None:
    """What tells partition and order of first rows is stored beside them."""
    firsts = firsts_of(query.root)
    if firsts is None or not unkept.isdisjoint(firsts.used):
        return None
    at = carried(query.root, firsts.window)
    root = carrying(query.root, firsts.window, firsts.used - at.keys())
    hidden = (
        f"{HIDDEN_PREFIX}first_{n}" for n, _ in enumerate(root.columns[len(query.names) :], 1)
    )
    return Layout(root, (*query.names, *hidden), query.names, None, None, firsts=firsts)


def _key_columns(
    shape: Grouped, shown: tuple[tuple[str, Item], ...]
) -> tuple[tuple[str, ...], list[tuple[str, Item]]]:
    """The table column of each group key, and hidden ones for keys the user does not show."""
    names: list[str] = []
    hidden: list[tuple[str, Item]] = []
    for number, key in enumerate(shape.aggregate.keys, 1):
        plain = next((n for n, i in shown if i.expression == column(key.id)), None)
        if plain is None:
            plain = f"{HIDDEN_PREFIX}key_{number}"
            hidden.append((plain, Item(f"key_{number}", column(key.id))))
        names.append(plain)
    return tuple(names), hidden


def _mergeable(
    query: Query,
    shape: Grouped,
    shown: tuple[tuple[str, Item], ...],
    keys: tuple[str, ...],
    key_items: list[tuple[str, Item]],
    parts: tuple[Part, ...],
) -> Layout:
    placed = tuple(_placed(part, shown) for part in parts)
    aggregates = list(shape.aggregate.aggregates)
    hidden = list(key_items)
    for part in placed:
        if part.column in query.names:
            continue
        aggregates.append(Item(f"state_{part.column}", part.expression))
        hidden.append((part.column, Item(f"out_{part.column}", column(f"state_{part.column}"))))
    items = (*(item for _, item in shown), *(item for _, item in hidden))
    root = rebuilt(shape, items, tuple(aggregates))
    columns = (*query.names, *(name for name, _ in hidden))
    return Layout(root, columns, query.names, keys, Groups(shape, placed, shown))


def _placed(part: Part, shown: tuple[tuple[str, Item], ...]) -> Part:
    """A state that the user shows as it is needs no hidden copy."""
    if part.aggregate is None:
        return part
    plain = next((n for n, i in shown if i.expression == column(part.aggregate)), None)
    return part.at(plain) if plain is not None else part
