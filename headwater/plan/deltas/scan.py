"""ΔR: the source's own signed rows, its columns under the leaf's ids.

Every change begins here, with what the source says came and went.

View:
    SELECT k AS number, w AS word FROM r
Change:
    SELECT k AS number, w AS word, weight FROM r_changes
"""

from __future__ import annotations

from typing import cast

from headwater.plan.planning import Planning
from headwater.vocabulary.algebra import Node, Scan
from headwater.vocabulary.names import WEIGHT, quoted


def delta_of_scan(planning: Planning, node: Node) -> str | None:
    """Each occurrence of a table is a leaf of its own and sees the same change."""
    scan = cast("Scan", node)
    fields = ", ".join(f"{quoted(name)} AS {quoted(id_)}" for name, id_ in scan.fields)
    changes = quoted(planning.changes_of(scan.source))
    return planning.relation(scan.source, f"SELECT {fields}, {quoted(WEIGHT)} FROM {changes}")
