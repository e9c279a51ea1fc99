"""Random queries whose answer hangs on the clock, or on how rows that share a place are arranged.

Spark may take any of these rows, so such a choice is only made below something that counts or adds
up: there a refresh has to meet the choice that was stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.laws.relation import Relation
from tests.laws.shapes import KG, an_int, rows

if TYPE_CHECKING:
    from tests.laws.views import ViewWriter

_DAYS = ("date", "timestamp", "timestamp_ntz")


def clocked(w: ViewWriter, depth: int) -> Relation:
    """Rows that time lets in or takes out."""
    source, alias, relation, scope = rows(w, depth)
    days = relation.of_type(*_DAYS)
    if not days:
        return w.plain(depth)
    day = f"{alias}.{w.random.choice(days).name}"
    condition = w.random.choice(
        [
            f"{day} < current_date()",
            f"{day} >= date_sub(current_date(), 150)",
            f"CAST({day} AS TIMESTAMP) > now() - INTERVAL 150 DAYS",
            f"datediff(current_date(), {day}) BETWEEN 0 AND 150",
            f"year({day}) = year(current_date()) OR {w.predicate(scope)}",
        ]
    )
    if w.random.random() < 0.4:
        key, value = an_int(w, alias, relation), an_int(w, alias, relation)
        sql = f"SELECT {key} AS k, max({value}) AS g FROM {source} WHERE {condition} GROUP BY {key}"
        return Relation(sql, KG)
    items, columns = w.items(scope)
    return Relation(f"SELECT {items} FROM {source} WHERE {condition}", columns)


def tied_rows(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    part, value, order = (an_int(w, alias, relation) for _ in range(3))
    place = f"row_number() OVER (PARTITION BY {part} ORDER BY {order})"
    if w.random.random() < 0.3:
        place = f"lag({value}, 1, 1) OVER (PARTITION BY {part} ORDER BY {order})"
    sql = (
        f"SELECT z.g AS k, CAST(sum(z.k) AS INT) AS g FROM (SELECT {part} AS k, {value} AS g, "
        f"{place} AS n FROM {source}{w.where(scope)}) AS z WHERE z.n = 1 GROUP BY z.g"
    )
    return Relation(sql, KG)


def tied_values(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    part, value, order = (an_int(w, alias, relation) for _ in range(3))
    call = w.random.choice(["max_by", "min_by"])
    sql = (
        f"SELECT z.m AS k, CAST(count(*) AS INT) AS g FROM (SELECT {call}({value}, {order}) AS m "
        f"FROM {source}{w.where(scope)} GROUP BY {part}) AS z GROUP BY z.m"
    )
    return Relation(sql, KG)


def tied_top(w: ViewWriter, depth: int) -> Relation:
    source, alias, relation, scope = rows(w, depth)
    value, order = an_int(w, alias, relation), an_int(w, alias, relation)
    sql = (
        f"SELECT max(z.k) AS k, CAST(sum(z.k) AS INT) AS g FROM (SELECT {value} AS k FROM {source}"
        f"{w.where(scope)} ORDER BY {order} LIMIT {w.random.randint(1, 3)}) AS z"
    )
    return Relation(sql, KG)
