"""What in a query is not decided by the rows it reads.

Two kinds: results that differ from run to run (a view could never be checked against its query),
and results that differ with the clock (a refresh binds it to one instant, see `clock_calls`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import Token, TokenType, exp

from headwater.define.lowering.functions import CLOCK, NONDETERMINISTIC
from headwater.define.query_tree import written_name

_NO_ARGUMENTS = re.compile(r"\s*\(\s*\)")
_BARE = frozenset(
    {
        "current_date",
        "current_time",
        "current_timestamp",
        "current_user",
        "localtimestamp",
        "session_user",
    }
)
"""Callable without parentheses. So is `user`, but that is far more often a column."""

_TIME_WORDS = frozenset({"now", "today", "tomorrow", "yesterday"})
_TIME_LITERALS = frozenset({"date", "timestamp", "timestamp_ltz", "timestamp_ntz"})
_NAMING = frozenset({TokenType.DOT, TokenType.ALIAS})


@dataclass(frozen=True)
class Unstable:
    """A call that gives other results at other times; `of_clock` if only the clock decides."""

    name: str
    offset: int
    of_clock: bool


def unstable_calls(
    text: str, tokens: Sequence[Token], nodes: Iterable[exp.Expr]
) -> tuple[Unstable, ...]:
    """All of them, in the order of the text."""
    found = {*_calls(text, nodes), *_bare_words(tokens), *_time_literals(tokens)}
    return tuple(sorted(found, key=lambda call: call.offset))


def _calls(text: str, nodes: Iterable[exp.Expr]) -> Iterator[Unstable]:
    for node in nodes:
        if isinstance(node, exp.TableSample):
            yield Unstable("TABLESAMPLE", _sample_offset(text, node), of_clock=False)
        elif isinstance(node, exp.Func) and (name := written_name(text, node)):
            yield from _named(name, node.meta["start"], text[node.meta["end"] + 1 :])


def _named(name: str, offset: int, behind: str) -> Iterator[Unstable]:
    known = name.lower()
    if known in NONDETERMINISTIC:
        yield Unstable(name, offset, of_clock=False)
    elif known in CLOCK or (known == "unix_timestamp" and _NO_ARGUMENTS.match(behind)):
        yield Unstable(name, offset, of_clock=True)


def _bare_words(tokens: Sequence[Token]) -> Iterator[Unstable]:
    """`current_date` and its like, which need no parentheses."""
    neighbours = zip([None, *tokens], tokens, [*tokens[1:], None], strict=False)
    for before, token, after in neighbours:
        if token.text.lower() not in _BARE or _is_quoted(token):
            continue
        is_called = after is not None and after.token_type is TokenType.L_PAREN
        is_a_name = before is not None and before.token_type in _NAMING
        qualifies = after is not None and after.token_type is TokenType.DOT
        if not (is_called or is_a_name or qualifies):
            yield from _named(token.text, token.start, "")


def _time_literals(tokens: Sequence[Token]) -> Iterator[Unstable]:
    """`TIMESTAMP 'now'`, `DATE 'today'`."""
    for token, after in pairwise(tokens):
        is_typed = token.text.lower() in _TIME_LITERALS and after.token_type is TokenType.STRING
        if is_typed and after.text.strip().lower() in _TIME_WORDS:
            yield Unstable(f"{token.text} '{after.text}'", token.start, of_clock=True)


def _is_quoted(token: Token) -> bool:
    return token.token_type in {TokenType.IDENTIFIER, TokenType.STRING}


def _sample_offset(text: str, sample: exp.TableSample) -> int:
    """The keyword after the sampled table; a sample itself remembers no place."""
    sampled = sample.parent or sample
    ends = [node.meta["end"] for node in sampled.walk() if "end" in node.meta]
    found = re.compile("TABLESAMPLE", re.IGNORECASE).search(text, min(ends, default=0))
    return found.start() if found else 0
