"""Spark's SQL, read and written back word for word.

sqlglot's own Spark dialect maps functions to common forms so that it can translate them to other
engines. We only ever speak Spark, so every function but the few that upkeep must understand is kept
under the name the user wrote: what is not changed cannot change its meaning. And since Spark 4
`'it''s'` is one string with a quote in it; sqlglot reads two strings and would join them without
the quote, so they are merged before anybody parses.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.spark import Spark

_UNDERSTOOD = {"ARRAY", "AVG", "COUNT", "MAX", "MIN", "SUM"}
_REWRITTEN = {
    "APPROX_PERCENTILE", "ARGMAX", "ARGMIN", "ARG_MAX", "ARG_MIN", "CEIL", "CHAR", "CHR", "DECODE",
    "FLOOR", "INITCAP", "LISTAGG", "MAX_BY", "MIN_BY", "PERCENTILE", "PERCENTILE_APPROX",
    "STRING_AGG",
}  # fmt: skip
_CLAUSES = {TokenType.ALL, TokenType.WINDOW, TokenType.LIMIT, TokenType.OFFSET, TokenType.LOCK}
_QUANTIFIERS = {TokenType.ANY, TokenType.SOME}
_QUANTIFIED = {TokenType.LIKE, TokenType.ILIKE}
"""Only these ask any of several patterns; everywhere else any() and some() are aggregates."""
_WITH_UNIT = 3
_UNIT_FIRST = {"date_add", "date_diff", "dateadd", "datediff", "timestampadd", "timestampdiff"}


class VerbatimSpark(Spark):
    """The dialect in which Headwater parses and writes queries."""

    class Parser(Spark.Parser):  # type: ignore[misc, valid-type]  # sqlglot builds it at run time
        JOINS_HAVE_EQUAL_PRECEDENCE = False  # else `FROM a, b` would be written as CROSS JOIN
        ADD_JOIN_ON_TRUE = False
        SUPPORTS_TABLE_QUERY = True
        FUNCTIONS: ClassVar = {
            name: build for name, build in Spark.Parser.FUNCTIONS.items() if name in _UNDERSTOOD
        }
        FUNCTION_PARSERS: ClassVar = {
            name: parse
            for name, parse in Spark.Parser.FUNCTION_PARSERS.items()
            if name not in _REWRITTEN
        }
        COLON_IS_VARIANT_EXTRACT = True
        COLON_CHAIN_IS_SINGLE_EXTRACT = False

        def _parse_function_call(self, *given: Any, **named: Any) -> exp.Expr | None:
            """Where no pattern is asked, any() is a function like others: see `_as_name`."""
            is_name = self._curr.token_type is TokenType.VAR and self._curr.text.upper() == "ANY"
            parens = {"optional_parens": False} if is_name else {}
            return super()._parse_function_call(*given, **(named | parens))  # type: ignore[no-any-return]

        def _parse_value(self, values: bool = True) -> exp.Tuple | None:  # noqa: FBT001, FBT002
            """In `VALUES 1, 2 AS t(a)` the alias is the table's, not the last value's."""
            if self._curr.token_type is TokenType.L_PAREN:
                return super()._parse_value(values)  # type: ignore[no-any-return]
            only = self._parse_disjunction()
            return None if only is None else exp.Tuple(expressions=[only])

        def _parse_interval(self, *given: Any, **named: Any) -> exp.Expr | None:
            """One interval of several units is read as a sum, and bound as one value."""
            found = super()._parse_interval(*given, **named)
            return exp.Paren(this=found) if isinstance(found, exp.Add) else found

    class Generator(Spark.Generator):  # type: ignore[misc, valid-type]
        TRANSFORMS: ClassVar = {
            **Spark.Generator.TRANSFORMS,
            exp.JSONExtract: lambda self, e: self.func(
                "variant_get", e.this, e.expression, exp.Literal.string("variant")
            ),
        }
        TRANSFORMS.pop(exp.Select)  # QUALIFY, which Spark has, would become a derived table
        EXPRESSIONS_WITHOUT_NESTED_CTES: ClassVar[set[type[exp.Expr]]] = set()

        def not_sql(self, expression: exp.Not) -> str:
            """`x IS NOT NULL` is one operator to Spark, `NOT x IS NULL` are two."""
            asked = expression.this
            if isinstance(asked, exp.Is) and isinstance(asked.expression, exp.Null):
                return f"{self.sql(asked, 'this')} IS NOT NULL"
            return str(super().not_sql(expression))


def tokenize(text: str) -> list[Token]:
    """All tokens of a text; raises sqlglot's TokenError where a quote or comment stays open."""
    merged: list[Token] = []
    for token in VerbatimSpark().tokenize(text):
        if merged and _is_doubled_quote(text, merged[-1], token):
            merged[-1] = _joined(text, merged[-1], token)
        else:
            merged.append(token)
    return [_as_name(merged, place) for place in range(len(merged))]


def parsed(sql: str) -> exp.Expr:
    """One statement as a tree."""
    tree = VerbatimSpark().parser().parse(tokenize(sql), sql)[0]
    if tree is None:
        return exp.Select()
    for call in tree.find_all(exp.Anonymous):
        if call.name.lower() in _UNIT_FIRST and len(call.expressions) == _WITH_UNIT:
            unit = call.expressions[0]
            unit.replace(exp.Var(this=unit.name))
    return tree


def written(node: exp.Expr) -> str:
    """A tree as text, function names as they were written."""
    return node.sql(dialect=VerbatimSpark, normalize_functions=False)


def _as_name(tokens: list[Token], place: int) -> Token:
    """The token there; one that opens a clause elsewhere is a plain name where none can begin."""
    token, before = tokens[place], tokens[place - 1].token_type if place else None
    if before is TokenType.GROUP_BY and token.token_type in _CLAUSES:
        return _renamed(token)
    if token.token_type in _QUANTIFIERS and before not in _QUANTIFIED:
        return _renamed(token)
    if token.token_type is not TokenType.WINDOW:
        return token
    is_clause = [each.token_type for each in tokens[place + 2 : place + 3]] == [TokenType.ALIAS]
    return token if is_clause else _renamed(token)


def _renamed(token: Token) -> Token:
    place = {"line": token.line, "col": token.col, "start": token.start, "end": token.end}
    return Token(TokenType.VAR, token.text, **place, comments=token.comments)


def _is_doubled_quote(text: str, left: Token, right: Token) -> bool:
    both_strings = left.token_type is right.token_type is TokenType.STRING
    return both_strings and left.end + 1 == right.start and text[left.end] == text[right.start]


def _joined(text: str, left: Token, right: Token) -> Token:
    return Token(
        TokenType.STRING,
        left.text + text[right.start] + right.text,
        line=right.line,
        col=right.col,
        start=left.start,
        end=right.end,
        comments=left.comments + right.comments,
    )
