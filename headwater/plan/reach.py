"""How far the windows of a partition see: a changed row matters to those that see it.

Frames are told apart by sides of the order's first expression, as a range of it can be read
without the rest of a partition: `below` are lower values, whichever way the window is ordered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from headwater.define.lowering.expressions import function_name
from headwater.vocabulary.algebra import Window
from headwater.vocabulary.dialect import written as text

_ALL_BEFORE = frozenset({"row_number", "rank", "dense_rank"})
_BY_SIZE = frozenset({"ntile", "cume_dist", "percent_rank"})
"""What they tell of a row depends on how many rows its partition has."""

_MOST_ROWS = 1000
"""A frame of more rows is taken for one without an end."""


@dataclass(frozen=True)
class Side:
    """So many rows, or values as far away as these; neither is the row itself and its peers."""

    rows: int = 0
    offsets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Reach:
    """A side that is None has no end."""

    order: exp.Expr
    nulls_are_low: bool
    below: Side | None
    above: Side | None

    @property
    def counts_rows(self) -> bool:
        return any(side is not None and side.rows for side in (self.below, self.above))

    @property
    def offsets(self) -> bool:
        return any(side is not None and side.offsets for side in (self.below, self.above))


_Sides = tuple[Side | None, Side | None]
_HERE = Side()


def reach_of(window: Window) -> Reach | None:
    """None where rows of the whole partition matter, or nothing better is known."""
    overs = [item.expression for item in window.items]
    if not all(isinstance(over, exp.Window) and over.args.get("order") for over in overs):
        return None
    leading = [over.args["order"].expressions[0] for over in overs]
    partitions = [over.args.get("partition_by") or [] for over in overs]
    alike = {(_nulls_are_low(key), text(key.this)) for key in leading}
    if len(alike) > 1 or any(set(found) != set(partitions[0]) for found in partitions):
        return None
    below: Side | None = _HERE
    above: Side | None = _HERE
    sides = (_by_value(key, _sides(over)) for key, over in zip(leading, overs, strict=True))
    for low, high in sides:
        below, above = _further(below, low), _further(above, high)
    reach = Reach(leading[0].this, _nulls_are_low(leading[0]), below, above)
    ends = below is not None or above is not None
    return reach if ends and not (reach.counts_rows and reach.offsets) else None


def _nulls_are_low(key: exp.Expr) -> bool:
    """Whether NULLs lie beside the lowest values."""
    return bool(key.args.get("nulls_first")) != _descends(key)


def _descends(key: exp.Expr) -> bool:
    return bool(key.args.get("desc"))


def _by_value(key: exp.Expr, sides: _Sides) -> _Sides:
    before, after = sides
    return (after, before) if _descends(key) else (before, after)


def _further(one: Side | None, other: Side | None) -> Side | None:
    if one is None or other is None:
        return None
    return Side(max(one.rows, other.rows), one.offsets | other.offsets)


def _sides(over: exp.Expr) -> _Sides:
    """How far a function sees: before a row and after it, in the order of the window."""
    name = function_name(over.this)
    if name is None or name in _BY_SIZE:
        return None, None
    if name in {"lag", "lead"}:
        return _shifted(over.this, backwards=name == "lag")
    spec = over.args.get("spec")
    if name in _ALL_BEFORE or spec is None:
        return None, _HERE
    return _start(spec), _end(spec)


def _shifted(call: exp.Expr, *, backwards: bool) -> _Sides:
    """Only as it is mostly written: with an offset that is a number, and NULLs like others."""
    given = call.expressions if isinstance(call, exp.Anonymous) else []
    by = _whole(given[1]) if len(given) > 1 else 1
    if not given or by is None or call.find(exp.IgnoreNulls, exp.Kwarg) is not None:
        return None, None
    side = Side(abs(by)) if abs(by) <= _MOST_ROWS else None
    return (side, _HERE) if backwards == (by >= 0) else (_HERE, side)


def _start(spec: exp.Expr) -> Side | None:
    """A frame that begins after the row sees nothing before it."""
    if str(spec.args.get("start_side") or "").lower() == "following":
        return _away(spec, spec.args.get("start"))
    return _far(spec, spec.args.get("start"))


def _end(spec: exp.Expr) -> Side | None:
    if str(spec.args.get("end_side") or "").lower() == "preceding":
        return _away(spec, spec.args.get("end"))
    return _far(spec, spec.args.get("end") or "CURRENT ROW")


def _away(spec: exp.Expr, bound: object) -> Side | None:
    """On the other side of the row, unless the number is negative, which Spark allows."""
    return _HERE if _far(spec, bound) is not None else None


def _far(spec: exp.Expr, bound: object) -> Side | None:
    if str(bound).upper() == "CURRENT ROW":
        return _HERE
    if str(spec.args.get("kind")).upper() == "ROWS":
        rows = _whole(bound)
        return None if rows is None or not 0 <= rows <= _MOST_ROWS else Side(rows)
    if _whole(bound) == 0:
        return _HERE
    offsets = frozenset(_offset(bound))
    return Side(offsets=offsets) if offsets else None


def _whole(value: object) -> int | None:
    sign = -1 if isinstance(value, exp.Neg) else 1
    number = value.this if isinstance(value, exp.Neg) else value
    is_whole = isinstance(number, exp.Literal) and not number.is_string and number.is_int
    return sign * int(number.name) if is_whole and isinstance(number, exp.Literal) else None


def _offset(value: object) -> Iterator[str]:
    number = _whole(value)
    is_interval = isinstance(value, exp.Interval) and "-" not in text(value)
    if isinstance(value, exp.Expr) and (is_interval or (number is not None and number > 0)):
        yield text(value)
