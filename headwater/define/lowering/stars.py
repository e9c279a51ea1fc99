"""A star, and the columns that it stands for: struct(*) -> struct(a, b), st.* -> st.a, st.b."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.define.lowering.context import Lowering
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Scope, resolve_column
from headwater.define.lowering.types import fields_of, type_of
from headwater.vocabulary.algebra import column

_QUALIFIED = 2
_MOST_PARTS = 3
"""Of a name before a star."""


@dataclass(frozen=True)
class Shown:
    """One column of a star, as a query would write it and as a value over ids."""

    name: str
    written: exp.Expr
    value: exp.Expr
    sure: bool = True


def star_of(written: exp.Expr) -> exp.Star | None:
    """`*` or `relation.*` or `struct.*`, whatever it leaves out."""
    star = written.this if isinstance(written, exp.Column) else written
    return star if isinstance(star, exp.Star) else None


def meant(context: Lowering, written: exp.Expr, scope: Scope) -> list[Shown]:
    """The columns that a star stands for."""
    star = star_of(written)
    if star is None or star.args.get("replace") or star.args.get("rename"):
        raise NotLoweredError("STAR", "a star with REPLACE or RENAME")
    excluded = star.args.get("except_") or []
    if not all(_names_column(name, scope) for name in excluded):
        raise NotLoweredError("STAR", "a star that leaves out a part of a column")
    left_out = {(_relation(name), name.name.lower()) for name in excluded}
    parts = [part.name for part in written.parts[:-1]] if isinstance(written, exp.Column) else []
    found = _of_relation(parts, scope) or _of_struct(context, parts, scope)
    if left_out and not all(shown.sure for shown in found):
        raise NotLoweredError("NAMES_UNCLEAR", "a star that leaves out a name that Spark made")
    if not found:
        raise NotLoweredError("STAR", f"{'.'.join(parts)}.* is no relation in scope")
    named = ((shown, shown.name.lower()) for shown in found)
    return [
        shown
        for shown, name in named
        if not {("", name), (_relation(shown.written), name)} & left_out
    ]


def _names_column(written: exp.Expr, scope: Scope) -> bool:
    """Of a relation, if it names one: otherwise it is a field of a struct."""
    if isinstance(written, exp.Dot) or len(getattr(written, "parts", [written])) > _QUALIFIED:
        return False
    relation = _relation(written)
    return not relation or any((e.relation or "").lower() == relation for e in scope.entries)


def _relation(written: exp.Expr) -> str:
    return written.table.lower() if isinstance(written, exp.Column) else ""


def _of_relation(parts: list[str], scope: Scope) -> list[Shown]:
    if len(parts) > 1:
        return []
    return [
        Shown(
            entry.name,
            exp.column(entry.name, table=entry.relation, quoted=True),
            column(entry.id),
            entry.sure,
        )
        for entry in scope.star(parts[0] if parts else None)
    ]


def _of_struct(context: Lowering, parts: list[str], scope: Scope) -> list[Shown]:
    """The fields of a column, where its type is known."""
    if not 0 < len(parts) <= _MOST_PARTS:
        return []
    inwards = parts[::-1]
    value = resolve_column(exp.column(*inwards, quoted=True), scope)
    if value is None:
        return []
    return [
        Shown(
            name,
            exp.column(name, *inwards, quoted=True),
            exp.Dot(this=value.copy(), expression=exp.to_identifier(name, quoted=True)),
        )
        for name, _ in fields_of(type_of(value, context.types))
    ]


def with_stars(context: Lowering, expression: exp.Expr, scope: Scope) -> exp.Expr:
    """The same with columns for stars among a function's arguments; it may be changed itself."""
    for call in list(expression.find_all(exp.Anonymous, exp.Array)):
        if call.find_ancestor(exp.Query) is not expression.find_ancestor(exp.Query):
            continue
        arguments: list[exp.Expr] = []
        for argument in call.expressions:
            is_star = star_of(argument) is not None
            shown = meant(context, argument, scope) if is_star else []
            if not all(each.sure for each in shown):
                raise NotLoweredError("NAMES_UNCLEAR", "a star over names that Spark made")
            arguments += [each.written for each in shown] if is_star else [argument]
        call.set("expressions", arguments)
    return expression
