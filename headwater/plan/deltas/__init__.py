"""One incremental law per operator, one file per law.

Each file opens with its equation and shows it in SQL: a view, and the query of that view's change.
tests/laws/test_shown.py runs them, over

    r, s                    tables as they are now, in the equations R′ and S′
    r_before, s_before      the same tables as they were, R and S
    r_changes, s_changes    what came and what went, ΔR and ΔS
    t                       a table that has not changed

All of them have the columns k, g and n, which are numbers, w, which is text, and d, a date. All but
k may be NULL, and rows may be equal. A row of a change has a weight beside: 2 if two copies of it
came, -1 if one went. The query of a change may tell a row several times; its weights are summed.
To subtract is to add rows of weight -1.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.plan.deltas.aggregate import delta_of_aggregate
from headwater.plan.deltas.distinct import delta_of_distinct
from headwater.plan.deltas.filter import delta_of_filter
from headwater.plan.deltas.generate import delta_of_generate
from headwater.plan.deltas.join import delta_of_join
from headwater.plan.deltas.opaque import delta_of_opaque
from headwater.plan.deltas.pivot import delta_of_pivot
from headwater.plan.deltas.project import delta_of_project
from headwater.plan.deltas.scan import delta_of_scan
from headwater.plan.deltas.set_operation import delta_of_set_operation
from headwater.plan.deltas.top_k import delta_of_top_k
from headwater.plan.deltas.union import delta_of_union
from headwater.plan.deltas.window import delta_of_window
from headwater.plan.planning import Law
from headwater.vocabulary.algebra import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Join,
    Node,
    Opaque,
    Pivot,
    Project,
    Scan,
    SetOperation,
    TopK,
    UnionAll,
    Window,
)

LAWS: Mapping[type[Node], Law] = {
    Scan: delta_of_scan,
    Filter: delta_of_filter,
    Project: delta_of_project,
    UnionAll: delta_of_union,
    Generate: delta_of_generate,
    Join: delta_of_join,
    Aggregate: delta_of_aggregate,
    Distinct: delta_of_distinct,
    Window: delta_of_window,
    SetOperation: delta_of_set_operation,
    Pivot: delta_of_pivot,
    TopK: delta_of_top_k,
    Opaque: delta_of_opaque,
}
