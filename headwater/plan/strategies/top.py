"""rekey of first rows: τ(R + ΔR) = τ(τ(R) + ΔR), as long as no row from below must move up.

M = τ(R) holds all rows of R before M's last one, so those of M + ΔR before it are known. If they
are k, or M was all of R, the first k of M + ΔR are the new content. So they are if the last one and
its equals in the order are as they were and close the first k again. Else, and where the order
leaves a choice between rows, the query is asked. So it is where a row goes that should be stored
and is not found: a sum of floats may have other last digits than it had.

With an OFFSET, M begins below the rows that are skipped, and these are not stored. As long as the
change is below M's first row they are as they were, and the same holds.

A change that raises one order above the others, LIMIT 2:

    M: (a, 9), (b, 7)    ΔR: +(c, 8)    M + ΔR, before (b, 7): (a, 9), (c, 8)    M′: (a, 9), (c, 8)
"""

from __future__ import annotations

from headwater.plan.consolidate import difference, given_back
from headwater.plan.exact import Delicate, exact_keys
from headwater.plan.layout import Layout
from headwater.plan.planning import Planning
from headwater.plan.render import listed
from headwater.plan.shape import followed_top
from headwater.plan.steps import TARGET, Write
from headwater.plan.strategies.rows import as_table_rows, patch_rows
from headwater.vocabulary.algebra import TopK
from headwater.vocabulary.dialect import written as text
from headwater.vocabulary.names import WEIGHT, quoted

_W = quoted(WEIGHT)
_SHORT = "__hw_short"


def top_write(planning: Planning, layout: Layout) -> Write:
    """The change of the first rows; the whole query is in the plan, and run only if asked."""
    top = followed_top(layout.root)
    if top is None or top.limit is None:
        raise ValueError("the view does not hold first rows that can be followed")
    change = planning.delta(top.input)
    if change is None:
        raise ValueError("first rows need a change")
    limit = text(top.limit)
    known = planning.relation("known", _known(layout, top, change, planning.fragile), once=True)
    placed = planning.relation("placed", _placed(top, known), once=True)
    short = planning.relation("short", _short(top, placed, limit), once=True)
    moved = planning.relation("moved", _moved(top, placed, limit))
    moved = planning.relation("moved", as_table_rows(layout, moved, weighted=True))
    asked = planning.relation("asked", planning.new(top))
    whole = difference(
        layout.columns,
        as_table_rows(layout, asked, weighted=False),
        f"SELECT {listed(layout.columns)} FROM {quoted(TARGET)}",
        planning.fragile_columns,
    )
    shown = f"{listed(layout.columns)}, {_W}"
    rows = (
        f"SELECT {shown} FROM {quoted(moved)} AS m LEFT ANTI JOIN {quoted(short)} AS s ON TRUE "
        f"UNION ALL SELECT {shown} FROM ({whole}) AS w CROSS JOIN {quoted(short)} AS s"
    )
    return patch_rows(planning, layout, planning.relation("rows", rows, once=True))


def _known(layout: Layout, top: TopK, change: str, fragile: Delicate) -> str:
    """M + ΔR: how often each row is known to be there after it, and how often it is stored."""
    pairs = zip(layout.columns, top.columns, strict=True)
    stored = ", ".join(f"{quoted(name)} AS {quoted(id_)}" for name, id_ in pairs)
    names = listed(top.columns)
    return (
        f"SELECT {given_back(top.columns, fragile)}, "
        f"GREATEST(SUM({_W}), 0) AS held, SUM(kept) AS kept, "
        f"SUM({_W}) <> SUM(kept) AS moved, SUM({_W}) < 0 AS missed FROM ("
        f"SELECT {stored}, CAST(1 AS BIGINT) AS {_W}, 1 AS kept FROM {quoted(TARGET)} "
        f"UNION ALL SELECT {names}, {_W}, 0 FROM {quoted(change)}) "
        f"GROUP BY {', '.join(exact_keys(top.columns, fragile))}"
    )


def _placed(top: TopK, known: str) -> str:
    """Each row's rank and place; `peers` and `through` count the rows of a rank and up to it."""
    order = ", ".join(text(key) for key in top.order)
    ranked = f"SELECT *, dense_rank() OVER (ORDER BY {order}) AS rank FROM {quoted(known)}"
    return (
        "SELECT *, SUM(held) OVER (PARTITION BY rank) AS peers, "
        "SUM(held) OVER (ORDER BY rank) AS through, "
        f"SUM(held) OVER (ORDER BY rank, {listed(top.columns)} ROWS UNBOUNDED PRECEDING) AS place, "
        "SUM(kept) OVER () AS had, MIN(IF(kept > 0, rank, NULL)) OVER () AS begin, "
        "MAX(IF(kept > 0, rank, NULL)) OVER () AS edge "
        f"FROM ({ranked})"
    )


def _short(top: TopK, placed: str, limit: str) -> str:
    """One row if the first rows are not all known, or are a matter of choice; else none."""
    before = f"MAX(IF(rank = edge, through - peers, NULL)) >= {limit}"
    as_was = "NOT MAX(rank = edge AND held <> kept)"
    again = f"MAX(IF(rank = edge, through, NULL)) = {limit} AND {as_was}"
    split = f"MAX(held > 0 AND held < peers AND through > {limit} AND through - peers < {limit})"
    sure = f"(COALESCE(MAX(had), 0) < {limit} OR {before} OR ({again}))"
    missed = f"MAX(missed AND (had < {limit} OR COALESCE(rank <= edge, FALSE)))"
    unsure = f"{split} OR {missed} OR {_shifted(top)}"
    return (
        f"SELECT TRUE AS {quoted(_SHORT)} FROM {quoted(placed)} "
        f"HAVING NOT COALESCE({sure} AND NOT ({unsure}), TRUE)"
    )


def _shifted(top: TopK) -> str:
    """Whether rows may have come to those that are skipped, or gone from them."""
    return "FALSE" if top.offset is None else "MAX(moved AND COALESCE(rank <= begin, TRUE))"


def _moved(top: TopK, placed: str, limit: str) -> str:
    """What must come and go for the first rows of M + ΔR to be what is stored."""
    wanted = f"GREATEST(LEAST(held, {limit} - (place - held)), 0)"
    return (
        f"SELECT {listed(top.columns)}, CAST({wanted} - kept AS BIGINT) AS {_W} "
        f"FROM {quoted(placed)} WHERE {wanted} <> kept"
    )
