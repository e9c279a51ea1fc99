"""Random queries around one construct each; what stands below them is random again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.laws.relation import Relation, Scope
from tests.laws.schema import NUMERIC, Column

if TYPE_CHECKING:
    from tests.laws.views import ViewWriter

KG = (Column("k", "int"), Column("g", "int"))


def rows(w: ViewWriter, depth: int) -> tuple[str, str, Relation, Scope]:
    """FROM text, its alias, and what may be named; it always has an int."""
    for _ in range(4):
        source, relation = w.source(depth)
        if relation.of_type("int"):
            break
    else:
        table = w.random.choice(w.tables)
        source, relation = f"{table.name} AS {w.alias()}", Relation(table.name, table.columns)
    alias = source.rsplit(" AS ", 1)[1]
    return source, alias, relation, [(alias, c) for c in relation.columns]


def an_int(w: ViewWriter, alias: str, relation: Relation) -> str:
    return f"{alias}.{w.random.choice(relation.of_type('int')).name}"


def a_number(w: ViewWriter, alias: str, relation: Relation) -> str:
    """Mostly an int; sometimes of another type, so that a comparison must convert."""
    if w.random.random() < 0.7:
        return an_int(w, alias, relation)
    return f"{alias}.{w.random.choice(relation.of_type(*NUMERIC)).name}"


def inner(w: ViewWriter, depth: int) -> tuple[str, str, Relation]:
    """The rows of a sub-query: mostly a table, sometimes anything."""
    source, alias, relation, _ = rows(w, depth - 1 if w.random.random() < 0.4 else 0)
    return source, alias, relation


def correlation(w: ViewWriter, mine: str, theirs: str) -> str:
    operator = w.random.choice(["=", "=", "=", "<", "<=>", "="])
    extra = f" AND {theirs} > 0" if w.random.random() < 0.2 else ""
    return f"{theirs} {operator} {mine}{extra}"


def semi_join(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    other, b, two = inner(w, depth)
    kind = w.random.choice(["LEFT SEMI JOIN", "LEFT ANTI JOIN"])
    on = correlation(w, a_number(w, alias, relation), a_number(w, b, two))
    items, columns = w.items(scope)
    return Relation(f"SELECT {items} FROM {source} {kind} {other} ON {on}{w.where(scope)}", columns)


def using_join(w: ViewWriter, depth: int) -> Relation:
    one, two = w.random.choice(w.tables), w.random.choice(w.tables)
    kind = w.random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    a, b = w.alias(), w.alias()
    sql = f"SELECT k, {a}.g AS g FROM {one.name} AS {a} {kind} {two.name} AS {b} USING (k)"
    return Relation(sql, KG)


def scalar_call(w: ViewWriter, alias: str, relation: Relation) -> str:
    value = an_int(w, alias, relation)
    return w.random.choice(
        [
            f"max({value})",
            "count(*)",
            f"sum({value})",
            f"count(DISTINCT {value})",
            f"coalesce(sum({value}), -1) + count({value})",
            f"min({value}) FILTER (WHERE {value} > 0)",
        ]
    )


def scalar(w: ViewWriter, depth: int) -> Relation:
    source, _, _, scope = rows(w, depth)
    other, b, two = inner(w, depth)
    items, columns = w.items(scope)
    query = f"SELECT {scalar_call(w, b, two)} FROM {other}"
    if w.random.random() < 0.3:
        query += f" WHERE {an_int(w, b, two)} > 0"
    if w.random.random() < 0.2:
        query += " HAVING count(*) > 1"
    sql = f"SELECT {items}, ({query}) AS sub FROM {source}{w.where(scope)}"
    return Relation(sql, (*columns, Column("sub", "bigint")))


def correlated(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    other, b, two = inner(w, depth)
    items, columns = w.items(scope)
    on = correlation(w, a_number(w, alias, relation), a_number(w, b, two))
    sql = (
        f"SELECT {items}, (SELECT {scalar_call(w, b, two)} FROM {other} WHERE {on}) AS sub "
        f"FROM {source}{w.where(scope)}"
    )
    return Relation(sql, (*columns, Column("sub", "bigint")))


def scalar_filter(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    other, b, two = inner(w, depth)
    items, columns = w.items(scope)
    mine = a_number(w, alias, relation)
    where = f" WHERE {correlation(w, mine, a_number(w, b, two))}" if w.random.random() < 0.6 else ""
    query = f"SELECT {scalar_call(w, b, two)} FROM {other}{where}"
    operator = w.random.choice(["<", ">=", "=", "<=>"])
    extra = w.random.choice(["", "", f" OR {w.predicate(scope)}"])
    return Relation(
        f"SELECT {items} FROM {source} WHERE {mine} {operator} ({query}){extra}", columns
    )


def having_subquery(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    other, b, two = inner(w, depth)
    key, value, theirs = (
        an_int(w, alias, relation), an_int(w, alias, relation), an_int(w, b, two)
    )  # fmt: skip
    condition = w.random.choice(
        [
            f"count(*) > (SELECT count(DISTINCT {theirs}) FROM {other})",
            f"{key} IN (SELECT {theirs} FROM {other})",
            f"{key} NOT IN (SELECT {theirs} FROM {other})",
            f"max({value}) >= (SELECT min({theirs}) FROM {other} WHERE {theirs} = {key})",
            f"EXISTS (SELECT 1 FROM {other} WHERE {theirs} = {key})",
        ]
    )
    sql = (
        f"SELECT {key} AS k, max({value}) AS g FROM {source}{w.where(scope)} "
        f"GROUP BY {key} HAVING {condition}"
    )
    return Relation(sql, KG)


def asked(w: ViewWriter, mine: str, depth: int) -> str:
    """EXISTS, IN or NOT IN over something."""
    other, b, two = inner(w, depth)
    theirs, link = a_number(w, b, two), a_number(w, b, two)
    correlated_too = f" WHERE {correlation(w, mine, link)}" if w.random.random() < 0.4 else ""
    grouped = "" if correlated_too else w.random.choice(["", "", f" GROUP BY {theirs}"])
    return w.random.choice(
        [
            f"EXISTS (SELECT 1 FROM {other} WHERE {correlation(w, mine, link)})",
            f"NOT EXISTS (SELECT 1 FROM {other} WHERE {correlation(w, mine, link)})",
            f"EXISTS (SELECT 1 FROM {other} WHERE {link} > 2)",
            f"{mine} IN (SELECT {theirs} FROM {other}{correlated_too}{grouped})",
            f"{mine} NOT IN (SELECT {theirs} FROM {other}{correlated_too}{grouped})",
            f"({mine}, {mine} + 1) IN (SELECT {theirs}, {link} FROM {other})",
        ]
    )


def marks(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    items, columns = w.items(scope)
    one = asked(w, a_number(w, alias, relation), depth)
    two = asked(w, a_number(w, alias, relation), depth)
    condition = w.random.choice(
        [
            one,
            f"{one} AND {two}",
            f"{one} OR {w.predicate(scope)}",
            f"{one} OR {two}",
            f"NOT ({one} OR {w.predicate(scope)})",
        ]
    )
    return Relation(f"SELECT {items} FROM {source} WHERE {condition}", columns)


def mark_in_select(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    items, columns = w.items(scope)
    condition = asked(w, an_int(w, alias, relation), depth)
    shown = w.random.choice([f"CASE WHEN {condition} THEN 1 ELSE 0 END", f"if({condition}, 1, 2)"])
    sql = f"SELECT {items}, {shown} AS m FROM {source}{w.where(scope)}"
    return Relation(sql, (*columns, Column("m", "int")))


def sessions(w: ViewWriter, depth: int) -> Relation:
    """Rows a minute apart or more, some of them with a session's end in between."""
    source, alias, relation, scope = rows(w, depth)
    minutes, key, value = (an_int(w, alias, relation) for _ in range(3))
    gap = w.random.choice(["1 minute", "61 seconds", "2 minutes", "1 hour"])
    session = f"session_window(timestamp_seconds(CAST({minutes} AS BIGINT) * 60), '{gap}')"
    by, shown = w.random.choice([("", f"min({key})"), (f", {key}", key)])
    sql = (
        f"SELECT {shown} AS k, CAST(sum({value}) AS INT) AS g, session_window.start AS began, "
        f"session_window.end AS ended, count(*) AS n FROM {source}{w.where(scope)} "
        f"GROUP BY {session}{by}"
    )
    times = Column("began", "timestamp"), Column("ended", "timestamp")
    return Relation(sql, (*KG, *times, Column("n", "bigint")))


def grouping_sets(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    a, b = (f"{al}.{c.name}" for al, c in (w.random.choice(scope), w.random.choice(scope)))
    value = an_int(w, alias, relation)
    first, second = f"{a} AS x0", f"{b} AS x1"
    form = w.random.choice(
        [
            f"ROLLUP ({a}, {b})",
            f"CUBE ({a}, {b})",
            f"GROUPING SETS (({a}), ({b}), ())",
            f"{a}, ROLLUP ({b})",
            f"GROUPING SETS (({a}, {b}), ({a}), ({a}))",
        ]
    )
    call, type_ = w.random.choice([("sum", "bigint"), ("max", "int"), ("count", "bigint")])
    shown = f"{first}, {second}, grouping_id() AS gid, {call}({value}) AS s, max({value}) AS k"
    sql = f"SELECT {shown} FROM {source}{w.where(scope)} GROUP BY {form}"
    if w.random.random() < 0.3:
        sql += " HAVING count(*) > 1"
    types = [next(c.type for al, c in scope if f"{al}.{c.name}" == name) for name in (a, b)]
    columns = (
        Column("x0", types[0]),
        Column("x1", types[1]),
        Column("gid", "bigint"),
        Column("s", type_),
        Column("k", "int"),
    )
    return Relation(sql, columns)


def set_limit(w: ViewWriter, depth: int) -> Relation:
    made = w.same_shape(depth)
    if made is None:
        return w.plain(depth)
    word = w.random.choice(["UNION ALL", "UNION", "EXCEPT ALL"])
    tail = w.random.choice(["", f" LIMIT {w.random.randint(1, 4)}", " LIMIT 3 OFFSET 1"])
    order = ", ".join(column.name for column in made[2])
    return Relation(f"{made[0]} {word} {made[1]} ORDER BY {order}{tail}", made[2])


def all_columns(relation: Relation, alias: str) -> str:
    return ", ".join(f"{alias}.{c.name}" for c in relation.columns)


def frame(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    part, value = an_int(w, alias, relation), an_int(w, alias, relation)
    order = all_columns(relation, alias)
    way = w.random.choice(["", " DESC", " NULLS LAST", " DESC NULLS FIRST"])
    over = f"PARTITION BY {part} ORDER BY {value}{way}, {order}"
    near = f"PARTITION BY {part} ORDER BY {value}{way} RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING"
    function = w.random.choice(
        [
            f"sum({value}) OVER ({over} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
            f"max({value}) OVER ({over} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
            f"sum({value}) OVER ({near})",
            f"first_value({value}) OVER ({over})",
            f"min({value}) OVER ({over} ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
            f"lag({value}) OVER ({over})",
            f"sum({value}) OVER (PARTITION BY {part} ORDER BY {value}{way})",
            f"ntile(2) OVER ({over})",
            f"count({value}) OVER (PARTITION BY {part} ORDER BY {value})",
            f"lead({value}, 2, 0) OVER ({over})",
            f"sum({value}) OVER (ORDER BY {order})",
        ]
    )
    sql = f"SELECT {part} AS k, {value} AS g, {function} AS w FROM {source}{w.where(scope)}"
    return Relation(sql, (*KG, Column("w", "bigint")))


def over_all(w: ViewWriter, depth: int) -> Relation:
    """Two functions that have no partition in common, of what is shown and of what is not."""
    source, alias, relation, scope = rows(w, depth)
    part, value = an_int(w, alias, relation), an_int(w, alias, relation)
    shown, order = an_int(w, alias, relation), all_columns(relation, alias)
    first = w.random.choice(
        [
            f"rank() OVER (ORDER BY {value} DESC)",
            f"sum({value}) OVER ()",
            f"row_number() OVER (ORDER BY {order})",
            f"max({value}) OVER (ORDER BY {order} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
        ]
    )
    second = w.random.choice(
        [f"sum({value}) OVER (PARTITION BY {part})", f"{shown} - max({value}) OVER ()"]
    )
    sql = (
        f"SELECT {shown} AS k, CAST({first} AS BIGINT) AS w, CAST({second} AS BIGINT) AS x "
        f"FROM {source}{w.where(scope)}"
    )
    return Relation(sql, (Column("k", "int"), Column("w", "bigint"), Column("x", "bigint")))


def qualify(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    part, value = an_int(w, alias, relation), an_int(w, alias, relation)
    order = all_columns(relation, alias)
    function, compare = w.random.choice(
        [
            ("row_number()", "= 1"),
            ("row_number()", "<= 2"),
            ("rank()", "= 1"),
            ("rank()", "<= 2"),
            ("dense_rank()", "< 3"),
            ("dense_rank()", "= 2"),
        ]
    )
    by = w.random.choice([f"PARTITION BY {part} ", f"PARTITION BY {part} ", ""])
    order = w.random.choice([order, f"{value} DESC, {order}", f"{value} DESC"])
    if function == "row_number()" and not order.endswith(all_columns(relation, alias)):
        order = all_columns(relation, alias)  # who is first among equals is nobody's matter
    sql = (
        f"SELECT {part} AS k, {value} AS g FROM {source}{w.where(scope)} "
        f"QUALIFY {function} OVER ({by}ORDER BY {order}) {compare}"
    )
    return Relation(sql, KG)


def named_window(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    part, value = an_int(w, alias, relation), an_int(w, alias, relation)
    sql = (
        f"SELECT {part} AS k, sum({value}) OVER w AS s, count(*) OVER w AS n "
        f"FROM {source}{w.where(scope)} WINDOW w AS (PARTITION BY {part})"
    )
    return Relation(sql, (Column("k", "int"), Column("s", "bigint"), Column("n", "bigint")))


def explode(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    a, b = an_int(w, alias, relation), an_int(w, alias, relation)
    outer = w.random.choice(["", "", "OUTER "])
    call, names = w.random.choice(
        [
            (f"explode(array({a}, {b}))", "g"),
            (f"explode(filter(array({a}, {b}), x -> x > 1))", "g"),
            (f"posexplode(array({a}, {b}))", "p, g"),
            (f"inline(array(struct({a} AS x, {b} AS y)))", "p, g"),
            (f"stack(2, {a}, 1, {b}, 2)", "p, g"),
        ]
    )
    e = w.alias()
    made = f"LATERAL VIEW {outer}{call} {e} AS {names}"
    return Relation(f"SELECT {a} AS k, {e}.g FROM {source} {made}{w.where(scope)}", KG)


def select_explode(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    a, b = an_int(w, alias, relation), an_int(w, alias, relation)
    if w.random.random() < 0.3:
        sql = (
            f"SELECT {a} AS k, explode(array(min({b}), max({b}))) AS g "
            f"FROM {source}{w.where(scope)} GROUP BY {a}"
        )
        return Relation(sql, KG)
    sql = f"SELECT {a} AS k, explode(array({a}, {b}, 1)) AS g FROM {source}{w.where(scope)}"
    return Relation(sql, KG)


def lateral(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    other, b, two = inner(w, depth)
    mine, theirs, value = (
        an_int(w, alias, relation), an_int(w, b, two), an_int(w, b, two)
    )  # fmt: skip
    body = w.random.choice(
        [
            f"SELECT {value} AS g FROM {other} WHERE {correlation(w, mine, theirs)}",
            f"SELECT max({value}) AS g FROM {other} WHERE {correlation(w, mine, theirs)}",
            f"SELECT {mine} + 1 AS g",
            f"SELECT DISTINCT {value} AS g FROM {other} WHERE {theirs} = {mine}",
            f"SELECT max({value}) AS g FROM {other} WHERE {theirs} = {mine} GROUP BY {value}",
        ]
    )
    z = w.alias()
    link = w.random.choice(
        [f", LATERAL ({body}) AS {z}", f" LEFT JOIN LATERAL ({body}) AS {z} ON TRUE"]
    )
    return Relation(f"SELECT {mine} AS k, {z}.g FROM {source}{link}{w.where(scope)}", KG)


def lateral_top(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    other, b, two = inner(w, depth)
    mine, theirs, value = (
        an_int(w, alias, relation), an_int(w, b, two), an_int(w, b, two)
    )  # fmt: skip
    z = w.alias()
    body = (
        f"SELECT {value} AS g FROM {other} WHERE {theirs} = {mine} "
        f"ORDER BY {value} DESC LIMIT {w.random.randint(1, 2)}"
    )
    return Relation(
        f"SELECT {mine} AS k, {z}.g FROM {source}, LATERAL ({body}) AS {z}{w.where(scope)}", KG
    )


def pivot(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    group, on, value = (an_int(w, alias, relation) for _ in range(3))
    calls = w.random.choice(["max(v) AS a", "sum(v) AS a", "count(*) AS a"])
    type_ = "int" if calls.startswith("max") else "bigint"
    sql = (
        f"SELECT * FROM (SELECT {group} AS k, {on} AS p, {value} AS v FROM {source}"
        f"{w.where(scope)}) PIVOT ({calls} FOR p IN (1 AS g, 2 AS h))"
    )
    return Relation(sql, (Column("k", "int"), Column("g", type_), Column("h", type_)))


def unpivot(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    a, b, c = (an_int(w, alias, relation) for _ in range(3))
    nulls = w.random.choice(["", "INCLUDE NULLS "])
    sql = (
        f"SELECT k, name, g FROM (SELECT {a} AS k, {b} AS x, {c} AS y FROM {source}"
        f"{w.where(scope)}) UNPIVOT {nulls}(g FOR name IN (x, y AS why))"
    )
    return Relation(sql, (Column("k", "int"), Column("name", "string"), Column("g", "int")))


def shared_cte(w: ViewWriter, depth: int) -> Relation:
    body = w.relation(depth - 1)
    if not body.of_type("int"):
        return body
    name, a, b = w.alias(), w.alias(), w.alias()
    x, y = (w.random.choice(body.of_type("int")).name for _ in range(2))
    kind = w.random.choice(["JOIN", "LEFT JOIN", "FULL JOIN"])
    sql = (
        f"WITH {name} AS ({body.sql}) SELECT {a}.{x} AS k, {b}.{y} AS g "
        f"FROM {name} AS {a} {kind} {name} AS {b} ON {a}.{x} = {b}.{y}"
    )
    return Relation(sql, KG)


def values_join(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    mine, v = an_int(w, alias, relation), w.alias()
    kind = w.random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN"])
    sql = (
        f"SELECT {mine} AS k, {v}.y AS g FROM {source} {kind} "
        f"(VALUES (1, 10), (2, 20), (2, 21)) AS {v}(x, y) ON {mine} = {v}.x{w.where(scope)}"
    )
    return Relation(sql, KG)
