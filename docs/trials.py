"""What Spark says about each construct, and what each technique gave when it was run.

A technique is held against Spark's own result under every kind of change of the sources; where the
query asks the clock, time moves with them.
"""
# ruff: noqa: INP001  (a program beside the pages it writes)

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from docs.constructs import CONSTRUCTS, OF_TPCH, UNCOMPARED, sources_of
from headwater.testing.oracle import Oracle, TableStates, Times
from tests.laws.clock_words import at
from tests.laws.corpus import CHANGES, table_states
from tests.tpch.data import Thinned, generate, thinned
from tests.tpch.streams import dictionaries, rf1, rf2, states

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STORED = Path(__file__).with_name("coverage.json")
GAINED = "gained"
"""The kind of change in which the sources only gain rows."""
SUB_TREE = "sub-tree"
"""Stored beside the techniques: a part of the query was recomputed whole."""

Held = dict[str, list[str]]
"""Technique -> the kinds of change under which it was run and gave Spark's rows."""
IsEnough = Callable[[str, Mapping[str, Any]], bool]
Change = tuple[str, dict[str, TableStates], Times]

_BEFORE, _NOW = datetime(2024, 1, 1, 5, tzinfo=UTC), datetime(2024, 2, 20, 9, tzinfo=UTC)
"""Between them lie some days and instants of the corpus's tables."""


class WrongRowsError(Exception):
    """A technique that was open for a construct gave other rows than Spark does."""


def mark_of(sql: str) -> str:
    """By which a stored result is known to be of this very query."""
    return hashlib.sha256(sql.encode()).hexdigest()[:8]


def stored() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(STORED.read_text("utf-8"))
    return found


def store(found: Mapping[str, dict[str, Any]], without: Iterable[str]) -> None:
    """Beside what is stored of other constructs, as far as there still are such."""
    every = {**(stored() if STORED.exists() else {}), **found}
    kept = [name for name in CONSTRUCTS if name in every and name not in set(without)]
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(every[name])}" for name in kept)
    STORED.write_text(f"{{\n{rows}\n}}\n", "utf-8")


class Trials:
    """Constructs, one after the other, in one Spark."""

    def __init__(self, spark: SparkSession) -> None:
        from headwater.execute.isolated import isolated  # noqa: PLC0415  (loads with Spark)

        self._session = isolated(spark)
        self._oracle = Oracle(spark)
        self._tpch: dict[str, dict[str, TableStates]] = {}

    def of(self, name: str, is_enough: IsEnough = lambda *_: False) -> dict[str, Any]:
        """What is to be stored of a construct; further changes are made until it is enough."""
        found = {"query": mark_of(CONSTRUCTS[name]), "said": self.said(name), "held": {}}
        if "refused" in found["said"] or name in UNCOMPARED:
            return found
        tried: list[object] = []
        for change, tables, times in self._changes(name):
            read = {table: tables[table] for table in sources_of(CONSTRUCTS[name])}
            if read not in tried:  # as where the change is of a table that is not read
                tried.append(read)
                self._hold(name, (change, tables, times), found["held"])
            if is_enough(name, found):
                break
        return found

    def said(self, name: str) -> dict[str, Any]:
        """What Spark says about a query, without the sources, which are known."""
        from pyspark.errors import AnalysisException  # noqa: PLC0415  (only where Spark runs)

        from headwater.execute.compiling import compile_in  # noqa: PLC0415

        sql = CONSTRUCTS[name]
        try:
            text = compile_in(self._session, sql, sources_of(sql)).to_json()
        except AnalysisException as refusal:
            return {"refused": refusal.getCondition()}
        made: dict[str, Any] = json.loads(text)
        del made["sources"]
        return made

    def _hold(self, name: str, change: Change, held: Held) -> None:
        """Every technique that is open, run; raises if one of them gives other rows than Spark."""
        kind, tables, times = change
        trials = self._oracle.trials(CONSTRUCTS[name], tables, times, rebuild=True)
        for trial in trials:
            if trial.mismatches:
                raise _wrong(name, trial.technique.value, kind, trial.mismatches[0].rows)
            if trial.runs:
                held.setdefault(trial.technique.value, []).append(kind)
        if any(trial.parts for trial in trials):
            held.setdefault(SUB_TREE, []).append(kind)

    def _changes(self, name: str) -> Iterator[Change]:
        sql = CONSTRUCTS[name]
        if name.startswith(OF_TPCH):
            yield from ((change, tables, Times()) for change, tables in self._of_tpch().items())
            return
        is_timed = at(sql, _NOW) != sql
        times = Times(_BEFORE, _NOW, at(sql, _NOW)) if is_timed else Times()
        yield from ((change, table_states(change), times) for change in CHANGES)
        if is_timed:
            yield ("clock", table_states(""), times)

    def _of_tpch(self) -> dict[str, dict[str, TableStates]]:
        if not self._tpch:
            with TemporaryDirectory() as folder:
                self._tpch = _tpch_changes(thinned(generate(Path(folder))))
        return self._tpch


def _wrong(name: str, technique: str, change: str, rows: object) -> WrongRowsError:
    return WrongRowsError(f"{name}: {technique} is wrong under `{change}`: {rows}")


def _tpch_changes(data: Thinned) -> dict[str, dict[str, TableStates]]:
    orders = rf2(data, rf1(data))
    fewer = {table: _fewer(rows) for table, rows in data.tables.items()}
    return {
        "all": states(data.tables, dictionaries(orders)),
        GAINED: states(fewer, data.tables, inserts_only=True),
        "orders": states(data.tables, orders),
        "dictionaries": states(data.tables, dictionaries(data.tables)),
    }


def _fewer(rows: list[Any]) -> list[Any]:
    """All but some; nations and regions, which are few, are all there from the start."""
    few = 25
    return rows if len(rows) <= few else [row for n, row in enumerate(rows) if n % 9]
