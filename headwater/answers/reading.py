"""Sources and views as DataFrames, by name, without the columns that only upkeep needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.define.kind import canonical
from headwater.execute.reading import columns_at, snapshot
from headwater.plan.consolidate import consolidated
from headwater.plan.exact import delicate
from headwater.plan.render import listed
from headwater.plan.stored import StoredTable
from headwater.store.views import ViewState
from headwater.vocabulary.errors import UnknownName, WrongUse
from headwater.vocabulary.names import WEIGHT, quoted
from headwater.workspace.compiled import compiled_view
from headwater.workspace.settling import look_ready
from headwater.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLACE = ("_commit_version", "_commit_timestamp")


def table(workspace: Workspace, name: str) -> DataFrame:
    """A ready view's visible columns, or a source as it is."""
    wanted = canonical(name)
    if not workspace.is_view(wanted):
        if wanted not in workspace.definitions.sources:
            raise UnknownName(f"no source or view `{name}`")
        return snapshot(workspace.spark, workspace.path_of(wanted), None)
    if workspace.view(wanted).state is not ViewState.READY:
        look_ready(workspace, wanted)  # whoever built it may have died before saying so
    view = compiled_view(workspace, wanted)
    stored = StoredTable(workspace.view(wanted).path, view.stored)
    return columns_at(workspace.spark, stored, None, tuple(view.stored))


def register_names(workspace: Workspace) -> None:
    """Temporary views, so that plain SQL in the session can name every source and ready view.

    They are text to Spark, so every query sees the newest version; each is made only once.
    """
    ready = {r.name for r in workspace.ledger.views.list() if r.state is ViewState.READY}
    spark, definitions = workspace.spark, workspace.definitions
    wanted = (*definitions.sources, *sorted(ready & definitions.views.keys()))
    for name in wanted:
        query = _query(workspace, name)
        if workspace.registered.get(name) != query:
            spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {quoted(name)} AS {query}")
            workspace.registered[name] = query
    for name in workspace.registered.keys() - set(wanted):
        spark.catalog.dropTempView(name)
        del workspace.registered[name]


def _query(workspace: Workspace, name: str) -> str:
    place = f"delta.{quoted(workspace.path_of(name))}"
    if not workspace.is_view(name):
        return f"SELECT * FROM {place}"
    view = compiled_view(workspace, name)
    shown = StoredTable(workspace.path_of(name), view.stored).columns(view.stored)
    return f"SELECT {shown} FROM {place}"


def changes(workspace: Workspace, name: str, since: int, until: int | None) -> DataFrame:
    """Rows that came and went, netted per version, in version order.

    A commit that only moves hidden state, or writes a row as it was, shows nothing here.
    """
    known = look_ready(workspace, name)
    record = known.record
    if since > known.latest:
        raise WrongUse(f"{record.name} has no version after {known.latest}")
    view = compiled_view(workspace, record.name)
    shown = StoredTable(record.path, view.stored).columns(view.stored)
    last = known.latest if until is None else until
    spark = workspace.spark
    if since >= last:
        return _nothing(workspace, record.name)
    feed = (
        spark.read.format("delta")
        .option("readChangeFeed", "true")
        .option("startingVersion", since + 1)
        .option("endingVersion", last)
        .load(record.path)
    )
    raw = f"__hw_feed_{record.name}"
    feed.createOrReplaceTempView(quoted(raw))
    names, weight = listed(tuple(view.stored)), quoted(WEIGHT)
    sign = "CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"
    signed = f"(SELECT {shown}, {', '.join(_PLACE)}, {sign} AS {weight} FROM {quoted(raw)})"
    netted = consolidated((*view.stored, *_PLACE), signed, delicate(view.columns))
    kind = f"IF({weight} > 0, 'insert', 'delete') AS _change_type"
    return spark.sql(
        f"SELECT {names}, {kind}, {', '.join(_PLACE)} FROM ({netted}) "
        f"LATERAL VIEW explode(array_repeat(1, CAST(abs({weight}) AS INT))) c AS __hw_copy "
        "ORDER BY _commit_version, _change_type"
    )


def _nothing(workspace: Workspace, name: str) -> DataFrame:
    shown = table(workspace, name).where("FALSE")
    return shown.selectExpr(
        *(quoted(column) for column in shown.columns),
        "CAST(NULL AS STRING) AS _change_type",
        "CAST(NULL AS BIGINT) AS _commit_version",
        "CAST(NULL AS TIMESTAMP) AS _commit_timestamp",
    )
