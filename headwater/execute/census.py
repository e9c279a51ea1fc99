"""How many rows a patch puts in and takes out, and of which files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.execute.relations import Kept
from headwater.plan.patch import tally
from headwater.vocabulary.names import CHANGE, COMING, FILE, GOING, PLACE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Census:
    """Rows of a patch; `gone` by the name of the file they lie in."""

    inserted: int
    deleted: int
    gone: Mapping[str, int]


def taken(session: SparkSession, patch: str, kept: Kept) -> Census:
    """Of a kept patch, in one reading."""
    if kept.table is None:
        rows = [tuple(row) for row in session.sql(tally(patch)).collect()]
        return _summed(rows)
    grouped = kept.table.group_by([FILE, CHANGE])
    counted = grouped.aggregate([([], "count_all"), (PLACE, "count_distinct")])
    names = (FILE, CHANGE, "count_all", f"{PLACE}_count_distinct")
    return _summed(zip(*(counted.column(name).to_pylist() for name in names), strict=True))


def _summed(tallied: Iterable[tuple[str | None, str, int, int]]) -> Census:
    kinds: Counter[str] = Counter()
    gone: Counter[str] = Counter()
    for file, kind, rows, places in tallied:
        kinds[kind] += rows
        if file is None:
            continue
        if rows != places:
            raise ValueError(f"a patch takes a row of {file} out twice")
        gone[file] += rows
    coming, going = (sum(kinds[kind] for kind in some) for some in (COMING, GOING))
    return Census(coming, going, dict(gone))
