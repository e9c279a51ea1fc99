"""Relations of a plan: which are kept because they are read twice."""

from __future__ import annotations

from headwater.plan.planning import Planning


def test_what_only_passes_kept_rows_on_is_not_kept_again() -> None:
    """A filtered change is read where it is; a join's change is made once."""
    planning = Planning(frozenset(), {})
    change = planning.relation("t", "SELECT x FROM `__hw_changes_t`")
    chosen = planning.relation("filter", f"SELECT x FROM `{change}` WHERE x > 1")
    joined = planning.relation("join", f"SELECT x FROM `{chosen}` JOIN `__hw_new_s` ON TRUE")
    above = planning.relation("project", f"SELECT x FROM `{joined}`")
    planning.keep_if_dear(chosen)
    planning.keep_if_dear(above)
    planning.keep_if_dear("__hw_changes_t")
    assert [step.name for step in planning.derived if step.once] == [above]
    over = planning.relation("filter", f"SELECT x FROM `{above}` WHERE x > 2")
    planning.keep_if_dear(over)
    assert [step.name for step in planning.derived if step.once] == [above]
