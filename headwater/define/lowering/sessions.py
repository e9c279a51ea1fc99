"""session_window(t, gap): rows of one group that follow each other within a gap, by windows.

SELECT u, session_window(t, '5 minutes'), count(*) FROM r GROUP BY u, session_window(t, '5 minutes')
->  a row begins a session if no earlier one of its u is up to a gap older;
    a row's session is known by the latest such t;
    SELECT u, named_struct('start', s, 'end', max(t) + gap), count(*) ... GROUP BY u, s

A row without a time belongs to no session.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.define.lowering.context import Lowering
from headwater.define.lowering.expressions import SESSION
from headwater.define.lowering.grouping_sets import is_expanded
from headwater.define.lowering.refusal import NotLoweredError
from headwater.define.lowering.scope import Scope
from headwater.define.lowering.time_windows import micros
from headwater.vocabulary.algebra import Filter, Item, Node, Project, Window, column, passed
from headwater.vocabulary.dialect import parsed, written
from headwater.vocabulary.names import quoted

_NAME = "session_window"
_ARGUMENTS = 2
_DAY = 86_400 * 10**6


def with_sessions(select: exp.Select, scope: Scope) -> exp.Select:
    """A copy in which the session that a SELECT groups by is marked, and called in full."""
    if not _calls(select):
        return select
    copied = select.copy()
    calls = _calls(copied)
    clause = copied.args.get("group")
    if any(call != calls[0] for call in calls) or clause is None or is_expanded(clause):
        raise NotLoweredError("SESSION_WINDOW", "two kinds of sessions, or no plain GROUP BY")
    if any(call.find_ancestor(exp.Where, exp.Join) for call in calls):
        raise NotLoweredError("SESSION_WINDOW", "a session before rows are grouped")
    if scope.find([_NAME]) is None:
        _spell_out(copied, calls[0])
    for call in _calls(copied):
        call.meta[SESSION] = True
    for item in copied.expressions:
        if item == calls[0]:  # as Spark names it
            item.replace(exp.alias_(item.copy(), _NAME))
    return copied


def _spell_out(select: exp.Select, call: exp.Expr) -> None:
    """Spark has a column for the session: session_window.start."""
    for name in list(select.find_all(exp.Column)):
        if name.find_ancestor(exp.Select) is not select:
            continue
        if name.table.lower() == _NAME:
            name.replace(exp.Dot(this=call.copy(), expression=name.this.copy()))
        elif name.name.lower() == _NAME and not name.table:
            name.replace(call.copy())


def _calls(select: exp.Select) -> list[exp.Anonymous]:
    """Those of the SELECT itself, not of the queries in it."""
    found = [call for call in select.find_all(exp.Anonymous) if call.name.lower() == _NAME]
    return [call for call in found if call.find_ancestor(exp.Select) is select]


def is_session(key: exp.Expr) -> bool:
    return SESSION in key.meta


def refuse_sessions(expression: exp.Expr) -> None:
    """Where no group is at hand: inside another key, an aggregate, or beside other groups."""
    if any(map(is_session, expression.find_all(exp.Anonymous))):
        raise NotLoweredError("SESSION_WINDOW", "a session inside a key or an aggregate")


@dataclass(frozen=True)
class Sessions:
    """Rows that know the beginning of their session."""

    rows: Node
    begins: exp.Expr  # the key, beside the other keys
    ends: exp.Expr  # an aggregate, less the gap
    gap: str

    def struct(self, begins: str, ends: str) -> exp.Expr:
        """The session of a group whose key and aggregate are given."""
        start, end = quoted(begins), f"{quoted(ends)} + {self.gap}"
        return _expression(f"named_struct('start', {start}, 'end', {end})")


def sessions(
    context: Lowering, rows: Node, call: exp.Expr, others: tuple[exp.Expr, ...]
) -> Sessions:
    """`others` are the keys besides; the call's time is an expression over the rows."""
    time, gap = _arguments(call)
    at, before, since = (context.fresh(word) for word in ("at", "before", "since"))
    timed = Project(rows, (*passed(rows.columns), Item(at, time)))
    kept = Filter(timed, _expression(f"{quoted(at)} IS NOT NULL"))
    over = f"ORDER BY {quoted(at)}"
    if others:
        over = f"PARTITION BY {', '.join(map(written, others))} {over}"
    earlier = "RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '0.000001' SECOND PRECEDING"
    latest = _expression(f"max({quoted(at)}) OVER ({over} {earlier})")
    looked = Window(kept, (Item(before, latest),))
    first = f"CASE WHEN {quoted(at)} <= {quoted(before)} + {gap} THEN NULL ELSE {quoted(at)} END"
    begun = _expression(f"max({first}) OVER ({over})")
    known = Window(looked, (Item(since, begun),))
    shown = Project(known, passed((*rows.columns, at, since)))
    return Sessions(shown, column(since), _expression(f"max({quoted(at)})"), gap)


def _arguments(call: exp.Expr) -> tuple[exp.Expr, str]:
    arguments = list(call.expressions)
    if len(arguments) != _ARGUMENTS:
        raise NotLoweredError("SESSION_WINDOW", "a time and a gap are expected")
    try:
        length = micros(arguments[1])
    except NotLoweredError as refusal:
        raise NotLoweredError("SESSION_WINDOW", refusal.text) from refusal
    if not 0 < length < _DAY:  # a day may have 23 hours
        raise NotLoweredError("SESSION_WINDOW", "a gap of no time, or of a day and more")
    return arguments[0], f"make_dt_interval(0, 0, 0, CAST({length / 10**6:.6f} AS DECIMAL(18, 6)))"


def _expression(sql: str) -> exp.Expr:
    found: exp.Expr = parsed(f"SELECT {sql}").expressions[0]
    return found
