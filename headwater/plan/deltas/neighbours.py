"""Δω(R) = ω(R′|N²)|N − ω(R|N²)|N with N the rows that see a changed one, N² those that these see.

Of a touched partition only a stretch is computed: a moving average sees a few rows, a running total
only those before. Which rows that are tells the order's first expression, from the lowest changed
value to the highest. Up to there on either side no row has changed, so the rows to be counted off
are the same before and after.

In the example a row sees those at its own k and at one less. A change at 5 is seen by the rows at 5
and 6, and these see the rows from 4 to 6.

View:
    SELECT g, k, sum(n) OVER (PARTITION BY g ORDER BY k RANGE 1 PRECEDING) AS total FROM r
Change:
    WITH edges AS (SELECT g, min(k) AS low, max(k) + 1 AS high FROM r_changes GROUP BY g)
    SELECT g, k, total, 1 AS weight FROM (
      SELECT r.g, k, sum(n) OVER (PARTITION BY r.g ORDER BY k RANGE 1 PRECEDING) AS total, low, high
      FROM r JOIN edges ON r.g <=> edges.g AND k BETWEEN low - 1 AND high
    ) WHERE k BETWEEN low AND high
    UNION ALL
    SELECT g, k, total, -1 AS weight FROM (
      SELECT r.g, k, sum(n) OVER (PARTITION BY r.g ORDER BY k RANGE 1 PRECEDING) AS total, low, high
      FROM r_before AS r JOIN edges ON r.g <=> edges.g AND k BETWEEN low - 1 AND high
    ) WHERE k BETWEEN low AND high
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from headwater.plan.deltas.keyed import PREFIX
from headwater.plan.near import Near, Stretch
from headwater.plan.planning import Planning
from headwater.plan.reach import Reach, Side
from headwater.plan.restrict import Keys, restrict
from headwater.plan.steady import is_steady
from headwater.vocabulary.algebra import Item, Window, scans
from headwater.vocabulary.dialect import written as text
from headwater.vocabulary.names import quoted

_FIRST, _LAST, _ANYWHERE = (quoted(PREFIX + name) for name in ("first", "last", "anywhere"))
_BELOW, _ABOVE = (quoted(PREFIX + name) for name in ("below", "above"))
_LOW, _HIGH = PREFIX + "low", PREFIX + "high"
_LOWEST, _HIGHEST = PREFIX + "lowest", PREFIX + "highest"

_TIES = 32
"""So many more rows are counted off, as several may share a value; of more, all are computed."""


@dataclass(frozen=True)
class _Way:
    """Towards lower or higher values: the rows on the way, and what goes on."""

    counted: str
    sign: str
    step: str


_DOWN = _Way(_BELOW, "<", "try_subtract")
_UP = _Way(_ABOVE, ">", "try_add")


def suits(planning: Planning, window: Window, reach: Reach) -> bool:
    """Whether stretches are the same rows each time, and worth one more look at the partitions."""
    is_worth_it = not reach.counts_rows or any(s.source in planning.large for s in scans(window))
    return is_worth_it and is_steady(window.input, reach.order, frozenset(planning.fragile))


def neighbours_difference(
    planning: Planning, window: Window, keys: tuple[Item, ...], reach: Reach, below: str
) -> str:
    """New minus old, both evaluated on the stretches around changed rows only."""
    names = tuple((key.expression, PREFIX + key.id) for key in keys)
    touched = _touched(names, reach, below)
    if reach.counts_rows:
        touched = _counted(planning, window, names, reach, touched)
    edges = planning.relation("edges", _edges(names, reach, touched), once=True)
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


def _counted(planning: Planning, window: Window, names: Keys, reach: Reach, touched: str) -> str:
    """Each partition with the values of as many rows on either side as matter, nearest first."""
    known = planning.relation("touched", touched, once=True)
    rows = planning.new(restrict(window.input, names, known))
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
        f"FROM {quoted(known)} AS k LEFT JOIN ({theirs}) AS i ON {on} GROUP BY {kept}"
    )


def _edges(names: Keys, reach: Reach, touched: str) -> str:
    """The ends of both stretches; NULL where there are not as many rows, or no end.

    Rows that share a value with the last one that sees a change are computed with it, and so the
    rows that these see begin beyond all of them.
    """
    low, high = _beyond(_DOWN, _FIRST, reach.above), _beyond(_UP, _LAST, reach.below)
    ends = {
        _LOW: low,
        _LOWEST: _beyond(_DOWN, low, reach.below),
        _HIGH: high,
        _HIGHEST: _beyond(_UP, high, reach.above),
    }
    shown = ", ".join(
        f"IF({_ANYWHERE}, NULL, {end}) AS {quoted(name)}" for name, end in ends.items()
    )
    return f"SELECT {_listed(names)}, {shown} FROM ({touched})"


def _beyond(way: _Way, edge: str, side: Side | None) -> str:
    """The value so far beyond another one.

    Values are looked for twice as far as the frame says, as months and days are not all of one
    length, and wide decimals are rounded.
    """
    if side is None:
        return f"IF(TRUE, NULL, {edge})"
    if side.rows:
        return f"get(filter({way.counted}, v -> v {way.sign} {edge}), {side.rows - 1})"
    if not side.offsets:
        return edge
    end = edge
    for offset in sorted(side.offsets):
        end = f"{way.step}({way.step}({end}, {offset}), {offset})"
    return f"IF(typeof({edge}) IN ('float', 'double'), NULL, {end})"


def _rows(*sides: Side | None) -> int:
    """How many are counted off, up to the first side without an end."""
    found = 0
    for side in sides:
        if side is None:
            break
        found += side.rows
    return found + _TIES


def _computed(names: Keys) -> str:
    return ", ".join(f"{text(expression)} AS {quoted(name)}" for expression, name in names)


def _listed(names: Keys) -> str:
    return ", ".join(quoted(name) for _, name in names)
