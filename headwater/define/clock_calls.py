"""The calls of a query that ask the clock, found twice: in its text and in its tree.

    SELECT k FROM r WHERE d >= current_date() - 30
    SELECT k FROM r WHERE d >= `current_date`() - 30

A call that only one of the two shows is none of ours to replace: then the query is left as it is,
and its view is rebuilt at every refresh.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType, exp

from headwater.vocabulary.clocks import CLOCKS, marker
from headwater.vocabulary.dialect import parsed, tokenize

_BARE: Mapping[type[exp.Expr], str] = {
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
}
"""Callable without parentheses."""

_ALWAYS = CLOCKS.keys() - {"unix_timestamp"}
_SPECIAL = ("now", "today", "tomorrow", "yesterday")
_TIMES = frozenset({"date", "timestamp", "to_date", "to_timestamp", "to_timestamp_ltz"})


@dataclass(frozen=True)
class ClockCalls:
    """A query with its calls marked; none are if they could not all be told for sure."""

    text: str
    tree: exp.Expr
    clocks: tuple[str, ...] = ()


def clock_calls(sql: str, columns: Iterable[str] = ()) -> ClockCalls:
    """Mark what asks the clock; `columns` are those of the tables the query reads."""
    tree = parsed(sql)
    plain = ClockCalls(sql, tree)
    if not any(name in sql.lower() for name in CLOCKS):
        return plain
    found = _in_text(sql, tokenize(sql))
    names = {*(c.lower() for c in columns), *_identifiers(tree)}
    if found is None or any(bare and name in names for *_, name, bare in found):
        return plain
    marked = tree.copy().transform(_marked)
    told = Counter(name for *_, name, _bare in found)
    both = told and told == Counter(map(clock_of, _clocks_in(marked)))
    if not both or any(map(_is_left, marked.find_all(exp.Func))):
        return plain
    return ClockCalls(_replaced(sql, found), marked, tuple(sorted(told)))


def clock_of(node: exp.Expr) -> str | None:
    """The clock that a marked call asks."""
    if not isinstance(node, exp.Anonymous) or not isinstance(node.this, exp.Identifier):
        return None
    return node.this.name if node.this.quoted and not node.expressions else None


def is_special_word(node: exp.Expr) -> bool:
    """`TIMESTAMP 'now'`, `CAST('today' AS DATE)` and their like."""
    if isinstance(node, exp.Cast):
        given, is_time = node.this, node.to.is_type(*exp.DataType.TEMPORAL_TYPES)
    elif isinstance(node, exp.Anonymous) and node.expressions:
        given, is_time = node.expressions[0], node.name.lower() in _TIMES
    else:
        return False
    is_text = isinstance(given, exp.Literal) and given.is_string
    return is_time and is_text and given.name.strip().lower().startswith(_SPECIAL)


def _marked(node: exp.Expr) -> exp.Expr:
    name = _BARE.get(type(node))
    if name is None and isinstance(node, exp.Anonymous) and not node.expressions:
        name = CLOCKS.get(node.name.lower())
    if name is None or node.args.get("expressions") or isinstance(node.parent, exp.Dot):
        return node
    return exp.Anonymous(this=exp.to_identifier(name, quoted=True))


def _is_left(call: exp.Expr) -> bool:
    """Asks the clock, and is not marked: `current_time(3)`."""
    if not isinstance(call, exp.Anonymous) or clock_of(call):
        return is_special_word(call)
    return call.name.lower() in _ALWAYS or is_special_word(call)


def _clocks_in(tree: exp.Expr) -> Iterable[exp.Anonymous]:
    return (node for node in tree.find_all(exp.Anonymous) if clock_of(node) is not None)


def _identifiers(tree: exp.Expr) -> set[str]:
    return {name.name.lower() for name in tree.find_all(exp.Identifier)}


Found = tuple[int, int, str, bool]
"""First and last character of a call, its clock, and whether it has no parentheses."""


def _in_text(sql: str, tokens: Sequence[Token]) -> list[Found] | None:
    """All calls by their words; None where a word stands where it may mean something else."""
    found: list[Found] = []
    for index, token in enumerate(tokens):
        before, *after = (tokens[index - 1] if index else None), *tokens[index + 1 : index + 3]
        name = CLOCKS.get(token.text.lower())
        if token.token_type is TokenType.STRING or name is None:
            if any(marker(clock) in token.text for clock in CLOCKS.values()) or _shown(token):
                return None
            continue
        kinds = [t.token_type for t in after]
        if kinds[:1] != [TokenType.L_PAREN]:
            is_name = before is not None and before.token_type in {TokenType.DOT, TokenType.ALIAS}
            if token.text.lower() in _BARE.values() and not is_name and not _is_quoted(sql, token):
                found.append((token.start, token.end, name, True))
        elif kinds == [TokenType.L_PAREN, TokenType.R_PAREN]:
            if before is not None and before.token_type is TokenType.DOT:
                return None
            found.append((token.start, after[1].end, name, False))
    return found


def _shown(token: Token) -> bool:
    """A column may be called after the call that made it."""
    is_name = token.token_type is TokenType.IDENTIFIER
    return is_name and any(f"{name}(" in token.text.lower() for name in CLOCKS)


def _is_quoted(sql: str, token: Token) -> bool:
    return sql[token.start] == "`" or token.token_type is TokenType.IDENTIFIER


def _replaced(sql: str, found: Sequence[Found]) -> str:
    for start, end, name, _ in reversed(found):
        sql = f"{sql[:start]}{marker(name)}{sql[end + 1 :]}"
    return sql
