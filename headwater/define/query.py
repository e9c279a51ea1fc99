"""All that can be learned from a query's text alone, once per text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import Token, TokenType, exp

from headwater.define.determinism import Unstable, unstable_calls
from headwater.define.kind import canonical
from headwater.define.query_tree import offset_of, parse_tokens, query_tokens, written_name
from headwater.define.table_names import TableRef, table_refs, tables_read
from headwater.vocabulary.names import HIDDEN_PREFIX

_PURE_TABLE_FUNCTIONS = frozenset(
    """
    explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer range stack
    variant_explode variant_explode_outer
    """.split()
)
_RESERVED_WORDS = frozenset(
    """
    all and any as asc between by case cross desc distinct else end except exists false for from
    full group having in inner intersect is join lateral left like limit natural not null on or
    order outer over partition right select then true union using values when where with
    """.split()
)
"""Keywords that are never names, so that their case means nothing."""
_KEYWORDS = re.compile(r"[A-Za-z_]+(\s+[A-Za-z_]+)*")
_LIMITS = frozenset({TokenType.LIMIT, TokenType.OFFSET})
_PARAMETERS = frozenset({TokenType.PARAMETER, TokenType.PLACEHOLDER, TokenType.COLON})


@dataclass(frozen=True)
class Remark:
    """Something about a query that the structure phase reports; the code says how gravely."""

    code: str
    message: str
    offset: int
    hint: str = ""


@dataclass(frozen=True)
class Findings:
    """A query's text without layout, the tables it reads, and what is to be said about it."""

    normal: str
    refs: tuple[TableRef, ...]
    unstable: tuple[Unstable, ...]
    nodes: tuple[exp.Expr, ...]
    remarks: tuple[Remark, ...]

    @property
    def tables(self) -> tuple[str, ...]:
        """Each table once, as first written."""
        names = {canonical(ref.name): ref.name for ref in reversed(self.refs)}
        return tuple(dict.fromkeys(names[canonical(ref.name)] for ref in self.refs))


@lru_cache(maxsize=4096)
def examine(text: str) -> Findings:
    """Look at a query; raises QuerySyntaxError where it does not parse.

    Remembered, because parsing is the dear part and the phases of a check ask the same queries.
    """
    tokens = query_tokens(text)
    tree = parse_tokens(text, tokens)
    nodes = tuple(tree.walk())
    tables = tuple(tables_read(tree))
    return Findings(
        normal=_normal(text, tokens),
        refs=table_refs(tables),
        unstable=unstable_calls(text, tokens, nodes),
        nodes=nodes,
        remarks=(
            *_pinned(tables),
            *_parameters(tokens, nodes),
            *_hidden_reads(text, nodes),
            *_reserved(tokens),
            *_unordered_limits(tokens, nodes),
        ),
    )


def _normal(text: str, tokens: Sequence[Token]) -> str:
    """The query's words with one blank between them; comments and hints decide nothing."""
    words: list[str] = []
    end = -1
    for token in tokens:
        if token.start > end and token.token_type is not TokenType.HINT:
            words.append(_spelled(text[token.start : token.end + 1]))
        end = token.end
    return " ".join(words)


def _spelled(written: str) -> str:
    if not _KEYWORDS.fullmatch(written):
        return written
    return " ".join(
        part.upper() if part.lower() in _RESERVED_WORDS else part for part in written.split()
    )


def _pinned(tables: Iterable[exp.Table]) -> Iterator[Remark]:
    for table in tables:
        if table.args.get("version") or table.args.get("when"):
            message = f"`{table.name}` is read at a fixed version"
            hint = "leave out AS OF: a view follows its sources"
            yield Remark("PINNED_TABLE", message, offset_of(table.this), hint)


def _parameters(tokens: Iterable[Token], nodes: Iterable[exp.Expr]) -> Iterator[Remark]:
    if any(isinstance(node, (exp.Parameter, exp.Placeholder)) for node in nodes):
        offset = next((t.start for t in tokens if t.token_type in _PARAMETERS), 0)
        hint = "write the value into the query"
        yield Remark("QUERY_UNSUPPORTED", "a view has no parameters", offset, hint)


def _hidden_reads(text: str, nodes: Iterable[exp.Expr]) -> Iterator[Remark]:
    """Constructs behind which a table could be read that nobody sees."""
    for node in nodes:
        if isinstance(node, exp.QueryTransform):
            yield Remark("QUERY_UNSUPPORTED", "TRANSFORM runs a script", offset_of(node))
        elif isinstance(node, (exp.Table, exp.Lateral)) and isinstance(node.this, exp.Func):
            yield from _table_function(text, node.this)


def _table_function(text: str, call: exp.Expr) -> Iterator[Remark]:
    name = written_name(text, call)
    if name.lower() not in _PURE_TABLE_FUNCTIONS:
        message = f"what the table function `{name}` reads cannot be followed"
        yield Remark("QUERY_UNSUPPORTED", message, offset_of(call), "make its input a source")


def _reserved(tokens: Iterable[Token]) -> Iterator[Remark]:
    for token in tokens:
        is_name = token.token_type in {TokenType.VAR, TokenType.IDENTIFIER}
        if is_name and canonical(token.text).startswith(HIDDEN_PREFIX):
            message = f"`{token.text}`: names that begin with {HIDDEN_PREFIX} are Headwater's own"
            yield Remark("RESERVED_NAME", message, token.start)


def _unordered_limits(tokens: Sequence[Token], nodes: Iterable[exp.Expr]) -> Iterator[Remark]:
    for query in nodes:
        if not isinstance(query, exp.Query):
            continue
        limited = query.args.get("limit") or query.args.get("offset")
        if limited and not query.args.get("order") and not isinstance(query.parent, exp.Exists):
            message = "LIMIT or OFFSET without ORDER BY keeps any rows"
            before = offset_of(limited)
            keywords = [t.start for t in tokens if t.token_type in _LIMITS and t.start < before]
            yield Remark("UNORDERED_LIMIT", message, max(keywords, default=0), "add ORDER BY")
