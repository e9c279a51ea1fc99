"""Spark's SQL, read and written back word for word.

sqlglot's own Spark dialect maps functions to common forms so that it can translate them to other
engines. We only ever speak Spark, so every function but the few that upkeep must understand is kept
under the name the user wrote: what is not changed cannot change its meaning.
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark

_UNDERSTOOD = {"ARRAY", "AVG", "COUNT", "MAX", "MIN", "SUM"}
_REWRITTEN = {
    "APPROX_PERCENTILE", "ARGMAX", "ARGMIN", "ARG_MAX", "ARG_MIN", "CEIL", "CHAR", "CHR", "DECODE",
    "FLOOR", "INITCAP", "MAX_BY", "MIN_BY", "PERCENTILE", "PERCENTILE_APPROX",
}  # fmt: skip
_UNIT_FIRST = {"date_add", "date_diff", "dateadd", "datediff", "timestampadd", "timestampdiff"}


class VerbatimSpark(Spark):
    """The dialect in which Headwater parses and writes queries."""

    class Parser(Spark.Parser):
        FUNCTIONS: ClassVar = {
            name: build for name, build in Spark.Parser.FUNCTIONS.items() if name in _UNDERSTOOD
        }
        FUNCTION_PARSERS: ClassVar = {
            name: parse
            for name, parse in Spark.Parser.FUNCTION_PARSERS.items()
            if name not in _REWRITTEN
        }


def parsed(sql: str) -> exp.Expression:
    """One statement as a tree."""
    tree = VerbatimSpark().parse(sql)[0]
    if tree is None:
        return exp.Select()
    for call in tree.find_all(exp.Anonymous):
        if call.name.lower() in _UNIT_FIRST and len(call.expressions) > 2:
            unit = call.expressions[0]
            unit.replace(exp.Var(this=unit.name))
    return tree


def written(node: exp.Expression) -> str:
    """A tree as text, function names as they were written."""
    return node.sql(dialect=VerbatimSpark, normalize_functions=False)
