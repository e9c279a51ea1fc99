"""Compile a view: let Spark analyse its query and keep what planning needs to know."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater.define.lowering.expressions import unknown_calls
from headwater.define.lowering.lower import Lowered
from headwater.define.once import lower_once
from headwater.execute.analyse import Analysis, analyse, register_empty
from headwater.execute.isolated import isolated
from headwater.execute.own_functions import own_functions
from headwater.execute.rounding import rounded_values
from headwater.execute.settings import read_otherwise
from headwater.plan.collated import collated_group
from headwater.plan.compiled import Compilation, uncomparable, ungroupable, unkeepable
from headwater.plan.exact import delicate
from headwater.plan.soundness import subtracted
from headwater.plan.strategies.inputs import used_fields
from headwater.plan.untyped import untyped_key
from headwater.plan.view import Columns
from headwater.plan.widened import can_be_cast
from headwater.vocabulary.algebra import TopK, walk
from headwater.vocabulary.clocks import bound, values_at
from headwater.vocabulary.dialect import parsed
from headwater.vocabulary.reason import Reason

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_WORD = re.compile(r"['\"]\s*(now|today|tomorrow|yesterday)", re.IGNORECASE)
_CAST = re.compile(
    r"cast\(\s*(now|today|tomorrow|yesterday)[^()#]* as (date|timestamp)", re.IGNORECASE
)


def compile_query(
    spark: SparkSession,
    sql: str,
    sources: dict[str, Columns],
    once: tuple[str, ...] = (),
    key: tuple[str, ...] = (),
) -> Compilation:
    """Raises Spark's own AnalysisException where the query is wrong."""
    return compile_in(isolated(spark), sql, sources, once, key)


def compile_in(
    session: SparkSession,
    sql: str,
    sources: dict[str, Columns],
    once: tuple[str, ...] = (),
    key: tuple[str, ...] = (),
) -> Compilation:
    """Compile in a session whose temporary views may be replaced by stand-ins for the sources."""
    register_empty(session, sources)
    catalog = {name: tuple(c for c, _ in columns) for name, columns in sources.items()}
    own = own_functions(session, unknown_calls(parsed(sql)))
    kinds = {name: function.kind for name, function in own.items()}
    typed = {name: dict(columns) for name, columns in sources.items()}
    lowered = lower_once(sql, catalog, once, kinds, typed)
    analysis = analyse(session, sql, lowered.query)
    refusal = (
        _unread(session)
        or _unbound(session, lowered, analysis)
        or _refusal(lowered, analysis, sources)
        or _unfound(analysis, key)
    )
    functions = {name: (function.kind, function.fingerprint) for name, function in own.items()}
    rounded = () if refusal else rounded_values(session, lowered.query)
    return Compilation(
        sources,
        analysis.columns,
        analysis.types,
        refusal,
        functions,
        tuple(rounded),
        once,
        key,
        delicate(analysis.inner.items()),
        unkeepable(analysis.inner.items()),
        analysis.widened,
    )


def _unread(session: SparkSession) -> Reason | None:
    setting = read_otherwise(session.conf.get)
    why = f"under {setting} Spark reads queries otherwise than our parser"
    return Reason("PARSED_DIFFERENTLY", why) if setting else None


def _unbound(session: SparkSession, lowered: Lowered, analysis: Analysis) -> Reason | None:
    """Whether the query asks the clock where no value can be put in the question's place."""
    asked = lowered.asked
    if _WORD.search(asked.text) and _CAST.search(_analysed(session.sql(asked.text))):
        return Reason("CLOCK_DEPENDENT", "a word such as 'today' is taken for a date")
    if not asked.clocks:
        return None
    try:
        told = session.sql(bound(asked.text, values_at(asked.clocks, _ANY_TIME, "UTC"))).schema
    except Exception:  # noqa: BLE001  (whatever Spark refuses here, the calls are left in place)
        return Reason("CLOCK_DEPENDENT", "Spark refuses a literal in the place of the call")
    if [f.dataType.simpleString() for f in told.fields] != [t for _, t in analysis.columns]:
        return Reason("CLOCK_DEPENDENT", "a literal in the place of the call has another type")
    return None


def _names_agree(lowered: Lowered, analysis: Analysis) -> bool:
    """Columns of one type in another order have the same types; their names tell them apart."""
    pairs = zip(lowered.query.names, lowered.sure, analysis.columns, strict=True)
    return all(name.lower() == shown.lower() for name, sure, (shown, _) in pairs if sure)


def _analysed(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().analyzed().toString())  # noqa: SLF001


def _unfound(analysis: Analysis, key: tuple[str, ...]) -> Reason | None:
    """Whether rows whose values are computed once cannot be found by the key of the view."""
    named = {name.lower() for name in key}
    culprit = next((n for n, t in analysis.columns if t == "void" and n.lower() in named), None)
    why = f"rows cannot be found by {culprit}, a NULL without a type"
    return Reason("UNCOMPARABLE_TYPE", why) if culprit else None


def _refusal(lowered: Lowered, analysis: Analysis, sources: dict[str, Columns]) -> Reason | None:
    query = lowered.query
    if not analysis.same_text:
        return Reason("PARSED_DIFFERENTLY", "Spark reads the query otherwise than our parser")
    if query.root.columns and not analysis.same_tree:
        return Reason("TYPED_DIFFERENTLY", "our operators give other types than the query")
    if query.root.columns and not _names_agree(lowered, analysis):
        return Reason("NAMED_DIFFERENTLY", "our operators give columns of other names")
    ordered = any(isinstance(node, TopK) for node in walk(query.root))
    culprit = uncomparable((*analysis.keys, *(analysis.columns if ordered else ())))
    culprit = culprit or ungroupable(analysis.columns)
    culprit = culprit or untyped_key(query.root, analysis.inner)
    if not can_be_cast(analysis.widened):
        culprit = culprit or "a union of collated texts or intervals"
    culprit = culprit or collated_group(query.root, analysis.inner)
    for source, columns in sources.items():
        used = set(used_fields(query.root, source))
        culprit = culprit or ungroupable(tuple(c for c in columns if c[0] in used))
    for node in subtracted(query.root):
        shown = tuple(c for c in analysis.inner.items() if c[0] in node.columns)
        culprit = culprit or ungroupable(shown)
    if culprit is not None:
        return Reason("UNCOMPARABLE_TYPE", f"rows with {culprit} cannot be netted")
    return None
