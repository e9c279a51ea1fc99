"""One row per touched key, written into the view's table: as a patch, or all rows anew.

A patch looks the keys up, tells the change feed what became of each, and leaves other rows alone.
In a small table that nobody follows this takes longer than to write all of its rows once.
"""

from __future__ import annotations

from headwater.plan.patch import Keyed, found_by_keys, keyed_content, keyed_patch
from headwater.plan.planning import Planning
from headwater.plan.steps import Patch, Renew, Write


def write_by_key(
    planning: Planning, keyed: Keyed, source: str, *, whole: bool, found: str | None = None
) -> Write:
    """`source` has the touched keys, each once, and is kept; `found` their stored rows, if made."""
    if whole:
        content = planning.relation("content", keyed_content(keyed, source))
        return Renew("renew", content, keyed.columns, source)
    if found is None:
        found = planning.relation("found", found_by_keys(keyed.keys, source))
    patch = planning.relation("patch", keyed_patch(keyed, found, source), once=True)
    return Patch("patch", patch, keyed.columns)
