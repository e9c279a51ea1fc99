"""What the top of a view's tree looks like: the part that decides how its table can be kept."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.vocabulary.algebra import (
    Aggregate,
    Distinct,
    Filter,
    Item,
    Node,
    Project,
    TopK,
    column,
    passed,
)


@dataclass(frozen=True)
class Grouped:
    """A projection of the groups of an aggregate, some of which a filter may hide."""

    project: Project
    filters: tuple[exp.Expr, ...]
    aggregate: Aggregate


def grouped_shape(root: Node) -> Grouped | None:
    """The aggregate at the top of a tree, if there is one; DISTINCT is one without aggregates."""
    project, below = _projection(root)
    filters: list[exp.Expr] = []
    while isinstance(below, Filter):
        filters.append(below.predicate)
        below = below.input
    if isinstance(below, Distinct):
        below, project, filters = _as_aggregate(below, project, filters)
    if not isinstance(below, Aggregate):
        return None
    return Grouped(project, tuple(filters), below)


def followed_top(root: Node) -> TopK | None:
    """First rows at the top of a tree, so and so many; some sort keys may be left out."""
    if isinstance(root, Project) and root.items == passed(root.input.columns[: len(root.items)]):
        root = root.input
    if not isinstance(root, TopK) or not root.order or root.limit is None:
        return None
    counts = [count for count in (root.limit, root.offset) if count is not None]
    plain = all(isinstance(count, exp.Literal) and count.is_int for count in counts)
    return root if plain else None


def _projection(root: Node) -> tuple[Project, Node]:
    """All projections at the top as one."""
    if not isinstance(root, Project):
        return Project(root, tuple(Item(id_, column(id_)) for id_ in root.columns)), root
    while isinstance(root.input, Project):
        root = _merged(root, root.input)
    return root, root.input


def _merged(outer: Project, inner: Project) -> Project:
    meaning = {item.id: item.expression for item in inner.items}

    def meant(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column):
            return exp.Paren(this=meaning[part.name].copy())
        return part

    items = []
    for item in outer.items:
        if isinstance(item.expression, exp.Column):
            items.append(Item(item.id, meaning[item.expression.name]))
        else:
            items.append(Item(item.id, item.expression.copy().transform(meant)))
    return Project(inner.input, tuple(items))


def _as_aggregate(
    distinct: Distinct, project: Project, filters: list[exp.Expr]
) -> tuple[Aggregate, Project, list[exp.Expr]]:
    """δ(R) = γ with every column a key; new ids, because the old ones name the input."""
    fresh = {id_: f"{id_}_key" for id_ in distinct.columns}
    keys = tuple(Item(fresh[id_], column(id_)) for id_ in distinct.columns)

    def renamed(expression: exp.Expr) -> exp.Expr:
        return expression.copy().transform(
            lambda part: column(fresh[part.name]) if isinstance(part, exp.Column) else part
        )

    aggregate = Aggregate(distinct.input, keys, ())
    items = tuple(Item(item.id, renamed(item.expression)) for item in project.items)
    return aggregate, Project(aggregate, items), [renamed(predicate) for predicate in filters]


def rebuilt(shape: Grouped, items: tuple[Item, ...], aggregates: tuple[Item, ...]) -> Project:
    """The same shape with other output and more aggregates."""
    aggregate = shape.aggregate
    below: Node = Aggregate(aggregate.input, aggregate.keys, aggregates)
    for predicate in reversed(shape.filters):
        below = Filter(below, predicate)
    return Project(below, items)
