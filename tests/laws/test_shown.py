"""What laws and techniques show of themselves in SQL holds: old rows + change = new rows.

An example stands in a module's docstring, as two indented blocks: `View:` and, of a law, `Change:`,
or of a technique `Table:`. `headwater/plan/deltas/__init__.py` says what its tables are.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from headwater.execute.isolated import isolated
from headwater.plan import deltas, strategies

if TYPE_CHECKING:
    from types import ModuleType

    from pyspark.sql import DataFrame, SparkSession

Row = tuple[Any, ...]
Tables = dict[str, list[Row]]
Frames = dict[str, "DataFrame"]

_BLOCK = re.compile(r"^(View|Change|Table):\n((?: {4}.*\n)+)", re.MULTILINE)
_COLUMNS = pa.schema(
    {"k": pa.int32(), "g": pa.int32(), "n": pa.int32(), "w": pa.string(), "d": pa.date32()}
)
_SIGNED = _COLUMNS.append(pa.field("weight", pa.int64()))
_WAS, _IS = "DATE'2026-11-14'", "DATE'2026-11-15'"
"""What `current_date()` says before a change and after it."""


def examples(package: ModuleType, heading: str) -> dict[str, list[tuple[str, str]]]:
    """The pairs of SQL that each module of a package shows."""
    found = {}
    for module in iter_modules(package.__path__, package.__name__ + "."):
        text = f"{import_module(module.name).__doc__}\n"
        blocks = _BLOCK.findall(text)
        headings, queries = [name for name, _ in blocks], [sql for _, sql in blocks]
        assert headings == ["View", heading] * (len(blocks) // 2), module.name
        name = module.name.rpartition(".")[2]
        found[name] = list(zip(queries[::2], queries[1::2], strict=True))
    return found


LAWS = examples(deltas, "Change")
TECHNIQUES = {name: shown for name, shown in examples(strategies, "Table").items() if shown}


# --- the tables ---------------------------------------------------------------------------------


def some_rows(random: Random, number: int) -> list[Row]:
    """Rows of which some are equal; all but the first value may be missing."""
    rows = [
        (
            random.randrange(8),
            random.choice((None, *range(1, 8))),
            random.choice((None, *range(4))),
            random.choice((None, "", "a", "b", "a b")),
            random.choice((None, *(date(2026, 11, day) for day in range(6, 17)))),
        )
        for _ in range(number)
    ]
    return random.choices(rows, k=number)


def changed(random: Random, rows: list[Row]) -> list[Row]:
    """Some go, some come, and of some there is one more."""
    kept = [row for row in rows if random.random() > 0.2]
    return [*kept, *random.sample(rows, 3), *some_rows(random, 4)]


def states(seed: int) -> list[Tables]:
    """Tables are filled, change together, and are emptied one by one."""
    random = Random(seed)
    r, s = some_rows(random, 30), some_rows(random, 12)
    later, last = changed(random, r), changed(random, s)
    return [
        {"r": [], "s": []},
        {"r": r, "s": s},
        {"r": later, "s": last},
        {"r": changed(random, later), "s": []},
        {"r": [], "s": []},
    ]


def netted(before: list[Row], after: list[Row]) -> list[Row]:
    weights = Counter(after)
    weights.subtract(before)
    return [(*row, weight) for row, weight in weights.items() if weight]


@pytest.fixture(scope="module")
def session(small_spark: SparkSession) -> SparkSession:
    """The names of the tables are seen by nobody else."""
    return isolated(small_spark)


@pytest.fixture(scope="module")
def steps(session: SparkSession) -> list[tuple[Frames, Frames]]:
    """For each change the tables as they were, and all that an example may name once it is made."""

    def frame(rows: list[Row], columns: pa.Schema = _COLUMNS) -> DataFrame:
        named = [dict(zip(columns.names, row, strict=True)) for row in rows]
        return session.createDataFrame(pa.Table.from_pylist(named, columns))

    told = states(seed=4)
    still = {"t": frame(some_rows(Random(1), 8))}
    found = []
    for before, after in pairwise(told):
        old = {name: frame(rows) for name, rows in before.items()}
        new = {name: frame(rows) for name, rows in after.items()}
        new |= {f"{name}_before": table for name, table in old.items()}
        for name, rows in after.items():
            new[f"{name}_changes"] = frame(netted(before[name], rows), _SIGNED)
        found.append((old | still, new | still))
    return found


# --- what they make of it -----------------------------------------------------------------------


def asked(spark: SparkSession, sql: str, tables: Frames, today: str) -> DataFrame:
    for name, table in tables.items():
        table.createOrReplaceTempView(name)
    return spark.sql(sql.replace("current_date()", today))


def left_over(came: DataFrame, *went: DataFrame) -> Counter[Row]:
    """Signed rows less others, as far as they do not come to nothing."""
    for signed in went:
        assert signed.columns == came.columns
        came = came.unionAll(signed.withColumn("weight", -signed["weight"]))
    weights: Counter[Row] = Counter()
    for *row, weight in came.collect():
        weights[tuple(row)] += weight
    return Counter({row: weight for row, weight in weights.items() if weight})


def each_once(table: DataFrame) -> DataFrame:
    """A table's rows, as if they had just come."""
    return table.selectExpr("*", "1 AS weight")


def wrong_changes(
    spark: SparkSession, steps: list[tuple[Frames, Frames]], view: str, change: str
) -> list[Counter[Row]]:
    """Where a view's change is another than the difference it makes: how far off it is."""
    found = []
    for old, new in steps:
        before = each_once(asked(spark, view, old, _WAS))
        after = each_once(asked(spark, view, new, _IS))
        found.append(left_over(after, before, asked(spark, change, new, _IS)))
    return [left for left in found if left]


@pytest.mark.parametrize("law", LAWS)
def test_the_shown_change_is_the_difference(session, steps, law: str) -> None:
    """Every law has an example, and the weights of its change sum to new rows - old rows."""
    assert LAWS[law], f"plan/deltas/{law}.py shows no `View:` and `Change:`"
    for view, change in LAWS[law]:
        assert wrong_changes(session, steps, view, change) == [], change


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_the_shown_table_is_the_view(session, steps, technique: str) -> None:
    """Where a technique has an example, its table comes to hold what the view's query gives."""
    for view, table in TECHNIQUES[technique]:
        for old, new in steps:
            stored = asked(session, view, old, _WAS)
            wanted = asked(session, view, new, _IS)
            made = asked(session, table, {**new, "m": stored}, _IS)
            assert not left_over(each_once(wanted), each_once(made)), table


@pytest.mark.parametrize(
    ("law", "right", "wrong"),
    [
        ("aggregate", "<=>", "="),
        ("clock", "1 AS weight FROM r_before", "1 AS weight FROM r"),
        ("distinct", "DISTINCT g, w, -1", "g, w, -1"),
        ("join", "r_before AS r JOIN", "r JOIN"),
        ("neighbours", "low - 1", "low"),
        ("set_operation", "UNION SELECT g FROM s_changes", ""),
    ],
)
def test_a_wrong_example_is_found_out(session, steps, law: str, right: str, wrong: str) -> None:
    """The tables are such that it matters which of them a law asks, and how."""
    view, change = LAWS[law][0]
    assert right in change
    assert wrong_changes(session, steps[1:2], view, change.replace(right, wrong))


def test_every_law_opens_with_its_equation() -> None:
    """The first line says what becomes of the operator's change."""
    for law in LAWS:
        first = (import_module(f"{deltas.__name__}.{law}").__doc__ or "").partition("\n")[0]
        assert "Δ" in first, law
