"""Compiled views: made once with Spark's help, kept in the ledger, restored without Spark."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from headwater.define.clock_calls import ClockCalls, clock_calls
from headwater.define.lowering.lower import Lowered
from headwater.define.once import lower_once
from headwater.define.table_names import tables_needed
from headwater.plan.firsts import firsts_of
from headwater.plan.format import FORMAT
from headwater.plan.layout import layout_of
from headwater.plan.mergeable import AggregateTypes
from headwater.plan.rounded import Rounded
from headwater.plan.stored import stored_names
from headwater.plan.ties import with_ties_broken
from headwater.plan.view import Columns, CompiledView, Once
from headwater.plan.widened import with_branches_cast
from headwater.vocabulary.algebra import Node, Opaque, Query, Scan, scans, walk
from headwater.vocabulary.dialect import parsed
from headwater.vocabulary.reason import Reason

_UNGROUPABLE = ("variant", "interval", "geometry", "geography")
_UNCOMPARABLE = ("map<", *_UNGROUPABLE)
_UNKEEPABLE = ("struct<", "void", *_UNCOMPARABLE)


@dataclass(frozen=True)
class Compilation:
    """What Spark said about a query, besides the text itself."""

    sources: dict[str, Columns]
    columns: Columns
    types: dict[str, AggregateTypes]
    refusal: Reason | None  # why the whole query must be kept as text
    functions: dict[str, tuple[str, str]] = field(default_factory=dict)  # name -> kind, fingerprint
    rounded: tuple[str, ...] = ()  # columns whose value depends on the order of addition
    once: tuple[str, ...] = ()  # columns that are computed once
    key: tuple[str, ...] = ()  # where there are such: the columns that identify a row
    fragile: dict[str, str] = field(default_factory=dict)  # ids that are netted with care -> type
    unkept: tuple[str, ...] = ()  # ids that get no hidden column
    widened: dict[str, str] = field(default_factory=dict)  # column of a branch -> type of the whole

    def to_json(self) -> str:
        refusal = [self.refusal.code, self.refusal.text] if self.refusal else None
        types = {id_: [t.argument, t.result] for id_, t in self.types.items()}
        value = {
            "format": FORMAT,
            "sources": self.sources,
            "columns": self.columns,
            "types": types,
            "refusal": refusal,
            "functions": self.functions,
            "rounded": self.rounded,
        }
        if self.once:
            value |= {"once": self.once, "key": self.key}
        if self.fragile:
            value["fragile"] = self.fragile
        if self.unkept:
            value["unkept"] = self.unkept
        if self.widened:
            value["widened"] = self.widened
        return json.dumps(value)

    @classmethod
    def from_json(cls, text: str) -> Compilation:
        value: dict[str, Any] = json.loads(text)
        return cls(
            {name: _columns(columns) for name, columns in value["sources"].items()},
            _columns(value["columns"]),
            {id_: AggregateTypes(*pair) for id_, pair in value["types"].items()},
            Reason(*value["refusal"]) if value["refusal"] else None,
            {name: (kind, mark) for name, (kind, mark) in value.get("functions", {}).items()},
            tuple(value.get("rounded", ())),
            tuple(value.get("once", ())),
            tuple(value.get("key", ())),
            value.get("fragile", {}),
            tuple(value.get("unkept", ())),
            value.get("widened", {}),
        )


def _columns(value: list[list[str]]) -> Columns:
    return tuple((name, type_) for name, type_ in value)


def restore(name: str, sql: str, compilation: Compilation) -> CompiledView:
    """The operators and the stored form of a view."""
    return _restored(name, sql, compilation.to_json())


@lru_cache(maxsize=2048)
def _restored(name: str, sql: str, stored: str) -> CompiledView:
    compilation = Compilation.from_json(stored)
    visible = stored_names(tuple(column for column, _ in compilation.columns))
    lowered = lowered_or_text(sql, compilation)
    root = with_branches_cast(lowered.query.root, compilation.widened)
    query = replace(lowered.query, root=root, names=visible)
    settled = _settled(query.root, compilation) if query.root.columns else query.root
    ties_broken, query = settled is not query.root, replace(query, root=settled)
    if not query.root.columns:
        layout = replace(layout_of(Query(query.root, ()), {}), columns=visible, visible=visible)
    else:
        layout = layout_of(query, compilation.types, frozenset(compilation.unkept))
    return CompiledView(
        name,
        sql,
        query,
        layout,
        compilation.types,
        compilation.sources,
        compilation.columns,
        lowered.reasons,
        {name: mark for name, (_, mark) in compilation.functions.items()},
        frozenset(compilation.rounded),
        lowered.asked,
        _once(compilation),
        compilation.fragile,
        ties_broken,
    )


def _settled(root: Node, compilation: Compilation) -> Node:
    """Ordered is by columns by which rows can be, and whose values are the same each time."""
    rounded = Rounded(frozenset(compilation.rounded))
    loose = frozenset(compilation.unkept).union(*map(rounded.columns, walk(root)))
    firsts = firsts_of(root)
    followed = root if firsts is None else firsts.window.input
    return with_ties_broken(root, lambda id_: id_ not in loose, followed)


def _once(compilation: Compilation) -> Once | None:
    """The stored names of columns that the user may have spelled otherwise."""
    if not compilation.once:
        return None
    names = tuple(column for column, _ in compilation.columns)
    stored = {n.lower(): s for n, s in zip(names, stored_names(names), strict=True)}
    given = (compilation.once, compilation.key)
    return Once(*(tuple(stored[column.lower()] for column in columns) for columns in given))


def lowered_or_text(sql: str, compilation: Compilation) -> Lowered:
    """The lowered query, or the whole of it as text where that is not safe."""
    catalog = {name: tuple(c for c, _ in columns) for name, columns in compilation.sources.items()}
    if compilation.refusal is not None:
        return as_text(sql, catalog, compilation.refusal)
    own = {name: kind for name, (kind, _) in compilation.functions.items()}
    typed = {name: dict(columns) for name, columns in compilation.sources.items()}
    lowered = lower_once(sql, catalog, compilation.once, own, typed)
    if not {scan.source for scan in scans(lowered.query.root)} >= _needed(sql, catalog):
        why = Reason("TABLES_UNCLEAR", "which tables the query reads was not understood")
        return as_text(sql, catalog, why)
    return lowered


def _needed(sql: str, catalog: Mapping[str, object]) -> set[str]:
    """The sources without those that only CTEs read which nothing reads."""
    return catalog.keys() & {table.name.lower() for table in tables_needed(parsed(sql))}


def as_text(sql: str, catalog: dict[str, tuple[str, ...]], why: Reason) -> Lowered:
    """A query of which only the sources are known."""
    leaves = tuple(
        Scan(source, leaf, tuple((c, f"{c}_{leaf}") for c in columns))
        for leaf, (source, columns) in enumerate(catalog.items(), 1)
    )
    asked = clock_calls(sql, (column for columns in catalog.values() for column in columns))
    if why.code == "CLOCK_DEPENDENT":
        asked = ClockCalls(sql, parsed(sql))
    root = Opaque(asked.tree, leaves, (), str(why))
    return Lowered(Query(root, ()), (why,), (), asked)


def uncomparable(columns: Columns) -> str | None:
    """A column by whose values nothing can be ordered, and no group can be found."""
    return _first(columns, _UNCOMPARABLE)


def ungroupable(columns: Columns) -> str | None:
    """A column whose values Spark cannot group by, so that changed rows cannot be netted."""
    return _first(columns, _UNGROUPABLE)


def unkeepable(columns: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Those of some columns that a table may not be able to store, or nothing can be found by."""
    return tuple(name for name, type_ in columns if any(word in type_ for word in _UNKEEPABLE))


def _first(columns: Columns, words: tuple[str, ...]) -> str | None:
    for name, type_ in columns:
        if any(word in type_ for word in words):
            return f"{name} {type_}"
    return None
