"""How often a plan's relations are evaluated."""

from __future__ import annotations

from headwater.plan.steps import Append, Derive, Patch, ReadChanges, RefreshPlan, Rewrite
from headwater.plan.usage import evaluations
from headwater.vocabulary.technique import Technique

FEED = ReadChanges("__hw_changes_t", "t", 1, 2, ("a",), inserts_only=False, has_feed=True)


def counted(*derived: Derive, write: str = "__hw_9_patch") -> dict[str, int]:
    steps = (FEED, *derived, Patch("patch", write, ("a",), ("a",)))
    return evaluations(RefreshPlan(Technique.DELTA, steps))


def test_a_relation_that_one_other_names_is_evaluated_once() -> None:
    found = counted(Derive("__hw_9_patch", "SELECT * FROM `__hw_changes_t`", once=True))
    assert found["__hw_changes_t"] == 1


def test_each_mention_counts() -> None:
    sql = "SELECT * FROM `__hw_changes_t` JOIN `__hw_changes_t` USING (a)"
    assert counted(Derive("__hw_9_patch", sql, once=True))["__hw_changes_t"] == 2


def test_a_relation_that_is_not_kept_passes_its_evaluations_on() -> None:
    found = counted(
        Derive("__hw_1_filter", "SELECT * FROM `__hw_changes_t` WHERE a > 1"),
        Derive("__hw_2_left", "SELECT * FROM `__hw_1_filter`"),
        Derive("__hw_9_patch", "SELECT * FROM `__hw_2_left`, `__hw_1_filter`", once=True),
    )
    assert found["__hw_1_filter"] == 2
    assert found["__hw_changes_t"] == 2


def test_a_kept_relation_passes_on_one() -> None:
    found = counted(
        Derive("__hw_1_filter", "SELECT * FROM `__hw_changes_t` WHERE a > 1", once=True),
        Derive("__hw_9_patch", "SELECT * FROM `__hw_1_filter` UNION ALL TABLE `__hw_1_filter`"),
    )
    assert found["__hw_changes_t"] == 1


def test_asking_for_bounds_is_an_evaluation() -> None:
    mark = 'TRUE /*within {"key": "a", "relation": "__hw_changes_t", "value": "a"}*/'
    sql = f"SELECT * FROM `__hw_changes_t` JOIN (SELECT * FROM s WHERE {mark}) USING (a)"
    assert counted(Derive("__hw_9_patch", sql, once=True))["__hw_changes_t"] == 2


def test_what_is_written_is_looked_at_twice() -> None:
    append = Append("append", "__hw_changes_t", ("a",))
    assert evaluations(RefreshPlan(Technique.APPEND, (FEED, append)))["__hw_changes_t"] == 2
    patching = (Derive("__hw_9_patch", "SELECT * FROM `__hw_2_difference`", once=True),)
    rewrite = Rewrite(
        "write", "__hw_9_patch", ("a",), "__hw_1_content", "__hw_2_difference", patching
    )
    found = evaluations(RefreshPlan(Technique.REBUILD, (rewrite,)))
    assert found["__hw_1_content"] == 2
    assert found["__hw_2_difference"] == 3
