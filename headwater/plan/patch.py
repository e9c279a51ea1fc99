"""A view's change as a patch of its table: which stored rows go, which rows come.

Every row of a patch says what happens (`_change_type`) and, if a stored row goes, where that one
lies: its file and its number within it. So of several equal rows just as many go as shall.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.plan.exact import NONE, Delicate, alike, exact_keys, same
from headwater.plan.render import listed
from headwater.plan.sent import send
from headwater.plan.sieve import Sieve
from headwater.plan.steps import TARGET
from headwater.plan.within import Bound, within
from headwater.vocabulary.names import CHANGE, COMING, FILE, GOING, PLACE, WEIGHT, quoted

_KINDS = "__hw_kinds"
_COPIES = "__hw_copies"
_COPY = "__hw_copy"
_LESS = "__hw_less"
_TOUCHED = "__hw_touched"
_COMES = f"{CHANGE} IN {COMING}"
_GOES = f"{CHANGE} IN {GOING}"


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
    on = same(keys) or "TRUE"
    table = _near(keys, source)
    sent = send("s", source)
    return f"SELECT {sent} t.* FROM {table} t LEFT SEMI JOIN {quoted(source)} s ON {on}"


def _near(columns: tuple[str, ...], source: str) -> str:
    """The part of the table where the rows of a relation may be found."""
    bounds = tuple(Bound(quoted(c), source, quoted(c), TARGET) for c in columns)
    return f"(SELECT * FROM {quoted(TARGET)} WHERE {within(bounds)})"


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
    on = same(keyed.keys) or "TRUE"
    sent = send("t", source)  # no more rows than keys
    return (
        f"SELECT {shown}, CASE WHEN {_GOES} THEN {FILE} END AS {FILE}, "
        f"CASE WHEN {_GOES} THEN {PLACE} END AS {PLACE}, {CHANGE} "
        f"FROM (SELECT {sent} {old}, {new}, t.{FILE}, t.{PLACE}, {kinds} AS {_KINDS} "
        f"FROM {quoted(source)} s LEFT JOIN {quoted(found)} t ON {on}) p "
        f"LATERAL VIEW explode({_KINDS}) k AS {CHANGE}"
    )


def keyed_content(keyed: Keyed, source: str) -> str:
    """The whole table once the keys in a relation, each there once, have their new rows."""
    shown = ", ".join(
        f"CASE WHEN s.{_TOUCHED} THEN {_fresh(keyed, c)} ELSE t.{quoted(c)} END AS {quoted(c)}"
        for c in keyed.columns
    )
    stays = f"CASE WHEN t.{FILE} IS NULL THEN {keyed.comes} ELSE NOT ({keyed.leaves}) END"
    return (
        f"SELECT /*+ SHUFFLE_HASH(s) */ {shown} FROM {quoted(TARGET)} t "
        f"FULL JOIN (SELECT *, TRUE AS {_TOUCHED} FROM {quoted(source)}) s ON {same(keyed.keys)} "
        f"WHERE CASE WHEN s.{_TOUCHED} THEN {stays} ELSE TRUE END"
    )


def _fresh(keyed: Keyed, column: str) -> str:
    """Nothing is computed for a row that goes: its values may no longer be computable."""
    inserted, updated = keyed.inserted[column], keyed.updated[column]
    return (
        f"CASE WHEN t.{FILE} IS NULL THEN {inserted} WHEN {keyed.leaves} THEN NULL "
        f"ELSE {updated} END"
    )


def rows_patch(
    columns: tuple[str, ...], rows: str, fragile: Delicate = NONE, stored: str = TARGET
) -> str:
    """-n: n of the stored copies go; +n: n copies come.

    A row that goes stands before its stored copies, which so learn how many of them shall go. They
    are looked up in the table, or in those of its rows that a relation has.
    """
    names, weight = listed(columns), quoted(WEIGHT)
    shown = ", ".join(f"t.{c}" for c in (*map(quoted, columns), FILE, PLACE))
    going = f"(SELECT {names}, {weight} FROM {quoted(rows)} WHERE {weight} < 0)"
    table = f"{quoted(stored)} t"
    if stored == TARGET:
        table = f"{_near(columns, rows)} t {Sieve(rows, columns).mark}"
    found = (
        f"SELECT {send('s', rows)} {shown}, CAST(NULL AS BIGINT) AS {weight} FROM {table} "
        f"LEFT SEMI JOIN {going} s ON {alike(columns, fragile)}"
    )
    wanted = (
        f"SELECT {names}, CAST(NULL AS STRING) AS {FILE}, CAST(NULL AS BIGINT) AS {PLACE}, "
        f"{weight} FROM {going}"
    )
    copies = f"OVER (PARTITION BY {', '.join(exact_keys(columns, fragile))}"
    counted = (
        f"SELECT *, row_number() {copies} ORDER BY {FILE} NULLS FIRST, {PLACE}) - 1 AS {_COPY}, "
        f"count({FILE}) {copies}) AS {_COPIES}, -sum({weight}) {copies}) AS {_LESS} "
        f"FROM ({found} UNION ALL {wanted})"
    )
    drift = "raise_error('HEADWATER_DRIFT: the table lacks a row that its sources once gave it')"
    return (
        f"SELECT {names}, coalesce({FILE}, {drift}) AS {FILE}, {PLACE}, 'delete' AS {CHANGE} "
        f"FROM ({counted}) WHERE {_COPY} BETWEEN 1 AND {_LESS} OR {_COPIES} < {_LESS} "
        f"UNION ALL SELECT {names}, CAST(NULL AS STRING), CAST(NULL AS BIGINT), 'insert' "
        f"FROM (SELECT * FROM {quoted(rows)} WHERE {weight} > 0) c "
        f"LATERAL VIEW explode(array_repeat(1, CAST({weight} AS INT))) n AS {_COPY}"
    )


def patched(columns: tuple[str, ...], table: str, patch: str) -> str:
    """The rows of a table, or of those of its files that a patch names, once it is applied."""
    shown = ", ".join(f"t.{quoted(c)}" for c in columns)
    gone = f"(SELECT {FILE}, {PLACE} FROM {quoted(patch)} WHERE {_GOES})"
    return (
        f"SELECT {send('s', patch)} {shown} FROM {quoted(table)} t LEFT ANTI JOIN {gone} s "
        f"ON t.{FILE} = s.{FILE} AND t.{PLACE} = s.{PLACE} UNION ALL {coming(columns, patch)}"
    )


def coming(columns: tuple[str, ...], patch: str) -> str:
    """The rows that a patch puts in."""
    return f"SELECT {listed(columns)} FROM {quoted(patch)} WHERE {_COMES}"


def tally(patch: str) -> str:
    """By file and kind: how many rows of a patch there are, and at how many places."""
    return (
        f"SELECT {FILE}, {CHANGE}, count(*), count(DISTINCT {PLACE}) FROM {quoted(patch)} "
        f"GROUP BY {FILE}, {CHANGE}"
    )


def places(patch: str) -> str:
    """The places of the rows that a patch takes out, by file."""
    return (
        f"SELECT {FILE}, collect_list({PLACE}) FROM {quoted(patch)} WHERE {_GOES} GROUP BY {FILE}"
    )


def fed(columns: tuple[str, ...], patch: str) -> str:
    """What the table's change feed tells of a patch."""
    return f"SELECT {listed(columns)}, {CHANGE} FROM {quoted(patch)}"


def _old(number: int) -> str:
    return f"__hw_old_{number}"


def _new(number: int) -> str:
    return f"__hw_new_{number}"
