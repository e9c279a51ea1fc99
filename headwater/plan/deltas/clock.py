"""Δσ_p(R) = σ_p′(ΔR) + σ_{p′∧¬p}(R) − σ_{p∧¬p′}(R): a filter whose clock moved from p to p′.

Beside the change of its input, a row of the old input comes if only the new condition is true of
it, and goes if only the old one is. The conditions stand in the scan, so files that hold neither
are skipped. Any other operator that computes with the clock has another value for every row: it is
computed whole, twice. In the example today was the 14th of November 2026 and is the 15th.

View:
    SELECT k FROM r WHERE d BETWEEN current_date() - 7 AND current_date()
Change:
    SELECT k, weight FROM r_changes WHERE d BETWEEN DATE'2026-11-08' AND DATE'2026-11-15'
    UNION ALL
    SELECT k, 1 AS weight FROM r_before
    WHERE d BETWEEN DATE'2026-11-08' AND DATE'2026-11-15'
    AND NOT d BETWEEN DATE'2026-11-07' AND DATE'2026-11-14'
    UNION ALL
    SELECT k, -1 AS weight FROM r_before
    WHERE d BETWEEN DATE'2026-11-07' AND DATE'2026-11-14'
    AND NOT d BETWEEN DATE'2026-11-08' AND DATE'2026-11-15'
"""

from __future__ import annotations

from sqlglot import exp

from headwater.plan.moved import clocks_of
from headwater.plan.planning import Planning
from headwater.plan.render import listed
from headwater.vocabulary.algebra import Filter, Node
from headwater.vocabulary.dialect import written as text
from headwater.vocabulary.names import WEIGHT, quoted

_W = quoted(WEIGHT)


def delta_of_clock(planning: Planning, node: Node) -> str | None:
    """The change of an operator that computes with a clock that moved."""
    if isinstance(node, Filter):
        return _of_filter(planning, node)
    whole = planning.difference(node.columns, planning.new(node), planning.old(node))
    return planning.relation("clocked", whole, once=True)


def _of_filter(planning: Planning, kept: Filter) -> str:
    parts = _conjuncts(kept.predicate)
    timed = [part for part in parts if any(True for _ in clocks_of(part))]
    always = [f"({text(part)})" for part in parts if part not in timed]
    now = [f"({text(part)})" for part in timed]
    once = [planning.before(condition) for condition in now]
    columns, rows = listed(kept.columns), planning.old(kept.input)
    terms = [
        f"SELECT {columns}, CAST({weight} AS BIGINT) AS {_W} FROM {rows} AS i "
        f"WHERE {' AND '.join([*always, *holds, _fails(fails)])}"
        for weight, holds, fails in ((1, now, once), (-1, once, now))
    ]
    below = planning.delta(kept.input)
    if below is not None:
        terms.append(
            f"SELECT {columns}, {_W} FROM {quoted(below)} AS d WHERE {text(kept.predicate)}"
        )
    return planning.relation("filter", " UNION ALL ".join(terms))


def _fails(conditions: list[str]) -> str:
    """Not all of them are true; in words that a scan can skip files by."""
    return f"({' OR '.join(f'NOT {c} OR {c} IS NULL' for c in conditions)})"


def _conjuncts(predicate: exp.Expr) -> list[exp.Expr]:
    if isinstance(predicate, exp.Paren):
        return _conjuncts(predicate.this)
    if isinstance(predicate, exp.And):
        return _conjuncts(predicate.left) + _conjuncts(predicate.right)
    return [predicate]
