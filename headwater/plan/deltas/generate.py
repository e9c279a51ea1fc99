"""Δ explode(R) = explode(ΔR): a generator works row by row, so it is linear.

What is made of a row comes and goes with it.

View:
    SELECT k, explode(split(w, ' ')) AS word FROM r
Change:
    SELECT k, explode(split(w, ' ')) AS word, weight FROM r_changes
"""

from __future__ import annotations

from typing import cast

from headwater.plan.planning import Planning
from headwater.plan.render import generate_text, listed
from headwater.vocabulary.algebra import Generate, Node
from headwater.vocabulary.names import WEIGHT, quoted


def delta_of_generate(planning: Planning, node: Node) -> str | None:
    """Every generated row inherits its row's weight."""
    generate = cast("Generate", node)
    below = planning.delta(generate.input)
    if below is None:
        return None
    made = generate_text(generate, quoted(below))
    shown = f"{listed(generate.columns)}, {quoted(WEIGHT)}"
    return planning.relation("generate", f"SELECT {shown} FROM ({made})")
