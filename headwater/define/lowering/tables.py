"""FROM and JOIN."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from headwater.define.lowering import functions
from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import all_of, function_name, resolve
from headwater.define.lowering.generators import generated
from headwater.define.lowering.lateral import generate, lateral_join
from headwater.define.lowering.on import joined_on
from headwater.define.lowering.pivot import pivoted
from headwater.define.lowering.refusal import (
    NameProblem,
    NameProblemError,
    NotLoweredError,
    position,
)
from headwater.define.lowering.scope import Entry, Scope
from headwater.define.lowering.subquery import Sub
from headwater.vocabulary.algebra import (
    Item,
    Join,
    JoinKind,
    Node,
    Opaque,
    Project,
    column,
)
from headwater.vocabulary.dialect import written

_TABLE_CLAUSES = ("version", "when", "hints", "sample", "system_time", "changes", "only")


def from_clause(context: Lowering, select: exp.Select, outer: Scope | None) -> tuple[Node, Scope]:
    """Everything between FROM and WHERE."""
    start = select.args.get("from_")
    if start is None:
        one_row = exp.select(exp.alias_(exp.Literal.number(1), "one", quoted=True))
        constant = Opaque(one_row, (), (context.fresh("one"),), "VALUES: one row")
        return constant, Scope((), outer)
    node, scope = _with_joins(context, start.this, select.args.get("joins") or [], outer)
    for lateral in select.args.get("laterals") or []:
        node, scope = generate(context, node, replace(scope, outer=outer), lateral)
    return node, replace(scope, outer=outer)


def _with_joins(
    context: Lowering, first: exp.Expr, joins: list[exp.Join], outer: Scope | None
) -> tuple[Node, Scope]:
    node, scope = _relation(context, first, outer)
    for join in joins:
        if isinstance(join.this, exp.Lateral):
            node, scope = lateral_join(context, node, replace(scope, outer=outer), join)
        else:
            node, scope = _join(context, node, scope, join, outer)
    return node, scope


def _relation(context: Lowering, item: exp.Expr, outer: Scope | None) -> tuple[Node, Scope]:
    if isinstance(item, exp.Table):
        return _table(context, item, outer)
    if isinstance(item, exp.Subquery):
        return _subquery(context, item, outer)
    if isinstance(item, exp.Values):
        return values(context, item)
    if isinstance(item, exp.Select):
        return context.query(context, item, outer)
    raise NotLoweredError("TABLE_EXPRESSION", f"{type(item).__name__} in FROM")


def _table(context: Lowering, item: exp.Table, outer: Scope | None) -> tuple[Node, Scope]:
    if any(item.args.get(clause) for clause in _TABLE_CLAUSES) or item.args.get("db"):
        raise NotLoweredError("TABLE_CLAUSE", f"a clause on table {item.name}")
    if not isinstance(item.this, exp.Identifier):
        node, scope = _made(context, item)
    else:
        node, scope = _named(context, item)
        scope = scope.renamed(item.alias or item.name, _alias_columns(item))
    node, scope = pivoted(context, node, scope, item)
    if item.args.get("joins"):
        return _joined_to(context, node, scope, item.args["joins"], outer)
    return node, scope


def _named(context: Lowering, item: exp.Table) -> tuple[Node, Scope]:
    found = context.cte(item.name)
    if found is not None:
        cte, inside = found
        node, scope = context.query(inside, cte.this, None)
        return node, scope.renamed(cte.alias, _alias_columns(cte))
    source = item.name.lower()
    if source not in context.catalog:
        line, start = position(item)
        raise NameProblemError(
            NameProblem(
                "UNKNOWN_TABLE",
                f"no source or view `{item.name}`",
                line,
                start,
                item.name,
                tuple(context.catalog),
            )
        )
    return context.scan(source, item.alias or item.name)


def _joined_to(
    context: Lowering, node: Node, scope: Scope, joins: list[exp.Join], outer: Scope | None
) -> tuple[Node, Scope]:
    for join in joins:
        node, scope = _join(context, node, scope, join, outer)
    return node, scope


def _subquery(context: Lowering, item: exp.Subquery, outer: Scope | None) -> tuple[Node, Scope]:
    if item.args.get("sample"):
        raise NotLoweredError("TABLE_CLAUSE", "a sample of a derived table")
    if item.args.get("limit") or item.args.get("offset"):
        raise NotLoweredError("LIMIT", "a LIMIT behind brackets")
    if isinstance(item.this, (exp.Table, exp.Subquery)) and not item.alias:
        node, scope = _relation(context, item.this, outer)
    elif isinstance(item.this, exp.Table):
        node, scope = _relation(context, item.this, outer)
        scope = scope.renamed(item.alias, _alias_columns(item))
    else:
        inside = context.with_ctes((item.args.get("with_") or exp.With()).expressions or [])
        node, scope = context.query(inside, item.this, outer)
        scope = scope.renamed(item.alias or None, _alias_columns(item))
    node, scope = pivoted(context, node, scope, item)
    return _joined_to(context, node, scope, item.args.get("joins") or [], outer)


def _made(context: Lowering, item: exp.Table) -> tuple[Node, Scope]:
    """range(...), or a generator over constants, reads no table: constant rows."""
    call = item.this
    name = function_name(call) if isinstance(call, exp.Func) else None
    arguments = list(call.iter_expressions())
    known = name == "range" or (name in functions.GENERATORS and arguments)
    if name is None or not known or call.find(exp.Column, exp.Query):
        raise NotLoweredError("TABLE_FUNCTION", f"a table function in FROM: {written(item)}")
    resolved = [resolve(context, argument, Scope()) for argument in arguments]
    given = _alias_columns(item) or (("id",) if name == "range" else ())
    made = generated(context, name, resolved, given)
    query = exp.select("*").from_(exp.Table(this=call.copy()))
    pairs = zip(made.labels, made.ids, strict=True)
    scope = Scope(tuple(Entry(n, i, item.alias or None, sure=made.sure) for n, i in pairs))
    return Opaque(query, (), made.ids, "VALUES: constant rows"), scope


def values(context: Lowering, item: exp.Values) -> tuple[Node, Scope]:
    rows = item.expressions
    width = len(rows[0].expressions) if isinstance(rows[0], exp.Tuple) else 1
    names = _alias_columns(item) or tuple(f"col{n}" for n in range(1, width + 1))
    ids = tuple(context.fresh(name) for name in names)
    bare = exp.Values(expressions=[row.copy() for row in rows])
    query = exp.select("*").from_(exp.alias_(bare, "v", table=list(ids)))
    scope = Scope(tuple(Entry(n, i, item.alias or None) for n, i in zip(names, ids, strict=True)))
    return Opaque(query, (), ids, "VALUES: constant rows"), scope


def _alias_columns(item: exp.Expr) -> tuple[str, ...]:
    alias = item.args.get("alias")
    return tuple(c.name for c in alias.columns) if isinstance(alias, exp.TableAlias) else ()


def _join(
    context: Lowering, left: Node, scope: Scope, join: exp.Join, outer: Scope | None
) -> tuple[Node, Scope]:
    kind = _kind(join)
    if join.args.get("pivots") or join.this.args.get("pivots"):
        raise NotLoweredError("PIVOT", "a pivot of a join")
    right, right_scope = _relation(context, join.this, outer)
    names = _shared_names(join, scope, right_scope)
    both = replace(scope.beside(right_scope), outer=outer)
    if names is not None:
        return _using(context, left, right, kind, (scope, right_scope), names)
    on = resolve(context, join.args["on"], both) if join.args.get("on") else None
    if on is not None and on.find(Sub):
        node = joined_on(context, left, right, kind, on)
        return node, (both if kind.keeps_right else scope)
    if on is None and kind is not JoinKind.INNER:
        on = exp.true() if kind is not JoinKind.CROSS else None
    if on is None:
        kind = JoinKind.CROSS
    node = Join(left, right, kind, on)
    return node, (both if kind.keeps_right else scope)


def _kind(join: exp.Join) -> JoinKind:
    side, kind = join.side.upper(), join.kind.upper()
    if kind in {"SEMI", "ANTI"}:
        if side == "RIGHT":
            raise NotLoweredError("JOIN_KIND", f"RIGHT {kind} join")
        return JoinKind.SEMI if kind == "SEMI" else JoinKind.ANTI
    if side in {"LEFT", "RIGHT", "FULL"}:
        return JoinKind(side)
    if kind in {"", "INNER", "CROSS"}:
        return JoinKind.CROSS if kind == "CROSS" and not join.args.get("on") else JoinKind.INNER
    raise NotLoweredError("JOIN_KIND", f"{side} {kind} join")


def _shared_names(join: exp.Join, left: Scope, right: Scope) -> list[str] | None:
    if join.args.get("using"):
        return [name.name for name in join.args["using"]]
    if (join.method or "").upper() == "NATURAL":
        if not all(entry.sure for entry in (*left.star(), *right.star())):
            raise NotLoweredError("NAMES_UNCLEAR", "a NATURAL join over names that Spark made")
        mine = {entry.name.lower() for entry in right.star()}
        shared: dict[str, str] = {}
        for entry in left.star():
            if entry.name.lower() in mine:
                shared.setdefault(entry.name.lower(), entry.name)
        return list(shared.values())
    return None


def _using(
    context: Lowering,
    left: Node,
    right: Node,
    kind: JoinKind,
    scopes: tuple[Scope, Scope],
    names: list[str],
) -> tuple[Node, Scope]:
    """One shared column per name: the kept side's, or of both for a full join."""
    pairs = [(name, _id_of(scopes[0], name), _id_of(scopes[1], name)) for name in names]
    on = all_of([exp.EQ(this=column(mine), expression=column(other)) for _, mine, other in pairs])
    if not pairs and kind is JoinKind.INNER:
        kind = JoinKind.CROSS
    node: Node = Join(left, right, kind, on if pairs or kind is JoinKind.CROSS else exp.true())
    if not kind.keeps_right:
        keys = [e for _, mine, _ in pairs for e in scopes[0].entries if e.id == mine]
        return node, replace(scopes[0], entries=tuple(dict.fromkeys((*keys, *scopes[0].entries))))
    shared: list[Entry] = []
    if kind is JoinKind.FULL and pairs:
        merged = [Item(context.fresh(name), _coalesce(mine, other)) for name, mine, other in pairs]
        kept = tuple(Item(id_, column(id_)) for id_ in node.columns)
        node = Project(node, (*kept, *merged))
        shared = [Entry(n, item.id, None) for (n, _, _), item in zip(pairs, merged, strict=True)]
    lost = {"LEFT": 1, "INNER": 1, "CROSS": 1, "RIGHT": 0}.get(kind.value)
    hidden = {p[1] for p in pairs if lost != 1} | {p[2] for p in pairs if lost != 0}
    if lost is not None:
        kept_ids = [p[1 if lost == 1 else 2] for p in pairs]
        shared = [e for id_ in kept_ids for s in scopes for e in s.entries if e.id == id_]
    hidden -= {entry.id for entry in shared}
    shared_ids = {entry.id for entry in shared}
    rest = [e for s in scopes for e in s.entries if e.id not in shared_ids]
    order = [pair[side] for side in (1, 2) for pair in pairs if pair[side] in hidden]
    lost_ones = [replace(e, hidden=True) for id_ in order for e in rest if e.id == id_]
    others = [e for e in rest if e.id not in hidden]
    return node, Scope((*shared, *lost_ones, *others), scopes[0].outer)


def _coalesce(left: str, right: str) -> exp.Expr:
    return exp.Coalesce(this=column(left), expressions=[column(right)])


def _id_of(scope: Scope, name: str) -> str:
    """Of several columns of the name Spark takes the first."""
    found = next((e.id for e in scope.star() if e.answers(name)), None)
    if found is None:
        raise NameProblemError(
            NameProblem(
                "UNKNOWN_COLUMN",
                f"USING column `{name}` is missing on one side",
                1,
                1,
                name,
                scope.names(),
            )
        )
    return found
