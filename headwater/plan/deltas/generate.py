"""Δ explode(R) = explode(ΔR): a generator works row by row, so it is linear."""

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
