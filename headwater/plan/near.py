"""The rows of touched partitions whose place in the order is within a range of their own."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.plan.render import Leaves, render
from headwater.plan.restrict import Keys
from headwater.plan.within import Bound, within
from headwater.vocabulary.algebra import Unary
from headwater.vocabulary.dialect import written as text
from headwater.vocabulary.names import quoted


@dataclass(frozen=True)
class Stretch:
    """Where a relation tells the ends of each partition's range; no end is a NULL."""

    relation: str
    low: str
    high: str
    nulls_are_low: bool


@dataclass(frozen=True)
class Near(Unary):
    """NULLs have no place among the values: they are near where their end of the range is open."""

    keys: Keys
    order: exp.Expr
    stretch: Stretch


@render.register
def _near(node: Near, leaves: Leaves) -> str:
    here, place = node.stretch, f"({text(node.order)})"
    low, high = (f"k.{quoted(name)}" for name in (here.low, here.high))
    beside = low if here.nulls_are_low else high
    on = [f"({text(e)}) <=> k.{quoted(name)}" for e, name in node.keys]
    on.append(
        f"IF({place} IS NULL, {beside} IS NULL, "
        f"({low} IS NULL OR {place} >= {low}) AND ({high} IS NULL OR {place} <= {high}))"
    )
    bound = Bound(place, here.relation, quoted(here.low), upper=quoted(here.high))
    below = f"SELECT * FROM ({render(node.input, leaves)}) WHERE {within((bound,))}"
    return (
        f"SELECT * FROM ({below}) AS i "
        f"LEFT SEMI JOIN {quoted(here.relation)} AS k ON {' AND '.join(on)}"
    )
