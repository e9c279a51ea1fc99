"""A view's change as a patch of its table: which stored rows go, and which rows come.

Every stored row is known by its place, a file and a row in it. A patch holds for each row that goes
its place and its values, and for each row that comes its values. The writer then needs no join on
values: it leaves out places, adds rows, and writes both as the table's change feed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.plan.render import listed
from headwater.plan.steps import TARGET
from headwater.vocabulary.names import CHANGE, FILE, ROW, WEIGHT, quoted

_KINDS = "__hw_kinds"
_PLACES = "__hw_places"
_PLACE = "__hw_place"
_COMES = f"{CHANGE} IN ('insert', 'update_postimage')"


@dataclass(frozen=True)
class Keyed:
    """How a row of the table (t) and the row of its key in a relation (s) make a new row."""

    columns: tuple[str, ...]
    keys: tuple[str, ...]
    updated: Mapping[str, str]  # column -> SQL over t and s
    inserted: Mapping[str, str]  # column -> SQL over s
    leaves: str  # SQL over t and s: the stored row goes and none takes its place
    comes: str = "TRUE"  # SQL over s: a key without stored row gets one
    differs: str = "TRUE"  # SQL over t and s: the new row is another than the stored one


def found_by_keys(keys: tuple[str, ...], source: str) -> str:
    """The stored rows of the keys in a relation."""
    on = _same(keys) or "TRUE"
    return f"SELECT t.* FROM {quoted(TARGET)} t LEFT SEMI JOIN {quoted(source)} s ON {on}"


def keyed_patch(keyed: Keyed, found: str, source: str) -> str:
    """One row per key in the relation, at most one stored: delete, update, insert or nothing."""
    old = ", ".join(f"t.{quoted(c)} AS {_old(n)}" for n, c in enumerate(keyed.columns))
    new = ", ".join(f"{_fresh(keyed, c)} AS {_new(n)}" for n, c in enumerate(keyed.columns))
    shown = ", ".join(
        f"CASE WHEN {_COMES} THEN {_new(n)} ELSE {_old(n)} END AS {quoted(c)}"
        for n, c in enumerate(keyed.columns)
    )
    kinds = (
        f"CASE WHEN t.{FILE} IS NULL THEN CASE WHEN {keyed.comes} THEN array('insert') END "
        f"WHEN {keyed.leaves} THEN array('delete') "
        f"WHEN {keyed.differs} THEN array('update_preimage', 'update_postimage') END"
    )
    on = _same(keyed.keys) or "TRUE"
    return (
        f"SELECT {shown}, CASE WHEN NOT {_COMES} THEN {FILE} END AS {FILE}, "
        f"CASE WHEN NOT {_COMES} THEN {ROW} END AS {ROW}, {CHANGE} "
        f"FROM (SELECT {old}, {new}, t.{FILE}, t.{ROW}, {kinds} AS {_KINDS} "
        f"FROM {quoted(source)} s LEFT JOIN {quoted(found)} t ON {on}) p "
        f"LATERAL VIEW explode({_KINDS}) k AS {CHANGE}"
    )


def _fresh(keyed: Keyed, column: str) -> str:
    """Nothing is computed for a row that goes: its values may no longer be computable."""
    inserted, updated = keyed.inserted[column], keyed.updated[column]
    return (
        f"CASE WHEN t.{FILE} IS NULL THEN {inserted} WHEN {keyed.leaves} THEN NULL "
        f"ELSE {updated} END"
    )


def found_rows(columns: tuple[str, ...], rows: str) -> str:
    """All stored copies of the rows that go."""
    going = f"(SELECT * FROM {quoted(rows)} WHERE {quoted(WEIGHT)} < 0)"
    return f"SELECT t.* FROM {quoted(TARGET)} t LEFT SEMI JOIN {going} s ON {_same(columns)}"


def rows_patch(columns: tuple[str, ...], found: str, rows: str) -> str:
    """-n: n of the stored copies go; +n: n copies come. `rows` has each row once."""
    names, weight = listed(columns), quoted(WEIGHT)
    shown = ", ".join(f"s.{quoted(c)}" for c in columns)
    places = (
        f"SELECT {names}, collect_list(struct({FILE}, {ROW})) AS {_PLACES} "
        f"FROM {quoted(found)} GROUP BY {names}"
    )
    drift = "raise_error('HEADWATER_DRIFT: the table lacks a row that its sources once gave it')"
    going = (
        f"CASE WHEN coalesce(size(t.{_PLACES}), 0) >= -s.{weight} "
        f"THEN slice(t.{_PLACES}, 1, CAST(-s.{weight} AS INT)) ELSE {drift} END"
    )
    return (
        f"SELECT {names}, {_PLACE}.{FILE} AS {FILE}, {_PLACE}.{ROW} AS {ROW}, 'delete' AS {CHANGE} "
        f"FROM (SELECT {shown}, {going} AS {_PLACES} "
        f"FROM (SELECT * FROM {quoted(rows)} WHERE {weight} < 0) s "
        f"LEFT JOIN ({places}) t ON {_same(columns)}) g "
        f"LATERAL VIEW explode({_PLACES}) e AS {_PLACE} "
        f"UNION ALL SELECT {names}, CAST(NULL AS STRING), CAST(NULL AS BIGINT), 'insert' "
        f"FROM (SELECT * FROM {quoted(rows)} WHERE {weight} > 0) c "
        f"LATERAL VIEW explode(array_repeat(1, CAST({weight} AS INT))) n AS __hw_copy"
    )


def patched(columns: tuple[str, ...], table: str, patch: str) -> str:
    """The table's rows once the patch is applied."""
    shown = ", ".join(f"t.{quoted(c)}" for c in columns)
    gone = f"(SELECT {FILE}, {ROW} FROM {quoted(patch)} WHERE {FILE} IS NOT NULL)"
    return (
        f"SELECT {shown} FROM {quoted(table)} t LEFT ANTI JOIN {gone} g "
        f"ON t.{FILE} = g.{FILE} AND t.{ROW} = g.{ROW} "
        f"UNION ALL {coming(columns, patch)}"
    )


def coming(columns: tuple[str, ...], patch: str) -> str:
    """The rows that a patch brings."""
    return f"SELECT {listed(columns)} FROM {quoted(patch)} WHERE {_COMES}"


def _same(columns: tuple[str, ...]) -> str:
    return " AND ".join(f"t.{quoted(c)} <=> s.{quoted(c)}" for c in columns)


def _old(number: int) -> str:
    return f"__hw_old_{number}"


def _new(number: int) -> str:
    return f"__hw_new_{number}"
