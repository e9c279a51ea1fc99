"""A query's text to sqlglot's tree, with errors at the right offset and in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from sqlglot import Token, exp
from sqlglot.errors import ParseError

from headwater.define.tokens import tokenize_closed
from headwater.vocabulary.dialect import VerbatimSpark

_OPENINGS = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(")
_SPARK = VerbatimSpark()
_EXPECTING = re.compile(r"(?:Expecting|Expected) (.+?)(?:,? but got .*)?$", re.DOTALL)
_INTERNALS = re.compile(r"<.*>", re.DOTALL)


class QuerySyntaxError(Exception):
    """The query does not parse; `offset` is where in its text."""

    def __init__(self, code: str, message: str, offset: int) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.offset = offset


def parse_query(text: str) -> exp.Expression:
    """The tree of one query; nodes remember `start` and `end` offsets in their `meta`."""
    return parse_tokens(text, query_tokens(text))


def query_tokens(text: str) -> list[Token]:
    """The tokens of one query, which must begin like one."""
    tokens, unclosed = tokenize_closed(text)
    if unclosed:
        raise QuerySyntaxError("UNCLOSED_TEXT", unclosed.message, unclosed.start)
    if not tokens:
        raise QuerySyntaxError("SQL_SYNTAX", "expected a query", 0)
    if tokens[0].text.upper() not in _OPENINGS:
        found = f"expected a query (SELECT, WITH, FROM or VALUES), found `{tokens[0].text}`"
        raise QuerySyntaxError("SQL_SYNTAX", found, tokens[0].start)
    return tokens


def parse_tokens(text: str, tokens: Sequence[Token]) -> exp.Expression:
    """Parse tokens that `query_tokens` made of a text."""
    try:
        trees = _SPARK.parser().parse(list(tokens), text)
    except ParseError as refused:
        raise _located(refused, text, tokens) from None
    except RecursionError:
        raise QuerySyntaxError("SQL_SYNTAX", "the query nests too deeply", 0) from None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        # sqlglot trips over some malformed input instead of refusing it
        raise QuerySyntaxError("SQL_SYNTAX", "the query cannot be understood", 0) from None
    tree = trees[0]
    if len(trees) == 1 and isinstance(tree, (exp.Query, exp.Values)):
        return cast("exp.Expression", tree)
    raise QuerySyntaxError("SQL_SYNTAX", "this is not one query", tokens[0].start)


def offset_of(node: exp.Expr) -> int:
    """Where a node's text starts: the place it remembers, or the first of any node below it."""
    if "start" in node.meta:
        return int(node.meta["start"])
    places = (found.meta["start"] for found in node.walk() if "start" in found.meta)
    return min(places, default=0)


def written_name(text: str, call: exp.Expr) -> str:
    """A function's name as the user spelled it; empty for calls that sqlglot made up."""
    if "start" not in call.meta:
        return ""
    return text[call.meta["start"] : call.meta["end"] + 1].strip("`")


def _located(refused: ParseError, text: str, tokens: Sequence[Token]) -> QuerySyntaxError:
    """sqlglot counts a token by its end; people look for its start."""
    fault = refused.errors[0]
    ends = {(token.line, token.col): token for token in tokens}
    token = ends.get((fault["line"], fault["col"]), tokens[-1])
    is_last = token is tokens[-1]
    message = _message(fault["description"], text[token.start : token.end + 1], is_last=is_last)
    return QuerySyntaxError("SQL_SYNTAX", message, token.start)


def _message(description: str, found: str, *, is_last: bool) -> str:
    if expecting := _EXPECTING.match(description):
        wanted = expecting.group(1)
        shown = wanted if wanted[0].isalnum() else f"`{wanted}`"
        return f"expected {shown} {'after' if is_last else 'at'} `{found}`"
    if description.startswith("Required keyword"):
        return f"something is missing at `{found}`"
    if description.startswith("Invalid expression"):
        return f"unexpected `{found}`"
    plain = _INTERNALS.sub("", description)
    return f"{plain[:1].lower()}{plain[1:]} at `{found}`"
