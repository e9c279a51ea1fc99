"""Random views over the whole width of the SQL that Headwater understands, nested at will."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.laws import shapes, uncertain
from tests.laws.calls import aggregates, expressions
from tests.laws.relation import Relation, Scope
from tests.laws.schema import NUMERIC, Column, Table

Shape = Callable[["ViewWriter", int], Relation]


class ViewWriter:
    """Writes one random query; every choice comes from the given random source."""

    def __init__(
        self,
        random: Random,
        tables: tuple[Table, ...],
        depth: int = 3,
        families: tuple[str, ...] = (),
    ) -> None:
        self.random = random
        self.tables = tables
        self.depth = depth
        self._aliases = 0
        chosen = families or tuple(FAMILIES)
        self._shapes = [shape for family in chosen for shape in FAMILIES[family]]

    def query(self) -> str:
        return self.relation(self.depth).sql

    # --- relations ------------------------------------------------------------------------------

    def alias(self) -> str:
        self._aliases += 1
        return f"q{self._aliases}"

    def relation(self, depth: int) -> Relation:
        if depth <= 0:
            return self.plain(depth)
        return self.random.choice(self._shapes)(self, depth)

    def source(self, depth: int) -> tuple[str, Relation]:
        """A table or a derived table, under an alias."""
        alias = self.alias()
        if depth <= 1 or self.random.random() < 0.5:
            table = self.random.choice(self.tables)
            return f"{table.name} AS {alias}", Relation(table.name, table.columns)
        inner = self.relation(depth - 1)
        return f"({inner.sql}) AS {alias}", inner

    def items(self, scope: Scope) -> tuple[str, tuple[Column, ...]]:
        """Between one and four expressions; the first integers are called k and g again."""
        chosen = [self.random.choice(scope) for _ in range(self.random.randint(1, 3))]
        integers = [pair for pair in scope if pair[1].type == "int"]
        if integers:
            chosen = [self.random.choice(integers), self.random.choice(integers), *chosen]
        columns, parts = [], []
        for number, (alias, column) in enumerate(chosen):
            name = ("k", "g")[number] if integers and number < 2 else f"x{number}"
            sql, type_ = self._expression(f"{alias}.{column.name}", column.type)
            if name in {"k", "g"}:
                sql, type_ = f"{alias}.{column.name}", "int"
            parts.append(f"{sql} AS {name}")
            columns.append(Column(name, type_))
        return ", ".join(parts), tuple(columns)

    def _expression(self, sql: str, type_: str) -> tuple[str, str]:
        """Often the column itself, sometimes something computed from it."""
        if self.random.random() < 0.6:
            return sql, type_
        return self.random.choice(expressions(sql, type_))

    def predicate(self, scope: list[tuple[str, Column]]) -> str:
        alias, column = self.random.choice(scope)
        sql = f"{alias}.{column.name}"
        simple = {
            "int": [
                f"{sql} > 0",
                f"{sql} IN (1, 2)",
                f"{sql} IS NULL",
                f"{sql} <=> 1",
                f"{sql} BETWEEN 0 AND 2",
            ],
            "string": [f"{sql} LIKE 'a%'", f"{sql} <> ''", f"{sql} IS NOT NULL"],
            "boolean": [sql, f"NOT {sql}"],
            "double": [f"{sql} < 1", f"NOT isnan({sql})"],
        }
        first = self.random.choice(simple.get(column.type, [f"{sql} IS NOT NULL"]))
        if self.random.random() < 0.3:
            word = self.random.choice(["AND", "OR"])
            return f"({first} {word} {self.predicate(scope)})"
        return first

    def where(self, scope: list[tuple[str, Column]]) -> str:
        return f" WHERE {self.predicate(scope)}" if self.random.random() < 0.5 else ""

    # --- shapes ---------------------------------------------------------------------------------

    def plain(self, depth: int) -> Relation:
        source, relation = self.source(depth)
        alias = source.rsplit(" AS ", 1)[1]
        scope = [(alias, c) for c in relation.columns]
        items, columns = self.items(scope)
        return Relation(f"SELECT {items} FROM {source}{self.where(scope)}", columns)

    def joined(self, depth: int, kind: str) -> tuple[str, list[tuple[str, Column]]]:
        left, one = self.source(depth)
        right, two = self.source(depth)
        a, b = (text.rsplit(" AS ", 1)[1] for text in (left, right))
        scope = [(a, c) for c in one.columns] + [(b, c) for c in two.columns]
        condition = self.condition(a, one, b, two)
        return f"{left} {kind} {right}{condition}", scope

    def condition(self, a: str, one: Relation, b: str, two: Relation) -> str:
        types = NUMERIC if self.random.random() < 0.3 else ("int",)
        mine, theirs = one.of_type(*types), two.of_type(*types)
        if not mine or not theirs:
            return " ON TRUE"
        left, right = self.random.choice(mine).name, self.random.choice(theirs).name
        operator = self.random.choice(["=", "=", "=", "<=>", "<"])
        extra = f" AND {b}.{right} > 0" if self.random.random() < 0.2 else ""
        return f" ON {a}.{left} {operator} {b}.{right}{extra}"

    def _join(self, depth: int) -> Relation:
        source, scope = self.joined(depth, "JOIN")
        items, columns = self.items(scope)
        return Relation(f"SELECT {items} FROM {source}{self.where(scope)}", columns)

    def _outer(self, depth: int) -> Relation:
        kind = self.random.choice(["LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        source, scope = self.joined(depth, kind)
        items, columns = self.items(scope)
        return Relation(f"SELECT {items} FROM {source}{self.where(scope)}", columns)

    def aggregates(self, scope: list[tuple[str, Column]]) -> list[tuple[str, Column]]:
        found = []
        for number in range(self.random.randint(1, 3)):
            alias, column = self.random.choice(scope)
            sql = f"{alias}.{column.name}"
            text, type_ = self.random.choice(aggregates(sql, column.type))
            found.append((text, Column(f"a{number}", type_)))
        return found

    def _grouped(self, depth: int) -> tuple[str, str, list[tuple[str, Column]], Relation]:
        if self.random.random() < 0.4:
            source, scope = self.joined(depth, "JOIN")
        else:
            source, relation = self.source(depth)
            scope = [(source.rsplit(" AS ", 1)[1], c) for c in relation.columns]
        keys = [self.random.choice(scope) for _ in range(self.random.choice([0, 1, 1, 1, 2]))]
        keys = list(dict.fromkeys(keys))
        shown, columns = [], []
        for number, (alias, column) in enumerate(keys):
            name = "k" if column.type == "int" and number == 0 else f"y{number}"
            shown.append(f"{alias}.{column.name} AS {name}")
            columns.append(Column(name, column.type))
        aggregates = self.aggregates(scope)
        shown += [f"{text} AS {column.name}" for text, column in aggregates]
        columns += [column for _, column in aggregates]
        by = ", ".join(f"{alias}.{column.name}" for alias, column in keys)
        group = f" GROUP BY {by}" if keys else ""
        sql = f"SELECT {', '.join(shown)} FROM {source}{self.where(scope)}{group}"
        return sql, group, aggregates, Relation(sql, tuple(columns))

    def _aggregate(self, depth: int) -> Relation:
        return self._grouped(depth)[3]

    def _having(self, depth: int) -> Relation:
        sql, group, _, relation = self._grouped(depth)
        if not group:
            return relation
        condition = self.random.choice(["count(*) > 1", "count(*) = 1", "NOT count(*) > 2"])
        return Relation(f"{sql} HAVING {condition}", relation.columns)

    def _distinct(self, depth: int) -> Relation:
        inner = self.plain(depth)
        return Relation(inner.sql.replace("SELECT", "SELECT DISTINCT", 1), inner.columns)

    def same_shape(self, depth: int) -> tuple[str, str, tuple[Column, ...]] | None:
        """Two queries of the same columns; the third may need Spark to find a common type."""
        sources = self.source(depth), self.source(depth)
        wide = self.random.random() < 0.4
        sides = []
        for source, relation in sources:
            alias = source.rsplit(" AS ", 1)[1]
            integers = relation.of_type("int")
            if not integers:
                return None
            scope = [(alias, c) for c in relation.columns]
            names = [self.random.choice(integers).name for _ in range(2)]
            other = self.random.choice(relation.of_type(*NUMERIC)).name
            third = f", {alias}.{other} AS x" if wide else ""
            sides.append(
                f"SELECT {alias}.{names[0]} AS k, {alias}.{names[1]} AS g{third} FROM {source}"
                f"{self.where(scope)}"
            )
        common = (Column("x", "other"),) if wide else ()
        return sides[0], sides[1], (Column("k", "int"), Column("g", "int"), *common)

    def _union(self, depth: int) -> Relation:
        made = self.same_shape(depth)
        if made is None:
            return self.plain(depth)
        word = self.random.choice(["UNION ALL", "UNION ALL", "UNION"])
        return Relation(f"{made[0]} {word} {made[1]}", made[2])

    def _set_operation(self, depth: int) -> Relation:
        made = self.same_shape(depth)
        if made is None:
            return self.plain(depth)
        word = self.random.choice(["EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"])
        return Relation(f"{made[0]} {word} {made[1]}", made[2])

    def _window(self, depth: int) -> Relation:
        source, relation = self.source(depth)
        alias = source.rsplit(" AS ", 1)[1]
        integers = relation.of_type("int")
        if not integers:
            return self.plain(depth)
        part, value = (self.random.choice(integers).name for _ in range(2))
        order = ", ".join(f"{alias}.{c.name}" for c in relation.columns)
        over = f"OVER (PARTITION BY {alias}.{part} ORDER BY {order})"
        function = self.random.choice(
            [
                f"sum({alias}.{value}) OVER (PARTITION BY {alias}.{part})",
                f"row_number() {over}",
                f"lag({alias}.{value}) {over}",
                f"rank() {over}",
                f"count(*) OVER (PARTITION BY {alias}.{part})",
            ]
        )
        sql = f"SELECT {alias}.{part} AS k, {alias}.{value} AS g, {function} AS w FROM {source}"
        return Relation(sql, (Column("k", "int"), Column("g", "int"), Column("w", "bigint")))

    def _exists(self, depth: int) -> Relation:
        source, relation = self.source(depth)
        alias = source.rsplit(" AS ", 1)[1]
        integers = relation.of_type("int")
        table = self.random.choice(self.tables)
        if not integers:
            return self.plain(depth)
        mine = self.random.choice(integers).name
        inner = f"SELECT 1 FROM {table.name} AS e WHERE e.k = {alias}.{mine}"
        condition = self.random.choice(
            [
                f"EXISTS ({inner})",
                f"NOT EXISTS ({inner})",
                f"{alias}.{mine} IN (SELECT e.g FROM {table.name} AS e WHERE e.k > 0)",
            ]
        )
        items, columns = self.items([(alias, c) for c in relation.columns])
        return Relation(f"SELECT {items} FROM {source} WHERE {condition}", columns)

    def _top(self, depth: int) -> Relation:
        inner = self.same_shape(depth)
        if inner is None:
            return self.plain(depth)
        limit = self.random.randint(1, 4)
        sql = f"SELECT DISTINCT z.k, z.g FROM ({inner[0]}) AS z ORDER BY z.k, z.g LIMIT {limit}"
        return Relation(sql, inner[2][:2])


FAMILIES: dict[str, tuple[Shape, ...]] = {
    "plain": (ViewWriter.plain, ViewWriter._distinct),
    "join": (ViewWriter._join, ViewWriter._outer, shapes.semi_join, shapes.using_join),
    "aggregate": (ViewWriter._aggregate, ViewWriter._aggregate, ViewWriter._having),
    "grouping": (shapes.grouping_sets,),
    "session": (shapes.sessions,),
    "set": (ViewWriter._union, ViewWriter._set_operation, shapes.set_limit),
    "window": (ViewWriter._window, shapes.frame, shapes.qualify, shapes.named_window),
    "over all": (shapes.over_all,),
    "exists": (ViewWriter._exists, shapes.marks, shapes.mark_in_select),
    "scalar": (shapes.scalar, shapes.correlated, shapes.scalar_filter, shapes.having_subquery),
    "lateral": (shapes.explode, shapes.select_explode, shapes.lateral, shapes.lateral_top),
    "top": (ViewWriter._top,),
    "pivot": (shapes.pivot, shapes.unpivot),
    "cte": (shapes.shared_cte, shapes.values_join),
    "clock": (uncertain.clocked,),
    "ties": (uncertain.tied_rows, uncertain.tied_values, uncertain.tied_top),
}
"""Constructs by kind; a soak may be kept to some of them."""

TOLD_BY_TEXT = tuple(family for family in FAMILIES if family not in {"clock", "ties"})
"""Those whose rows follow from the query's text and its tables alone."""
