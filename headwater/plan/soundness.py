"""Which techniques give the exact result for a view and a change, and why the others do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headwater.plan.layout import Layout
from headwater.plan.moved import asks_anew, is_moved
from headwater.plan.restrict import shared_partition
from headwater.plan.rounded import decided_by_rounding, rounded_columns
from headwater.plan.shape import followed_top, grouped_shape
from headwater.plan.strategies.inputs import SourceWindow
from headwater.plan.taken import taken_columns
from headwater.plan.ties import unsettled_columns, unsettled_top
from headwater.plan.view import CompiledView
from headwater.vocabulary.algebra import (
    Aggregate,
    Filter,
    Generate,
    Join,
    JoinKind,
    Node,
    Opaque,
    Pivot,
    Project,
    Scan,
    TopK,
    UnionAll,
    Window,
    used_columns,
    walk,
)
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.technique import Technique

_LINEAR = (Scan, Filter, Project, UnionAll, Generate)
_PRODUCTS = {JoinKind.INNER, JoinKind.CROSS}


@dataclass(frozen=True)
class Verdict:
    """Whether a technique may be used now."""

    technique: Technique
    reason: Reason
    sound: bool = True


def verdicts(
    view: CompiledView,
    windows: Mapping[str, SourceWindow],
    must_rebuild: tuple[Reason, ...],
    clocks: frozenset[str] = frozenset(),
) -> tuple[Verdict, ...]:
    """One verdict per technique, cheapest first; `clocks` are those that moved."""
    rebuild = Verdict(Technique.REBUILD, Reason("ALWAYS_SOUND", "recomputes the query"))
    changed = frozenset(w.source for w in windows.values() if w.changed) | clocks
    closed = must_rebuild[0] if must_rebuild else _closed(view, changed)
    if closed is not None:
        return (*(_no(t, closed) for t in _INCREMENTAL), rebuild)
    whole = view_recomputed(view.layout, changed)
    undecided = decided_by_chance(view)
    if undecided is not None:
        return (*(_no(t, whole or undecided[1]) for t in _INCREMENTAL), rebuild)
    if whole is not None:
        return (
            *(_no(t, whole) for t in _INCREMENTAL if t is not Technique.MERGE),
            _merge(view, windows, clocks),
            rebuild,
        )
    return (
        _append(view, windows, changed),
        _merge(view, windows, clocks),
        _delta(view, changed),
        _rekey(view, changed),
        rebuild,
    )


def _closed(view: CompiledView, changed: frozenset[str]) -> Reason | None:
    """Why no incremental technique is open, whatever changed."""
    if view.is_opaque:
        return view.reasons[0] if view.reasons else Reason("OPAQUE", "the query is kept as text")
    unstable = next((r for r in view.reasons if r.code in UNSTABLE), None)
    return unstable or _asks_anew(view, changed)


UNSTABLE = {"CLOCK_DEPENDENT", "NONDETERMINISTIC", "UNKNOWN_FUNCTION"}
"""Text whose value before the change cannot be computed again, so no difference can be made: the
clock's value was not bound, or a function of the user's own may have got another body."""

_INCREMENTAL = (Technique.APPEND, Technique.MERGE, Technique.DELTA, Technique.REKEY)


def _asks_anew(view: CompiledView, changed: frozenset[str]) -> Reason | None:
    """Whether every row of the view is computed with a clock that moved.

    Rows that a filter lets in or out can be told; but what a HAVING hides is not stored.
    """
    node, grouped = view.layout.root, view.layout.keys is not None
    while True:
        if asks_anew(node, changed) and (grouped or not isinstance(node, Filter)):
            return _clock_moved(node)
        if not isinstance(node, (Project, Filter)):
            return None
        node = node.input


def _clock_moved(node: Node) -> Reason:
    return Reason("CLOCK_MOVED", f"{word(node)} computes with the clock, which tells another time")


def decided_by_chance(view: CompiledView) -> tuple[Node, Reason] | None:
    """Groups that are replaced whole may be chosen by such a value, but not what they are made of.

    Neither may a state that is added to: what is taken from it must be what was once added.
    """
    shape = grouped_shape(view.layout.root)
    grouped = shape is not None and view.layout.keys is not None
    below = shape.aggregate if shape is not None and grouped else view.layout.root
    node = decided_by_rounding(below, view.rounded)
    if node is not None:
        why = f"{word(node)} decides by a sum of floats, whose last digits depend on their order"
        return node, Reason("ROUNDED", why)
    followed = below if grouped else _followed(view.layout)
    node = (
        decided_by_rounding(below, taken_columns(below))
        or decided_by_rounding(followed, unsettled_columns(followed))
        or unsettled_top(followed)
    )
    if node is not None:
        why = f"{word(node)} decides by a value of rows as they come"
        return node, Reason("FIRST_TO_COME", why)
    return None


def _no(technique: Technique, reason: Reason) -> Verdict:
    return Verdict(technique, reason, sound=False)


def _append(
    view: CompiledView, windows: Mapping[str, SourceWindow], changed: frozenset[str]
) -> Verdict:
    if view.layout.keys is not None:
        return _no(Technique.APPEND, Reason("GROUPED", "a new row may change an existing group"))
    if not all(w.inserts_only for w in windows.values() if w.changed):
        return _no(Technique.APPEND, Reason("NOT_APPEND_ONLY", "a source has updates or deletes"))
    culprit = _not_monotone(view.layout.root, changed)
    if culprit is not None:
        why = Reason("NOT_MONOTONE", f"{word(culprit)}: a new row may take one away")
        return _no(Technique.APPEND, why)
    why = Reason("INSERTS_ONLY", "the log proves that rows were only inserted")
    return Verdict(Technique.APPEND, why)


def _merge(
    view: CompiledView, windows: Mapping[str, SourceWindow], clocks: frozenset[str]
) -> Verdict:
    layout = view.layout
    if layout.keys is None:
        return _no(Technique.MERGE, Reason("NOT_GROUPED", "the view is no grouped aggregate"))
    if layout.groups is None:
        code, _, detail = layout.unmergeable.partition(": ")
        text = detail or "groups that a HAVING hides have no state to add to"
        return _no(Technique.MERGE, Reason(code, text))
    below = layout.groups.shape.aggregate.input
    used = [used_columns(i.expression) for i in layout.groups.shape.aggregate.aggregates]
    if any(ids & rounded_columns(below, view.rounded) for ids in used):
        why = Reason("ROUNDED", "it adds up what was computed from sums of floats")
        return _no(Technique.MERGE, why)
    chosen = taken_columns(below) | unsettled_columns(below)
    if any(ids & rounded_columns(below, chosen) for ids in used):
        why = Reason("FIRST_TO_COME", "it adds up values of rows as they come")
        return _no(Technique.MERGE, why)
    if layout.groups.has_extremes and not only_gains(below, windows, clocks):
        told = "groups that lose their stored least or greatest value are recomputed"
        return Verdict(Technique.MERGE, Reason("EXTREMA_STORED", told))
    return Verdict(Technique.MERGE, Reason("ADDITIVE_STATE", "the aggregates add up"))


def _delta(view: CompiledView, changed: frozenset[str]) -> Verdict:
    if view.layout.keys is not None:
        return _no(Technique.DELTA, Reason("GROUPED", "groups are kept by merge or rekey"))
    keyed = _not_linear(view.layout.root, changed)
    if keyed is not None:
        why = Reason("NOT_LINEAR", f"{word(keyed)} is recomputed by key, see rekey")
        return _no(Technique.DELTA, why)
    return Verdict(Technique.DELTA, Reason("LINEAR", "linear operators and inner joins"))


def _rekey(view: CompiledView, changed: frozenset[str]) -> Verdict:
    if followed_top(view.layout.root) is not None:
        why = Reason("FIRST_ROWS", "the change is put among the first rows")
        return Verdict(Technique.REKEY, why)
    if view.layout.all_rows is not None:
        why = Reason("ALL_ROWS", "windows look at the rows that are stored, and at the change")
        return Verdict(Technique.REKEY, why)
    if view.layout.firsts is not None:
        why = Reason("FIRST_OF_EACH", "what is stored tells which partitions begin otherwise")
        return Verdict(Technique.REKEY, why)
    if view.layout.keys is not None:
        return Verdict(Technique.REKEY, Reason("TOUCHED_GROUPS", "by the view's group keys"))
    keyed = _not_linear(view.layout.root, changed)
    if keyed is None:
        return _no(Technique.REKEY, Reason("NO_KEYED_OPERATOR", "delta does the same for less"))
    return Verdict(Technique.REKEY, Reason("TOUCHED_KEYS", f"{word(keyed)} by its keys"))


def view_recomputed(layout: Layout, changed: frozenset[str]) -> Reason | None:
    """The operator because of which no change of a view's own rows can be made."""
    if layout.all_rows is not None and not is_moved(layout.all_rows, changed):
        return recomputed_whole(layout.root, changed)
    return recomputed_whole(_followed(layout), changed)


def _followed(layout: Layout) -> Node:
    """The part whose change is made; what is above it is computed from that and the table."""
    top = followed_top(layout.root)
    if layout.firsts is not None:
        return layout.firsts.window.input
    return layout.all_rows or (layout.root if top is None else top.input)


def recomputed_whole(root: Node, changed: frozenset[str]) -> Reason | None:
    """The operator because of which the whole view is recomputed anyway, if there is one."""
    node = root
    while isinstance(node, (Project, Filter)):
        node = node.input
    if not is_moved(node, changed):
        return None
    if isinstance(node, Opaque):
        return Reason(*node.reason.split(": ", 1))
    return _matter_of_all_rows(node)


def _matter_of_all_rows(node: Node) -> Reason | None:
    if isinstance(node, TopK):
        return Reason("TOP_K", "which rows are first is a matter of all rows")
    if isinstance(node, Window) and not shared_partition(node):
        return Reason("WINDOW_UNPARTITIONED", "a window over the whole table")
    if isinstance(node, Aggregate) and not node.keys:
        return Reason("GLOBAL_AGGREGATE", "one group of all rows")
    if isinstance(node, Pivot) and not node.groups:
        return Reason("GLOBAL_AGGREGATE", "one row of all rows, pivoted")
    return None


def recomputed_parts(
    view: CompiledView, technique: Technique, changed: frozenset[str]
) -> tuple[Reason, ...]:
    """The parts of a view that a technique recomputes whole; its own operator is not one."""
    groups = view.layout.groups
    if technique is Technique.MERGE and groups is not None:
        return _recomputed_parts(groups.shape.aggregate.input, changed)
    return _recomputed_parts(_followed(view.layout), changed)


def _recomputed_parts(root: Node, changed: frozenset[str]) -> tuple[Reason, ...]:
    found = []
    for node in walk(root):
        why = _recomputed_by_itself(node, changed)
        if why is not None:
            found.append(Reason("SUBTREE_RECOMPUTED", f"{why.code}: {why.text}"))
    return tuple(dict.fromkeys(found))


def _recomputed_by_itself(node: Node, changed: frozenset[str]) -> Reason | None:
    if not isinstance(node, Filter) and asks_anew(node, changed):
        return _clock_moved(node)
    if isinstance(node, (Opaque, TopK, Window, Aggregate, Pivot)):
        return recomputed_whole(node, changed)
    return None


def _not_linear(root: Node, changed: frozenset[str]) -> Node | None:
    for node in walk(root):
        if not is_moved(node, changed) or isinstance(node, _LINEAR):
            continue
        if isinstance(node, Join) and (
            node.kind in _PRODUCTS or not is_moved(_driven(node), changed)
        ):
            continue
        return node
    return None


def subtracted(root: Node) -> Iterator[Node]:
    """The operators below a view's own groups whose change may be made by a difference."""
    shape = grouped_shape(root)
    for node in walk(root if shape is None else shape.aggregate.input):
        is_product = isinstance(node, Join) and node.kind in _PRODUCTS
        if not isinstance(node, _LINEAR) and not is_product:
            yield node


def only_gains(
    node: Node, windows: Mapping[str, SourceWindow], clocks: frozenset[str] = frozenset()
) -> bool:
    """Whether an operator's change is proved to be inserts, each of weight one."""
    moved = [w for w in windows.values() if w.changed]
    changed = frozenset(w.source for w in moved) | clocks
    return all(w.inserts_only for w in moved) and _not_monotone(node, changed) is None


def _not_monotone(root: Node, changed: frozenset[str]) -> Node | None:
    """Linear operators without negative terms are monotone; a clock takes rows away as well."""
    timed = next((node for node in walk(root) if asks_anew(node, changed)), None)
    return timed or _not_linear(root, changed)


def _driven(join: Join) -> Node:
    """The side whose change flips rows of the other; a full join is driven by both."""
    if join.kind is JoinKind.FULL:
        return join
    return join.left if join.kind is JoinKind.RIGHT else join.right


def word(node: Node) -> str:
    if isinstance(node, Join):
        return f"{node.kind.value} JOIN"
    return type(node).__name__.upper()
