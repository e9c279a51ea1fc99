"""How Spark names the columns of a generator that the query gives no names."""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.refusal import NotLoweredError
from headwater.vocabulary.dialect import written


def generator_columns(name: str, call: exp.Expr) -> tuple[str, ...]:
    """For arrays; a map gives other columns, which the comparison with Spark's types finds out."""
    arguments = list(call.iter_expressions())
    if name in {"explode", "explode_outer"}:
        return ("col",)
    if name in {"posexplode", "posexplode_outer"}:
        return ("pos", "col")
    if name == "json_tuple":
        return tuple(f"c{n}" for n in range(len(arguments) - 1))
    if name == "stack" and isinstance(arguments[0], exp.Literal) and arguments[0].name.isdigit():
        rows = max(int(arguments[0].name), 1)
        return tuple(f"col{n}" for n in range(-(-(len(arguments) - 1) // rows)))
    raise NotLoweredError("GENERATOR_COLUMNS", f"{written(call)} without names for its columns")
