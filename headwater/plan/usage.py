"""How often the relations of a plan are named.

Spark evaluates a temporary view anew wherever it is named. A change that one other relation names
is computed on the way to that one, without a job of its own; it has to be kept no earlier than
where two name it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from headwater.plan.steps import Append, Derive, Overwrite, RefreshPlan, Rewrite, Write

_NAMED = re.compile(r"[`\"](__hw_[^`\"]+)[`\"]")
"""A name of ours in the quotes of SQL, or in those of a mark for bounds."""


def named_in(sql: str) -> list[str]:
    """The relations that a text names, each as often as it does; for their bounds, too."""
    return _NAMED.findall(sql)


def mentions(plan: RefreshPlan) -> Counter[str]:
    """Relation -> how often it is named; a commit looks at what it patches more than once."""
    found = Counter(name for step in _derived(plan) for name in named_in(step.sql))
    for name in written(plan.write):
        found[name] += 1 if isinstance(plan.write, Append) else 2
    return found


def _derived(plan: RefreshPlan) -> Iterator[Derive]:
    yield from (step for step in plan.steps if isinstance(step, Derive))
    if isinstance(plan.write, Rewrite):
        yield from plan.write.patching


def written(write: Write) -> set[str]:
    """The relations that a commit looks at."""
    also: tuple[str, ...] = ()
    if isinstance(write, Rewrite):
        also = (write.content, write.difference)
    elif isinstance(write, Overwrite):
        also = write.changes
    return {write.relation, *also}
