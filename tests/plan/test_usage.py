"""How often a plan's relations are named."""

from __future__ import annotations

from headwater.plan.steps import Append, Derive, Patch, ReadChanges, RefreshPlan, Rewrite
from headwater.plan.usage import mentions, named_in
from headwater.vocabulary.technique import Technique

FEED = ReadChanges("__hw_changes_t", "t", 1, 2, ("a",), inserts_only=False, has_feed=True)


def counted(*derived: Derive) -> dict[str, int]:
    steps = (FEED, *derived, Patch("patch", "__hw_9_patch", ("a",)))
    return mentions(RefreshPlan(Technique.DELTA, steps))


def test_each_mention_counts() -> None:
    sql = "SELECT * FROM `__hw_changes_t` JOIN `__hw_changes_t` USING (a)"
    assert counted(Derive("__hw_9_patch", sql, once=True))["__hw_changes_t"] == 2


def test_names_may_have_any_characters() -> None:
    assert named_in("SELECT * FROM `__hw_changes_web sales.v2` s, `__hw_changes_web`") == [
        "__hw_changes_web sales.v2",
        "__hw_changes_web",
    ]


def test_what_stands_between_does_not() -> None:
    found = counted(
        Derive("__hw_1_filter", "SELECT * FROM `__hw_changes_t` WHERE a > 1"),
        Derive("__hw_9_patch", "SELECT * FROM `__hw_1_filter` x, `__hw_1_filter` y", once=True),
    )
    assert found["__hw_changes_t"] == 1
    assert found["__hw_1_filter"] == 2


def test_asking_for_bounds_is_a_mention() -> None:
    mark = 'TRUE /*within {"key": "a", "relation": "__hw_changes_t", "value": "a"}*/'
    sql = f"SELECT * FROM `__hw_changes_t` JOIN (SELECT * FROM s WHERE {mark}) USING (a)"
    assert counted(Derive("__hw_9_patch", sql, once=True))["__hw_changes_t"] == 2


def test_what_is_patched_is_looked_at_twice() -> None:
    append = Append("append", "__hw_changes_t", ("a",))
    assert mentions(RefreshPlan(Technique.APPEND, (FEED, append)))["__hw_changes_t"] == 1
    patching = (Derive("__hw_9_patch", "SELECT * FROM `__hw_2_difference`", once=True),)
    rewrite = Rewrite(
        "write", "__hw_9_patch", ("a",), "__hw_1_content", "__hw_2_difference", patching
    )
    found = mentions(RefreshPlan(Technique.REBUILD, (rewrite,)))
    assert found["__hw_1_content"] == 2
    assert found["__hw_2_difference"] == 3
