"""A mark is a comment until the relation is known to be one that can be sent."""

from __future__ import annotations

from headwater.plan.patch import found_by_keys
from headwater.plan.sent import hinted, send


def test_a_mark_becomes_a_hint() -> None:
    """Only for the relation that it names, and under the name that the join gives it."""
    sql = found_by_keys(("k",), "__hw_2_states")
    assert hinted(sql, lambda _: False) == sql
    asked: list[str] = []
    sent = hinted(sql, lambda name: not asked.append(name))
    assert asked == ["__hw_2_states"]
    assert sent.startswith("SELECT /*+ BROADCAST(s) */ t.*")
    assert sql.startswith("SELECT /*send s of __hw_2_states*/ t.*")


def test_a_name_that_would_end_the_comment_is_left_alone() -> None:
    """No mark is better than broken SQL."""
    assert send("s", "a*/b") == ""
