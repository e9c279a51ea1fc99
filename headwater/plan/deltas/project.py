"""Δπ(R) = π(ΔR): a projection is linear.

What is computed of a row comes and goes with it.

View:
    SELECT k, g + n AS total FROM r
Change:
    SELECT k, g + n AS total, weight FROM r_changes
"""

from __future__ import annotations

from typing import cast

from headwater.plan.planning import Planning
from headwater.plan.render import computed
from headwater.vocabulary.algebra import Node, Project
from headwater.vocabulary.names import WEIGHT, quoted


def delta_of_project(planning: Planning, node: Node) -> str | None:
    """Weights pass through; rows that become equal are netted by whoever consolidates."""
    project = cast("Project", node)
    below = planning.delta(project.input)
    if below is None:
        return None
    sql = f"SELECT {computed(project.items)}, {quoted(WEIGHT)} FROM {quoted(below)}"
    return planning.relation("project", sql)
