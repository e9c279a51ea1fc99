"""How often the relations of a plan are evaluated, if only those marked `once` are kept.

Spark evaluates a temporary view anew wherever it is named, so a relation that two others name is
evaluated twice, and so is all that it is made from. One that is evaluated a single time need not be
kept: whoever names it computes it on the way, without a job of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from headwater.plan.steps import Derive, RefreshPlan, Rewrite

_NAMED = re.compile(r"\b__hw_\w+")


def evaluations(plan: RefreshPlan) -> dict[str, int]:
    """Relation -> evaluations; the bounds of a relation's values are asked for in one, too."""
    counts = dict.fromkeys(_written(plan), 2)
    for step in reversed(list(_derived(plan))):
        times = 1 if step.once else counts.get(step.name, 0)
        for name in _NAMED.findall(step.sql):
            counts[name] = counts.get(name, 0) + times
    return counts


def _derived(plan: RefreshPlan) -> Iterator[Derive]:
    yield from (step for step in plan.steps if isinstance(step, Derive))
    if isinstance(plan.write, Rewrite):
        yield from plan.write.patching


def _written(plan: RefreshPlan) -> set[str]:
    """A commit looks at what it writes more than once."""
    write = plan.write
    also = {write.content, write.difference} if isinstance(write, Rewrite) else set()
    return {write.relation} | also
