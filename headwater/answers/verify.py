"""Is a view exactly its query's result at the versions it names? Look, and never repair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.execute.cause import cause_of
from headwater.execute.checkpoint import checkpointed
from headwater.execute.close_rows import beyond_rounding
from headwater.execute.isolated import isolated
from headwater.execute.reading import columns_at
from headwater.plan.stored import StoredTable
from headwater.plan.view import CompiledView
from headwater.publish.publisher import Known
from headwater.vocabulary.errors import HeadwaterError, VerifyFailed, WrongUse
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.names import quoted
from headwater.workspace.compiled import compiled_view, stored_tables
from headwater.workspace.settling import look_ready
from headwater.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHOWN = 20
_EXPECTED, _FOUND = "__hw_expected", "__hw_found"
_MISSING, _EXTRA = "__hw_verify_missing", "__hw_verify_extra"
_NONE: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Verification:
    """What a verification found; `rows` are examples by class."""

    view: str
    frontier: Frontier
    equal: bool
    missing: int  # rows that should be there
    extra: int  # rows that should not
    different: int  # keys whose row has other values
    rows: dict[str, tuple[dict[str, Any], ...]]
    ignored: tuple[str, ...] = ()  # columns that are computed once, whose values nobody can check

    def to_json(self) -> dict[str, Any]:
        return {
            "view": self.view,
            "frontier": self.frontier.to_json(),
            "equal": self.equal,
            "missing": self.missing,
            "extra": self.extra,
            "different": self.different,
            "rows": {name: list(rows) for name, rows in self.rows.items()},
            "ignored": list(self.ignored),
        }


def verify_view(workspace: Workspace, name: str, *, where: str | None = None) -> Verification:
    """Recompute the query at the view's frontier and compare as bags; `where` limits both sides."""
    known = look_ready(workspace, name)
    view = compiled_view(workspace, known.record.name)
    session = isolated(workspace.spark)
    with _explained(view.name, where):
        expected, found = _both(workspace, view, known, session)
        differing = _computed(lambda rows: _differing(session, view, rows, found, where), expected)
        if view.rounded_shown and not differing.isEmpty():
            differing = beyond_rounding(differing, view.rounded_shown, _EXPECTED, _FOUND)
        try:
            return _classified(view, known.record.frontier, differing)
        finally:
            differing.unpersist()


@contextmanager
def _explained(view: str, where: str | None) -> Iterator[None]:
    """Spark's complaints as ours: about the condition that was given, or about the tables."""
    try:
        yield
    except HeadwaterError:
        raise
    except Exception as error:
        said = cause_of(error)
        if where is not None and type(error).__name__ in {"AnalysisException", "ParseException"}:
            raise WrongUse(f"{view} cannot be limited by `{where}`: {said}") from error
        raise VerifyFailed(f"{view} could not be recomputed: {said}") from error


def _both(
    workspace: Workspace, view: CompiledView, known: Known, session: SparkSession
) -> tuple[DataFrame, DataFrame]:
    """The query's result at the view's frontier, its clock included, and what its table holds."""
    tables = stored_tables(workspace, view)
    for source, columns in view.catalog.items():
        version = known.record.frontier[source].version
        columns_at(session, tables[source], version, columns).createOrReplaceTempView(source)
    own = StoredTable(known.record.path, view.stored)
    query = view.shown(known.record.frontier.clock)
    return session.sql(query), columns_at(session, own, known.latest, tuple(view.stored))


def _computed(comparison: Callable[[DataFrame], DataFrame], expected: DataFrame) -> DataFrame:
    """The rows that differ; Spark's optimizer breaks down over some queries inside a comparison."""
    try:
        return comparison(expected).cache()
    except Exception as error:
        if type(error).__name__ in {"AnalysisException", "ParseException"}:
            raise
    return comparison(checkpointed(expected.sparkSession, expected)).cache()


def _differing(
    session: SparkSession,
    view: CompiledView,
    expected: DataFrame,
    found: DataFrame,
    where: str | None,
) -> DataFrame:
    """Each distinct row whose number of copies is not the same on both sides."""
    names = [column for column, _ in view.decided]
    shown = ", ".join(quoted(n) for n in names)
    keys = ", ".join(_comparable(n, t) for n, t in view.decided)
    condition = f" AS v WHERE {where}" if where else ""
    expected.createOrReplaceTempView("__hw_verify_expected")
    found.createOrReplaceTempView("__hw_verify_found")
    both = (
        f"SELECT {shown}, 1 AS {_EXPECTED}, 0 AS {_FOUND} FROM __hw_verify_expected{condition} "
        f"UNION ALL SELECT {shown}, 0, 1 FROM __hw_verify_found{condition}"
    )
    firsts = ", ".join(f"first({quoted(n)}) AS {quoted(n)}" for n in names)
    return session.sql(
        f"SELECT {firsts}, SUM({_EXPECTED}) AS {_EXPECTED}, SUM({_FOUND}) AS {_FOUND} "
        f"FROM ({both}) GROUP BY {keys} HAVING SUM({_EXPECTED}) <> SUM({_FOUND})"
    )


def _comparable(name: str, type_: str) -> str:
    """Spark cannot group by maps and variants; their canonical text stands for them."""
    if "map<" in type_ or "variant" in type_:
        return f"to_json(struct({quoted(name)}), map('sortKeys', 'true'))"
    return quoted(name)


def _classified(view: CompiledView, frontier: Frontier, differing: DataFrame) -> Verification:
    missing = differing.where(f"{_EXPECTED} > {_FOUND}")
    extra = differing.where(f"{_EXPECTED} < {_FOUND}")
    totals = differing.selectExpr(
        f"COALESCE(SUM(GREATEST({_EXPECTED} - {_FOUND}, 0)), 0) AS missing",
        f"COALESCE(SUM(GREATEST({_FOUND} - {_EXPECTED}, 0)), 0) AS extra",
    ).first()
    lacking, surplus = (int(totals[0]), int(totals[1])) if totals is not None else (0, 0)
    different, pairs = 0, _NONE
    keys = _visible_keys(view)
    if lacking and surplus and keys:
        missing.createOrReplaceTempView(_MISSING)
        extra.createOrReplaceTempView(_EXTRA)
        different, pairs = _paired(view, keys, missing.sparkSession)
        missing = _unpaired(missing.sparkSession, _MISSING, _EXTRA, keys)
        extra = _unpaired(extra.sparkSession, _EXTRA, _MISSING, keys)
    return Verification(
        view.name,
        frontier,
        lacking == 0 and surplus == 0,
        lacking - different,
        surplus - different,
        different,
        {"missing": _rows(missing), "extra": _rows(extra), "different": pairs},
        tuple(name for name, _ in view.columns if name not in dict(view.decided)),
    )


def _visible_keys(view: CompiledView) -> tuple[str, ...]:
    """The columns by which two rows are known to be the same one; none if some are hidden."""
    shown_as = {stored: name for name, stored in view.stored.items()}
    keys = view.layout.keys or ()
    return tuple(shown_as[k] for k in keys) if all(k in shown_as for k in keys) else ()


def _unpaired(session: SparkSession, rows: str, others: str, keys: tuple[str, ...]) -> DataFrame:
    """Rows whose key does not stand on the other side."""
    same = " AND ".join(f"r.{quoted(k)} <=> o.{quoted(k)}" for k in keys)
    return session.sql(f"SELECT r.* FROM {rows} r LEFT ANTI JOIN {others} o ON {same}")


def _paired(
    view: CompiledView, keys: tuple[str, ...], session: SparkSession
) -> tuple[int, tuple[dict[str, Any], ...]]:
    """Rows of one key that stand on both sides with other values."""
    condition = " AND ".join(f"e.{quoted(k)} <=> f.{quoted(k)}" for k in keys)
    columns = [c for c, _ in view.decided]
    shown = [f"e.{quoted(c)} AS {quoted('expected ' + c)}" for c in columns]
    shown += [f"f.{quoted(c)} AS {quoted('found ' + c)}" for c in columns if c not in keys]
    pairs = session.sql(
        f"SELECT {', '.join(shown)} FROM {_MISSING} e JOIN {_EXTRA} f ON {condition}"
    )
    return pairs.count(), tuple(row.asDict(recursive=True) for row in pairs.limit(SHOWN).collect())


def _rows(frame: DataFrame) -> tuple[dict[str, Any], ...]:
    shown = frame.drop(_EXPECTED, _FOUND).limit(SHOWN).collect()
    return tuple(row.asDict(recursive=True) for row in shown)
