"""When a refresh writes everything, and when only what differs."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.plan.compiled import Compilation, restore
from headwater.plan.cost import Size
from headwater.plan.mergeable import AggregateTypes
from headwater.plan.planner import Choice, plan_refresh
from headwater.plan.situation import Situation
from headwater.plan.steps import Overwrite, Patch, Renew, Rewrite
from headwater.plan.strategies.inputs import SourceWindow
from headwater.vocabulary.technique import Policy, Technique

ORDERS = (("id", "bigint"), ("cust", "int"))
VIEW = restore(
    "v", "SELECT id FROM orders", Compilation({"orders": ORDERS}, (("id", "bigint"),), {}, None)
)
REBUILD = Choice(Technique.REBUILD, (), (), ())


def written(changed: int | None, **about: bool) -> type:
    """What a rebuild of a million rows writes after so many changed."""
    window = SourceWindow("orders", 1, 2, changed=True, rows=changed, total_rows=1_000_000)
    situation = Situation({"orders": window}, size=Size(1_000_000, 4), **about)
    return type(plan_refresh(VIEW, situation, REBUILD).write)


@pytest.mark.parametrize("changed", [10, 200_000])
def test_a_view_that_nothing_follows_is_overwritten(changed: int) -> None:
    assert written(changed, followed=False) is Overwrite


def test_views_behind_get_a_small_change_where_there_is_one() -> None:
    assert written(10, followed=True) is Rewrite
    assert written(200_000, followed=True) is Overwrite
    assert written(None, followed=True) is Rewrite


@pytest.mark.parametrize("changed", [10, 200_000])
def test_consumers_get_the_difference(changed: int) -> None:
    assert written(changed, followed=False, consumed=True) is Rewrite
    assert written(changed, followed=True, consumed=True) is Rewrite


GROUPED = restore(
    "g",
    "SELECT cust, count(*) AS n FROM orders GROUP BY cust",
    Compilation(
        {"orders": ORDERS},
        (("cust", "int"), ("n", "bigint")),
        {"agg_4": AggregateTypes("", "bigint")},
        None,
    ),
)


def merged(groups: int, **about: Any) -> type:
    """What a merge of a hundred changed rows into so many groups writes."""
    window = SourceWindow("orders", 1, 2, changed=True, rows=100, total_rows=1_000_000)
    about = {"followed": False, **about}
    situation = Situation({"orders": window}, size=Size(groups, 1), **about)
    return type(plan_refresh(GROUPED, situation, Choice(Technique.MERGE, (), (), ())).write)


def test_a_small_view_that_nothing_follows_is_written_whole_by_a_merge() -> None:
    assert merged(10_000) is Renew
    assert merged(1_000_000) is Patch


@pytest.mark.parametrize(
    "about",
    [
        {"followed": True},
        {"consumed": True},
        {"policy": Policy.INCREMENTAL},
        {"forced": Technique.MERGE},
    ],
)
def test_who_wants_few_changes_gets_them(about: dict[str, Any]) -> None:
    assert merged(10_000, **about) is Patch
