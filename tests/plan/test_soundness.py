"""Which techniques are open to which view under which change."""

from __future__ import annotations

import pytest

from headwater.plan.compiled import Compilation, restore
from headwater.plan.mergeable import AggregateTypes, average_limit, sum_type
from headwater.plan.planner import choose
from headwater.plan.situation import Situation
from headwater.plan.strategies.inputs import SourceWindow
from headwater.vocabulary.errors import StrictRefused, TechniqueRefused
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.technique import Policy, Technique

ORDERS = (("id", "bigint"), ("cust", "int"), ("amount", "decimal(10,2)"), ("f", "double"))
CUST = (("id", "int"), ("region", "string"))


def view(sql: str, columns: int, **types: tuple[str, str]):
    sources = {"orders": ORDERS, "cust": CUST} if "cust c" in sql else {"orders": ORDERS}
    shown = tuple((f"x{n}", "int") for n in range(columns))
    typed = {id_: AggregateTypes(*pair) for id_, pair in types.items()}
    return restore("v", sql, Compilation(sources, shown, typed, None))


def windows(*, inserts_only: bool = False, cust: bool = False):
    found = {"orders": SourceWindow("orders", 1, 2, changed=True, inserts_only=inserts_only)}
    if cust:
        found["cust"] = SourceWindow("cust", 1, 1, changed=False)
    return found


def chosen(compiled, situation) -> Technique:
    return choose(compiled, situation).technique


@pytest.mark.parametrize(
    ("sql", "cust", "inserts", "mixed"),
    [
        ("SELECT id FROM orders WHERE cust > 1", False, Technique.APPEND, Technique.DELTA),
        (
            "SELECT o.id FROM orders o LEFT JOIN cust c ON o.cust = c.id",
            True,
            Technique.APPEND,
            Technique.DELTA,
        ),
        (
            "SELECT o.id FROM orders o FULL JOIN cust c ON o.cust = c.id",
            True,
            Technique.REKEY,
            Technique.REKEY,
        ),
        ("SELECT DISTINCT cust FROM orders", False, Technique.MERGE, Technique.MERGE),
    ],
)
def test_the_cheapest_sound_technique(sql, cust, inserts, mixed):
    """Inserts only and mixed changes lead to what DESIGN's table says."""
    compiled = view(sql, 1)
    grown = Situation(windows(inserts_only=True, cust=cust))
    assert chosen(compiled, grown) is inserts
    assert chosen(compiled, Situation(windows(cust=cust))) is mixed


def test_extremes_are_merged_only_while_rows_come():
    """A deleted row may have been the minimum: then its group is recomputed."""
    compiled = view("SELECT cust, min(id) FROM orders GROUP BY cust", 2, agg_6=("bigint", "bigint"))
    assert chosen(compiled, Situation(windows(inserts_only=True))) is Technique.MERGE
    assert chosen(compiled, Situation(windows())) is Technique.REKEY


def test_strict_refuses_a_rebuild():
    """S26: outside the incremental subset STRICT fails rather than rebuilds."""
    compiled = view("SELECT id FROM orders LIMIT 3", 1)
    assert chosen(compiled, Situation(windows())) is Technique.REBUILD
    with pytest.raises(StrictRefused, match="TOP_K"):
        choose(compiled, Situation(windows(), policy=Policy.STRICT))


def test_a_forced_technique_that_is_unsound_is_refused():
    """The reason is given."""
    compiled = view("SELECT id FROM orders", 1)
    with pytest.raises(TechniqueRefused, match="NOT_APPEND_ONLY"):
        choose(compiled, Situation(windows(), forced=Technique.APPEND))


def test_lost_history_means_rebuild():
    """No guess: a gap or a replaced source leaves nothing but a rebuild, which says why."""
    compiled = view("SELECT id FROM orders", 1)
    lost = (Reason("HISTORY_GONE", "versions 3-5 of orders are gone"),)
    choice = choose(compiled, Situation(windows(), must_rebuild=lost))
    assert (choice.technique, choice.reasons) == (Technique.REBUILD, lost)


def test_exactness_of_sums_and_averages():
    """Floats are never merged; decimals and integers only as far as they are exact."""
    assert sum_type("double") is None
    assert sum_type("float") is None
    assert sum_type("int") == "bigint"
    assert sum_type("decimal(10,2)") == "decimal(20,2)"
    assert sum_type("decimal(30,2)") == "decimal(38,2)"
    assert sum_type("decimal(30,8)") is None
    assert average_limit("bigint") is None
    assert average_limit("int") == 2**22
    assert average_limit("decimal(15,2)") == 10**9 // 4
