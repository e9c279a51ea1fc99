"""Joins whose other side must be read whole: none of its files can be skipped by the key.

A small change on one side of a join reads the other side for its keys. Where that side's files are
clustered by the key, most of them are left out; where they are not, all are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from headwater.capture.log import TableLog
from headwater.plan.equality import equal_pairs
from headwater.vocabulary.algebra import Join, Node, Project, Scan, walk

MANY_FILES = 16
"""A table of fewer files has little to skip."""


@dataclass(frozen=True)
class Arrangement:
    """How a table's rows are spread over its files."""

    files: int
    has_statistics: bool
    by: frozenset[str]  # columns it is partitioned or clustered by, in lower case


@dataclass(frozen=True)
class JoinKey:
    """A column of a source that a join sets equal to something."""

    source: str
    column: str


def arrangement_of(log: TableLog) -> Arrangement:
    """Read from the log of a table, at its newest version."""
    version = log.latest_version()
    told, metadata = log.statistics(version), log.metadata(version)
    columns = (*metadata.partition_columns, *log.clustering_columns(version))
    return Arrangement(told.files, told.rows is not None, frozenset(c.lower() for c in columns))


def join_keys(root: Node) -> frozenset[JoinKey]:
    """The sources' own columns among the join keys of a query."""
    origins = dict(_origins(root))
    return frozenset(
        origins[side.name]
        for join in walk(root)
        if isinstance(join, Join)
        for pair in equal_pairs(join)
        for side in pair
        if isinstance(side, exp.Column) and side.name in origins
    )


def unclustered(
    keys: frozenset[JoinKey], arrangements: Mapping[str, Arrangement]
) -> list[tuple[str, tuple[str, ...]]]:
    """Large sources none of whose join keys they are arranged by, with those keys."""
    found = []
    for source, arrangement in arrangements.items():
        columns = sorted(key.column for key in keys if key.source == source)
        arranged = any(column.lower() in arrangement.by for column in columns)
        if columns and not arranged and arrangement.files >= MANY_FILES:
            found.append((source, tuple(columns)))
    return found


def _origins(root: Node) -> Iterator[tuple[str, JoinKey]]:
    """Column id -> the column of a source that it passes on unchanged."""
    known: dict[str, JoinKey] = {}
    for node in reversed(list(walk(root))):
        if isinstance(node, Scan):
            known.update((id_, JoinKey(node.source, column)) for column, id_ in node.fields)
        elif isinstance(node, Project):
            for item in node.items:
                plain = item.expression
                if isinstance(plain, exp.Column) and plain.name in known:
                    known[item.id] = known[plain.name]
    yield from known.items()
