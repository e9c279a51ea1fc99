"""The columns of a generator: how Spark names them, and what is known of their types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from headwater.define.lowering.context import Lowering
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.types import Nested, elements_of, fields_of, type_of
from headwater.vocabulary.dialect import written

Made = list[tuple[str, Nested | None]]


@dataclass(frozen=True)
class Generated:
    """Names and ids of columns; not `sure` where Spark makes names up that we may know wrongly."""

    labels: tuple[str, ...]
    ids: tuple[str, ...]
    sure: bool


def generated(
    context: Lowering, name: str, arguments: Sequence[exp.Expr], given: tuple[str, ...]
) -> Generated:
    """The columns of a call, under the names that the query gives them, or under Spark's."""
    typed = _typed(name, type_of(arguments[0], context.types) if arguments else None)
    labels = given or tuple(label for label, _ in typed) or _untyped(name, arguments)
    ids = tuple(context.fresh(label) for label in labels)
    if len(ids) == len(typed):
        pairs = zip(ids, typed, strict=True)
        context.types.update((id_, type_) for id_, (_, type_) in pairs if type_ is not None)
    return Generated(labels, ids, bool(given or typed))


def _typed(name: str, type_: Nested | None) -> Made:
    """By the type of what is taken apart; nothing where that is not known."""
    elements: Made = [*elements_of(type_)]
    if not elements:
        return []
    if name in {"explode", "explode_outer"}:
        return elements
    if name in {"posexplode", "posexplode_outer"}:
        return [("pos", None), *elements]
    if name in {"inline", "inline_outer"} and len(elements) == 1:
        return [*fields_of(elements[0][1])]
    return []


def _untyped(name: str, arguments: Sequence[exp.Expr]) -> tuple[str, ...]:
    """For arrays; a map gives other columns, which the comparison with Spark's types finds out."""
    if name in {"explode", "explode_outer"}:
        return ("col",)
    if name in {"posexplode", "posexplode_outer"}:
        return ("pos", "col")
    if name in {"variant_explode", "variant_explode_outer"}:
        return ("pos", "key", "value")
    if name == "json_tuple":
        return tuple(f"c{n}" for n in range(len(arguments) - 1))
    if name == "stack" and isinstance(arguments[0], exp.Literal) and arguments[0].name.isdigit():
        rows = max(int(arguments[0].name), 1)
        return tuple(f"col{n}" for n in range(-(-(len(arguments) - 1) // rows)))
    call = exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])
    raise NotLoweredError("GENERATOR_COLUMNS", f"{written(call)} without names for its columns")
