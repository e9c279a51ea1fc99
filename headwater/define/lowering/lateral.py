"""LATERAL: rows that each row on the left brings with it.

FROM r, LATERAL (SELECT s.a FROM s WHERE s.k = r.k)          ->  r ⋈ s ON s.k = r.k
FROM r, LATERAL (SELECT count(*) FROM s WHERE s.k = r.k)     ->  r ⋈ γ_k(δ_k(r) ⟕ s)
FROM r LATERAL VIEW explode(r.list)                          ->  a generator
"""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering import functions
from headwater.define.lowering.attach import Attaching, refuse_left
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.depend import depend
from headwater.define.lowering.expressions import all_of, function_name, resolve
from headwater.define.lowering.free import free_columns
from headwater.define.lowering.generators import generated
from headwater.define.lowering.lift import lift
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Entry, Scope
from headwater.vocabulary.algebra import Filter, Generate, Join, JoinKind, Node, column


def lateral_join(context: Lowering, node: Node, scope: Scope, join: exp.Join) -> tuple[Node, Scope]:
    """A comma or JOIN before LATERAL."""
    lateral = join.this
    kind = _kind(join)
    if not isinstance(lateral.this, exp.Query):
        if kind is JoinKind.LEFT:  # not LATERAL VIEW OUTER: Spark leaves out rows with NULL
            raise NotLoweredError("LATERAL", "LEFT JOIN LATERAL of a generator")
        node, scope = generate(context, node, scope, lateral)
        return _where(context, node, scope, join.args.get("on")), scope
    inner, shown = context.query(context, lateral.this, scope)
    shown = shown.renamed(lateral.alias or None, _alias_columns(lateral))
    both = scope.beside(shown)
    on = [resolve(context, join.args["on"], both)] if join.args.get("on") else []
    for part in on:
        refuse_left(part)
    right, conditions = _beside(context, node, inner)
    condition = all_of([*conditions, *on])
    if condition is None:
        kind = JoinKind.CROSS if kind is JoinKind.INNER else kind
        condition = exp.true() if kind is not JoinKind.CROSS else None
    return Join(node, right, kind, condition), both


def _where(context: Lowering, node: Node, scope: Scope, on: exp.Expr | None) -> Node:
    """A condition on what a generator makes."""
    if on is None or on == exp.true():
        return node
    condition = resolve(context, on, scope)
    refuse_left(condition)
    return Filter(node, condition)


def _kind(join: exp.Join) -> JoinKind:
    if join.args.get("using") or (join.method or "").upper() == "NATURAL":
        raise NotLoweredError("LATERAL", "a lateral join with USING or NATURAL")
    if join.side.upper() == "LEFT" and join.kind.upper() in {"", "OUTER"}:
        return JoinKind.LEFT
    if not join.side and join.kind.upper() in {"", "CROSS", "INNER"}:
        return JoinKind.INNER
    raise NotLoweredError("LATERAL", f"a {join.side} {join.kind} join with LATERAL")


def _beside(context: Lowering, node: Node, inner: Node) -> tuple[Node, list[exp.Expr]]:
    outer = free_columns(inner)
    lifted = lift(inner, frozenset(outer))
    if lifted is not None:
        return lifted
    asked = [column(id_) for id_ in outer]
    domain = Attaching.to(context, node).domain(inner, outer, list(asked))
    right, meaning = depend(inner, domain)
    return right, [
        exp.NullSafeEQ(this=column(id_), expression=column(meaning[id_])) for id_ in outer
    ]


def generate(
    context: Lowering, node: Node, scope: Scope, lateral: exp.Lateral
) -> tuple[Node, Scope]:
    """LATERAL VIEW [OUTER] and LATERAL of a generator function."""
    call = lateral.this
    name = function_name(call) if isinstance(call, exp.Func) else None
    if name is None or name not in functions.GENERATORS:
        raise NotLoweredError("TABLE_FUNCTION", f"the table function {name}")
    attaching = Attaching.to(context, node)
    resolved = [resolve(context, argument, scope) for argument in call.iter_expressions()]
    arguments = [attaching.values(argument) for argument in resolved]
    generator = exp.Anonymous(this=name, expressions=arguments)
    made = generated(context, name, arguments, _alias_columns(lateral))
    pairs = zip(made.labels, made.ids, strict=True)
    shown = Scope(tuple(Entry(n, i, lateral.alias or None, sure=made.sure) for n, i in pairs))
    is_outer = bool(lateral.args.get("outer"))
    return Generate(attaching.node, generator, made.ids, is_outer), scope.beside(shown)


def _alias_columns(item: exp.Expr) -> tuple[str, ...]:
    alias = item.args.get("alias")
    return tuple(c.name for c in alias.columns) if isinstance(alias, exp.TableAlias) else ()
