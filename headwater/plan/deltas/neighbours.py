"""Δω(R) = ω(R′|N²)|N − ω(R|N²)|N with N the rows that see a changed one, N² those that these see.

Of a touched partition only a stretch is computed: a moving average sees a few rows, a running total
only those before. Which rows that are tells the order's first expression, from the lowest changed
value to the highest. Up to there on either side no row has changed, so the rows to be counted off
are the same before and after.

A sale of the fifth day, where each is shown beside the one before it:

    SELECT shop, day, lag(amount) OVER (PARTITION BY shop ORDER BY day) AS earlier FROM sales

    touched: (shop 1, 5th)    rows that see it: days 5 and 6    rows that these see: days 4 to 6
"""

from __future__ import annotations

from dataclasses import replace

from headwater.plan.deltas.keyed import PREFIX
from headwater.plan.near import Near, Stretch
from headwater.plan.planning import Planning
from headwater.plan.reach import Reach, Side
from headwater.plan.restrict import Keys, restrict
from headwater.vocabulary.algebra import Item, Window, scans
from headwater.vocabulary.dialect import written as text
from headwater.vocabulary.names import quoted

_FIRST, _LAST, _ANYWHERE = (quoted(PREFIX + name) for name in ("first", "last", "anywhere"))
_BELOW, _ABOVE = (quoted(PREFIX + name) for name in ("below", "above"))
_LOW, _HIGH = PREFIX + "low", PREFIX + "high"
_LOWEST, _HIGHEST = PREFIX + "lowest", PREFIX + "highest"


def is_worth_it(planning: Planning, window: Window, reach: Reach) -> bool:
    """Rows are counted off by one more look at the touched partitions."""
    return not reach.counts_rows or any(s.source in planning.large for s in scans(window))


def neighbours_difference(
    planning: Planning, window: Window, keys: tuple[Item, ...], reach: Reach, below: str
) -> str:
    """New minus old, both evaluated on the stretches around changed rows only."""
    names = tuple((key.expression, PREFIX + key.id) for key in keys)
    touched = planning.relation("touched", _touched(names, reach, below), once=True)
    counted = touched
    if reach.counts_rows:
        rows = planning.new(restrict(window.input, names, touched))
        counted = planning.relation("counted", _counted(names, reach, rows, touched))
    edges = planning.relation("edges", _edges(names, reach, counted), once=True)
    seen = Stretch(edges, _LOWEST, _HIGHEST, reach.nulls_are_low)
    seeing = replace(seen, low=_LOW, high=_HIGH)
    near = Near(restrict(window.input, names, edges), names, reach.order, seen)
    kept = Near(replace(window, input=near), names, reach.order, seeing)
    sql = planning.difference(window.columns, planning.new(kept), planning.old(kept))
    return planning.relation("neighbours", sql)


def _touched(names: Keys, reach: Reach, below: str) -> str:
    """Where the changes of each partition lie; one at NULL may have any neighbours."""
    shown, listed = _computed(names), _listed(names)
    changed = f"SELECT {shown}, {text(reach.order)} AS o FROM {quoted(below)}"
    return (
        f"SELECT {listed}, min(o) AS {_FIRST}, max(o) AS {_LAST}, "
        f"count(*) > count(o) AS {_ANYWHERE} FROM ({changed}) GROUP BY {listed}"
    )


def _counted(names: Keys, reach: Reach, rows: str, touched: str) -> str:
    """Each partition with the values of as many rows on either side as matter, nearest first."""
    below, above = _rows(reach.above, reach.below), _rows(reach.below, reach.above)
    theirs = f"SELECT {_computed(names)}, {text(reach.order)} AS o FROM {rows} AS r"
    on = " AND ".join(f"k.{quoted(name)} <=> i.{quoted(name)}" for _, name in names)
    kept = ", ".join(
        f"k.{name}" for name in (*(quoted(n) for _, n in names), _FIRST, _LAST, _ANYWHERE)
    )
    return (
        f"SELECT {kept}, "
        f"max_by(o, o, {below}) FILTER (WHERE o < {_FIRST}) AS {_BELOW}, "
        f"min_by(o, o, {above}) FILTER (WHERE o > {_LAST}) AS {_ABOVE} "
        f"FROM {quoted(touched)} AS k LEFT JOIN ({theirs}) AS i ON {on} GROUP BY {kept}"
    )


def _edges(names: Keys, reach: Reach, counted: str) -> str:
    """The ends of both stretches; NULL where there are not as many rows, or no end."""
    ends = {
        _LOW: _end(_FIRST, _BELOW, "try_subtract", reach.above),
        _LOWEST: _end(_FIRST, _BELOW, "try_subtract", reach.above, reach.below),
        _HIGH: _end(_LAST, _ABOVE, "try_add", reach.below),
        _HIGHEST: _end(_LAST, _ABOVE, "try_add", reach.below, reach.above),
    }
    shown = ", ".join(
        f"IF({_ANYWHERE}, NULL, {end}) AS {quoted(name)}" for name, end in ends.items()
    )
    return f"SELECT {_listed(names)}, {shown} FROM {quoted(counted)}"


def _end(changed: str, counted: str, beyond: str, *sides: Side | None) -> str:
    """The value so far beyond the last changed one."""
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return f"IF(TRUE, NULL, {changed})"
    rows = sum(side.rows for side in known)
    if rows:
        return f"get({counted}, {rows - 1})"
    end = changed
    for offset in (each for side in known for each in sorted(side.offsets)):
        end = f"{beyond}({end}, {offset})"
    inexact = f"typeof({changed}) IN ('float', 'double')"
    return end if end == changed else f"IF({inexact}, NULL, {end})"


def _rows(*sides: Side | None) -> int:
    """How many are counted off, up to the first side without an end."""
    found = 0
    for side in sides:
        if side is None:
            break
        found += side.rows
    return max(found, 1)


def _computed(names: Keys) -> str:
    return ", ".join(f"{text(expression)} AS {quoted(name)}" for expression, name in names)


def _listed(names: Keys) -> str:
    return ", ".join(quoted(name) for _, name in names)
