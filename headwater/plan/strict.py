"""Views that no technique but a rebuild can keep, whatever changes: STRICT does not take them."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from headwater.plan.soundness import decided_by_chance, verdicts, word
from headwater.plan.strategies.inputs import SourceWindow
from headwater.plan.view import CompiledView
from headwater.vocabulary.algebra import Filter, Node, Opaque, Project, Scan
from headwater.vocabulary.dialect import written
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.technique import Technique

_LONGEST = 200


def never_followed(view: CompiledView) -> Reason | None:
    """Why no incremental technique will ever be open, and for which part of the query.

    Followed is also a view that can follow only one of its sources.
    """
    names = frozenset(view.catalog)
    reasons = [_closed(view, changed) for changed in (names, *(frozenset({n}) for n in names))]
    if not names or None in reasons:
        return None
    why = reasons[0]
    return why and Reason(why.code, f"{why.text}, in {outline(_culprit(view))}")


def _closed(view: CompiledView, changed: Iterable[str]) -> Reason | None:
    """None if some incremental technique follows a change of these sources."""
    windows = {name: SourceWindow(name, 0, 1, changed=name in changed) for name in view.catalog}
    found = [v for v in verdicts(view, windows, ()) if v.technique is not Technique.REBUILD]
    return None if any(v.sound for v in found) else found[0].reason


def _culprit(view: CompiledView) -> Node:
    undecided = None if view.is_opaque else decided_by_chance(view)
    if undecided is not None:
        return undecided[0]
    node = view.layout.root
    while isinstance(node, (Project, Filter)):
        node = node.input
    return node


def outline(node: Node) -> str:
    """A part of a query in a few words: its operators from the outside in, and its tables."""
    if isinstance(node, Scan):
        return node.source
    if isinstance(node, Opaque):
        return f"`{_shortened(written(_named(node)))}`"
    inside = ", ".join(map(outline, node.inputs))
    return inside if isinstance(node, Project) else f"{word(node)}({inside})"


def _named(node: Opaque) -> exp.Expr:
    """The text with its tables' own names."""
    sources = {scan.stand_in: scan.source for scan in node.scans}

    def renamed(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Table) and part.name in sources:
            return exp.to_table(sources[part.name])
        return part

    return node.query.copy().transform(renamed)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
