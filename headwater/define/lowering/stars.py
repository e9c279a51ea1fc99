"""A star, and the columns that it stands for: struct(*) -> struct(a, b)."""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Entry, Scope


def star_of(written: exp.Expr) -> exp.Star | None:
    """`*` or `relation.*`, whatever it leaves out."""
    star = written.this if isinstance(written, exp.Column) else written
    return star if isinstance(star, exp.Star) else None


def meant(written: exp.Expr, scope: Scope) -> list[Entry]:
    """The columns that a star stands for."""
    star = star_of(written)
    if star is None or star.args.get("replace") or star.args.get("rename"):
        raise NotLoweredError("STAR", "a star with REPLACE or RENAME")
    left_out = {c.name.lower() for c in star.args.get("except_") or []}
    relation = written.table if isinstance(written, exp.Column) else None
    entries = scope.star(relation or None)
    if not entries:
        raise NotLoweredError("STAR", f"{relation}.* is no relation in scope")
    return [entry for entry in entries if entry.name.lower() not in left_out]


def with_stars(expression: exp.Expr, scope: Scope) -> exp.Expr:
    """The same with columns for stars among a function's arguments; it may be changed itself."""
    for call in list(expression.find_all(exp.Anonymous, exp.Array)):
        if call.find_ancestor(exp.Query) is not expression.find_ancestor(exp.Query):
            continue
        arguments: list[exp.Expr] = []
        for argument in call.expressions:
            is_star = star_of(argument) is not None
            arguments += map(_column, meant(argument, scope)) if is_star else [argument]
        call.set("expressions", arguments)
    return expression


def _column(entry: Entry) -> exp.Expr:
    return exp.column(entry.name, table=entry.relation, quoted=True)
