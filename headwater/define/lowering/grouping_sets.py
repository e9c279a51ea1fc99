"""GROUPING SETS, ROLLUP and CUBE as one aggregate over rows repeated once per set.

    GROUP BY ROLLUP (a, b)  ->  γ_{a′, b′, set} of R × {0, 1, 2}
                                with a′ = CASE WHEN set IN (0, 1) THEN a END, b′ likewise

So a rollup is a grouped view like any other: its groups are merged or recomputed by key. The number
of the set is a key too: a NULL in the data is not a NULL that stands for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product

from sqlglot import exp

from headwater.define.lowering.attach import Attaching
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import function_name
from headwater.define.lowering.refusal import NotLoweredError
from headwater.vocabulary.algebra import Generate, Item, Node, Project, column, passed

_MOST_SETS = 64
_HIVE = ("grouping_sets", "cube", "rollup")
_FORMS = (exp.GroupingSets, exp.Cube, exp.Rollup)
Set = tuple[exp.Expr, ...]


@dataclass(frozen=True)
class Expanded:
    """Repeated rows, the keys over them, and what the user's keys mean."""

    rows: Node
    keys: tuple[Item, ...]
    meanings: tuple[tuple[exp.Expr, exp.Expr], ...]
    number: exp.Expr  # which set a group belongs to
    sets: tuple[frozenset[int], ...]  # positions of the keys in each

    def function(self, call: exp.Expr) -> exp.Expr:
        """grouping(a): 1 where the set leaves a out; grouping_id(a, b): those bits together."""
        arguments = [self._position(a) for a in call.expressions]
        if function_name(call) == "grouping":
            return exp.cast(self._bits(arguments), "tinyint")
        return exp.cast(self._bits(arguments or list(range(len(self.meanings)))), "bigint")

    def _position(self, argument: exp.Expr) -> int:
        for position, (key, meant) in enumerate(self.meanings):
            if argument in (key, meant):
                return position
        raise NotLoweredError("GROUPING_SETS", "grouping() of what is no key")

    def _bits(self, positions: list[int]) -> exp.Expr:
        cases = []
        for number, kept in enumerate(self.sets):
            bits = sum((p not in kept) << n for n, p in enumerate(reversed(positions)))
            is_set = exp.EQ(this=self.number.copy(), expression=exp.Literal.number(number))
            cases.append(exp.If(this=is_set, true=exp.Literal.number(bits)))
        return exp.Case(ifs=cases)


def is_expanded(clause: exp.Expr) -> bool:
    """Whether a GROUP BY names more than one set of keys."""
    forms = any(isinstance(e, (*_FORMS, exp.Tuple)) for e in clause.expressions)
    return forms or any(clause.args.get(part) for part in (*_HIVE, "totals"))


def expanded(
    context: Lowering,
    attaching: Attaching,
    clause: exp.Expr,
    resolved: Callable[[exp.Expr], exp.Expr],
) -> Expanded:
    """Repeat the rows and blank out what each set leaves out."""
    sets = [tuple(resolved(key) for key in one) for one in _sets(clause)]
    order = [resolved(key) for key in _listed(clause)]
    keys = list(dict.fromkeys([*order, *(key for one in sets for key in one)]))
    if not keys or not 0 < len(sets) <= _MOST_SETS:
        raise NotLoweredError("GROUPING_SETS", f"{len(sets)} grouping sets of {len(keys)} keys")
    positions = tuple(frozenset(keys.index(key) for key in one) for one in sets)
    number = context.fresh("set")
    numbers = [exp.Literal.number(n) for n in range(len(sets))]
    blanked = tuple(
        Item(context.fresh("key"), _blanked(attaching.values(key), number, position, positions))
        for position, key in enumerate(keys)
    )
    repeated = Generate(
        attaching.node,
        exp.Anonymous(this="explode", expressions=[exp.Array(expressions=numbers)]),
        (number,),
        outer=False,
    )
    rows = Project(repeated, (*passed(repeated.columns), *blanked))
    grouped = [Item(context.fresh("key"), column(item.id)) for item in blanked]
    which = Item(context.fresh("set"), column(number))
    meanings = tuple((key, column(item.id)) for key, item in zip(keys, grouped, strict=True))
    return Expanded(rows, (*grouped, which), meanings, column(which.id), positions)


def _blanked(
    key: exp.Expr, number: str, position: int, sets: tuple[frozenset[int], ...]
) -> exp.Expr:
    kept = [exp.Literal.number(n) for n, one in enumerate(sets) if position in one]
    if len(kept) == len(sets):
        return key.copy()
    is_kept: exp.Expr = exp.In(this=column(number), expressions=kept) if kept else exp.false()
    return exp.Case(ifs=[exp.If(this=is_kept, true=key.copy())])


def _sets(clause: exp.Expr) -> list[Set]:
    """All sets of a GROUP BY; its elements multiply, one set of each."""
    if clause.args.get("totals"):
        raise NotLoweredError("GROUPING_SETS", "WITH TOTALS")
    for part in _HIVE:
        if clause.args.get(part):
            return _hive_sets(clause, part)
    choices = [_choices(element) for element in clause.expressions]
    return [tuple(key for one in chosen for key in one) for chosen in product(*choices)]


def _hive_sets(clause: exp.Expr, part: str) -> list[Set]:
    """`GROUP BY a, b WITH ROLLUP` and `GROUP BY a, b GROUPING SETS (...)`, without a comma."""
    forms = clause.args[part]
    if len(forms) != 1 or any(clause.args.get(p) for p in _HIVE if p != part):
        raise NotLoweredError("GROUPING_SETS", "several forms of grouping sets at once")
    form = forms[0]
    if part != "grouping_sets" and not form.expressions:
        form = type(form)(expressions=[e.copy() for e in clause.expressions])
    elif part != "grouping_sets":
        raise NotLoweredError("GROUPING_SETS", "keys before ROLLUP or CUBE without a comma")
    return _choices(form)


def _choices(element: exp.Expr) -> list[Set]:
    parts = [_members(e) for e in element.expressions] if isinstance(element, _FORMS) else []
    if isinstance(element, exp.GroupingSets):
        nested = (
            _choices(e) if isinstance(e, _FORMS) else [_members(e)] for e in element.expressions
        )
        return [one for found in nested for one in found]
    if isinstance(element, exp.Rollup):
        return [_flat(parts[:n]) for n in range(len(parts), -1, -1)]
    if isinstance(element, exp.Cube):
        sizes = range(len(parts), -1, -1)
        return [_flat(list(chosen)) for size in sizes for chosen in combinations(parts, size)]
    return [_members(element)]


def _members(element: exp.Expr) -> Set:
    if isinstance(element, exp.Tuple):
        return tuple(element.expressions)
    return (element.this,) if isinstance(element, exp.Paren) else (element,)


def _flat(parts: list[Set]) -> Set:
    return tuple(key for part in parts for key in part)


def _listed(clause: exp.Expr) -> list[exp.Expr]:
    """The keys in the order of the text, by which grouping_id() without arguments counts."""
    found: list[exp.Expr] = []
    for element in clause.expressions:
        if isinstance(element, exp.GroupingSets):
            found += [key for one in _choices(element) for key in one]
        elif isinstance(element, _FORMS):
            found += [key for part in element.expressions for key in _members(part)]
        else:
            found += _members(element)
    return found
