"""Compile a view: let Spark analyse its query and keep what planning needs to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.define.lowering.expressions import unknown_calls
from headwater.define.lowering.lower import lower
from headwater.execute.analyse import Analysis, analyse, register_empty
from headwater.execute.isolated import isolated
from headwater.execute.own_functions import own_functions
from headwater.execute.rounding import rounded_values
from headwater.plan.compiled import Compilation, uncomparable, ungroupable
from headwater.plan.strategies.inputs import used_fields
from headwater.plan.view import Columns
from headwater.vocabulary.algebra import Query
from headwater.vocabulary.dialect import parsed
from headwater.vocabulary.reason import Reason

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def compile_query(spark: SparkSession, sql: str, sources: dict[str, Columns]) -> Compilation:
    """Raises Spark's own AnalysisException where the query is wrong."""
    return compile_in(isolated(spark), sql, sources)


def compile_in(session: SparkSession, sql: str, sources: dict[str, Columns]) -> Compilation:
    """Compile in a session whose temporary views may be replaced by stand-ins for the sources."""
    register_empty(session, sources)
    catalog = {name: tuple(c for c, _ in columns) for name, columns in sources.items()}
    own = own_functions(session, unknown_calls(parsed(sql)))
    lowered = lower(sql, catalog, {name: function.kind for name, function in own.items()})
    analysis = analyse(session, sql, lowered.query)
    refusal = _refusal(lowered.query, analysis, sources)
    functions = {name: (function.kind, function.fingerprint) for name, function in own.items()}
    rounded = () if refusal else rounded_values(session, lowered.query)
    return Compilation(
        sources, analysis.columns, analysis.types, refusal, functions, tuple(rounded)
    )


def _refusal(query: Query, analysis: Analysis, sources: dict[str, Columns]) -> Reason | None:
    if not analysis.same_text:
        return Reason("PARSED_DIFFERENTLY", "Spark reads the query otherwise than our parser")
    if query.root.columns and not analysis.same_tree:
        return Reason("TYPED_DIFFERENTLY", "our operators give other types than the query")
    culprit = uncomparable(analysis.columns)
    for source, columns in sources.items():
        used = set(used_fields(query.root, source))
        culprit = culprit or ungroupable(tuple(c for c in columns if c[0] in used))
    if culprit is not None:
        return Reason("UNCOMPARABLE_TYPE", f"rows with {culprit} cannot be netted")
    return None
