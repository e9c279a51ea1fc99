"""Δ(A ⋈ B) = ΔA ⋈ B′ + A ⋈ ΔB, and for outer, semi and anti joins

Δ(A ⟕ B) = ΔA ⟕ B′ + (T ⟕ B′ − T ⟕ B) with T = A ⋉ ΔB, the old left rows that a changed right row
matches: all others see the same partners before and after. A full join is a left join and, beside
it, the right rows without a partner.

View:
    SELECT r.k, s.w FROM r JOIN s ON r.g = s.g
Change:
    SELECT r.k, s.w, weight FROM r_changes AS r JOIN s ON r.g = s.g
    UNION ALL
    SELECT r.k, s.w, weight FROM r_before AS r JOIN s_changes AS s ON r.g = s.g

View:
    SELECT r.k, s.w FROM r LEFT JOIN s ON r.g = s.g
Change:
    WITH touched AS (SELECT * FROM r_before AS r LEFT SEMI JOIN s_changes AS s ON r.g = s.g)
    SELECT r.k, s.w, weight FROM r_changes AS r LEFT JOIN s ON r.g = s.g
    UNION ALL
    SELECT r.k, s.w, 1 AS weight FROM touched AS r LEFT JOIN s ON r.g = s.g
    UNION ALL
    SELECT r.k, s.w, -1 AS weight FROM touched AS r LEFT JOIN s_before AS s ON r.g = s.g

A semi join differs from this anti join by a word:

View:
    SELECT k FROM r LEFT ANTI JOIN s ON r.g = s.g
Change:
    WITH touched AS (SELECT * FROM r_before AS r LEFT SEMI JOIN s_changes AS s ON r.g = s.g)
    SELECT k, weight FROM r_changes AS r LEFT ANTI JOIN s ON r.g = s.g
    UNION ALL
    SELECT k, 1 AS weight FROM touched AS r LEFT ANTI JOIN s ON r.g = s.g
    UNION ALL
    SELECT k, -1 AS weight FROM touched AS r LEFT ANTI JOIN s_before AS s ON r.g = s.g
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from sqlglot import exp

from headwater.plan.deltas.narrowed import narrowed_left, narrowed_right
from headwater.plan.planning import Planning
from headwater.plan.render import join_text, listed
from headwater.vocabulary.algebra import Join, JoinKind, Node
from headwater.vocabulary.dialect import written as text
from headwater.vocabulary.names import WEIGHT, quoted

_WEIGHT = f", {quoted(WEIGHT)}"


def delta_of_join(planning: Planning, node: Node) -> str | None:
    """Dispatch on the kind; a right join is the mirror of a left one."""
    join = cast("Join", node)
    if join.kind in {JoinKind.INNER, JoinKind.CROSS}:
        return _inner(planning, join)
    if join.kind is JoinKind.FULL:
        return _full(planning, join)
    if join.kind is JoinKind.RIGHT:
        return _mirrored(planning, join)
    return _one_sided(planning, join)


def _inner(planning: Planning, join: Join) -> str | None:
    terms = []
    left, right = planning.delta(join.left), planning.delta(join.right)
    if left is not None:
        base = planning.new(narrowed_right(planning, join, left))
        terms.append(join_text(join, quoted(left), base, _WEIGHT))
    if right is not None:
        base = planning.old(narrowed_left(planning, join, right))
        terms.append(join_text(join, base, quoted(right), _WEIGHT))
    return planning.relation("join", " UNION ALL ".join(terms)) if terms else None


def _one_sided(planning: Planning, join: Join) -> str | None:
    """LEFT, SEMI and ANTI: linear in the left side, touched left rows for the right side."""
    terms = []
    left, right = planning.delta(join.left), planning.delta(join.right)
    if left is not None:
        base = planning.new(narrowed_right(planning, join, left))
        terms.append(join_text(join, quoted(left), base, _WEIGHT))
    if right is not None:
        terms.append(f"SELECT * FROM {quoted(_flipped(planning, join, right))}")
    return planning.relation("join", " UNION ALL ".join(terms)) if terms else None


def _flipped(planning: Planning, join: Join, right: str) -> str:
    """What a change on the right makes of the left rows it matches."""
    on = text(join.on) if join.on is not None else "TRUE"
    old_left = planning.old(narrowed_left(planning, join, right))
    touched = planning.relation(
        "touched",
        f"SELECT {listed(join.left.columns)} FROM {old_left} "
        f"AS l LEFT SEMI JOIN {quoted(right)} AS r ON {on}",
        once=True,
    )
    partners = narrowed_right(planning, join, touched)
    after = join_text(join, quoted(touched), planning.new(partners))
    before = join_text(join, quoted(touched), planning.old(partners))
    return planning.relation("flipped", planning.difference(join.columns, after, before))


def _mirrored(planning: Planning, join: Join) -> str | None:
    mirror = Join(join.right, join.left, JoinKind.LEFT, join.on)
    below = planning.delta(mirror)
    if below is None:
        return None
    sql = f"SELECT {listed(join.columns)}{_WEIGHT} FROM {quoted(below)}"
    return planning.relation("join", sql)


def _full(planning: Planning, join: Join) -> str | None:
    condition = join.on if join.on is not None else exp.true()
    kept = planning.delta(replace(join, kind=JoinKind.LEFT, on=condition))
    alone = planning.delta(Join(join.right, join.left, JoinKind.ANTI, condition))
    terms = []
    if kept is not None:
        terms.append(f"SELECT {listed(join.columns)}{_WEIGHT} FROM {quoted(kept)}")
    if alone is not None:
        padding = ", ".join(f"NULL AS {quoted(c)}" for c in join.left.columns)
        shown = f"{padding}, {listed(join.right.columns)}{_WEIGHT}"
        terms.append(f"SELECT {shown} FROM {quoted(alone)}")
    return planning.relation("join", " UNION ALL ".join(terms)) if terms else None
