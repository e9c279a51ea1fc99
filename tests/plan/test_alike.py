"""A part of a query that stands in it twice is followed once."""

from __future__ import annotations

import pytest

from headwater.plan.alike import likeness
from headwater.plan.compiled import Compilation, restore
from headwater.plan.planner import Choice, plan_refresh
from headwater.plan.situation import Situation
from headwater.plan.steps import Derive
from headwater.plan.strategies.inputs import SourceWindow
from headwater.vocabulary.algebra import Join, walk
from headwater.vocabulary.technique import Technique

ORDERS = (("id", "bigint"), ("cust", "int"), ("amount", "decimal(10,2)"), ("f", "double"))
BODY = "SELECT cust, max(amount) AS m FROM orders GROUP BY cust"
OTHER = "SELECT cust, max(amount) AS m FROM orders WHERE id > 1 GROUP BY cust"


def view(sql: str):
    return restore(
        "v", sql, Compilation({"orders": ORDERS}, (("x0", "int"), ("x1", "int")), {}, None)
    )


def derived(sql: str) -> list[Derive]:
    window = SourceWindow("orders", 1, 2, changed=True)
    situation = Situation({"orders": window})
    plan = plan_refresh(view(sql), situation, Choice(Technique.DELTA, (), (), ()))
    return [step for step in plan.steps if isinstance(step, Derive)]


def sides(sql: str):
    (join,) = (n for n in walk(view(sql).query.root) if isinstance(n, Join))
    return likeness(join.left), likeness(join.right)


def test_a_with_name_used_twice_is_followed_once() -> None:
    """Its change is kept, and the second use reads it under its own ids."""
    twice = derived(
        f"WITH c AS ({BODY}) SELECT a.cust, a.m + b.m FROM c a JOIN c b ON a.cust <= b.cust"
    )
    different = derived(
        f"SELECT a.cust, a.m + b.m FROM ({BODY}) a JOIN ({OTHER}) b ON a.cust = b.cust"
    )
    (alike,) = (step for step in twice if step.name.endswith("alike"))
    (kept,) = (step for step in twice if f"FROM `{step.name}`" in alike.sql)
    assert kept.once
    assert len(twice) < len(different)
    assert not any(step.name.endswith("alike") for step in different)


@pytest.mark.parametrize(
    "other",
    [
        OTHER,
        "SELECT cust, min(amount) AS m FROM orders GROUP BY cust",
        "SELECT cust, max(amount + 1) AS m FROM orders GROUP BY cust",
        "SELECT cust, max(f) AS m FROM orders GROUP BY cust",
        "SELECT id AS cust, max(amount) AS m FROM orders GROUP BY id",
        "SELECT cust, max(amount) AS m FROM orders GROUP BY cust HAVING count(*) > 1",
    ],
)
def test_what_differs_is_not_alike(other: str) -> None:
    """Any other expression, column or operator makes another part."""
    left, right = sides(
        f"SELECT a.cust, a.m + b.m FROM ({BODY}) a JOIN ({other}) b ON a.cust = b.cust"
    )
    assert left is not None
    assert left != right


def test_what_is_cheap_is_made_again() -> None:
    """A filter of a change costs less than keeping its rows."""
    sql = "WITH c AS (SELECT id, cust FROM orders WHERE cust > 1) "
    assert sides(sql + "SELECT a.id, b.cust FROM c a JOIN c b ON a.id = b.id") == (None, None)
