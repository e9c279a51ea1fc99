"""TPC-H's tables at scale 0.01, whole or thinned out, and what its refresh functions do to them."""

from __future__ import annotations

import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.tpch.schema import DDL

if TYPE_CHECKING:
    import pandas as pd

Rows = list[tuple[Any, ...]]
Tables = dict[str, Rows]

_IN_1994 = "'1994-01-01' <= {} < '1995-01-01'"
_IN_1995_96 = "'1995-01-01' <= {} <= '1996-12-31'"

SEEDS = {
    "q03": (15, "c_mktsegment == 'BUILDING'", "o_orderdate < '1995-03-15' < l_shipdate"),
    "q04": (6, "'1993-07-01' <= o_orderdate < '1993-10-01'", "l_commitdate < l_receiptdate"),
    "q05": (3, _IN_1994.format("o_orderdate"), "c_nation == s_nation == 'INDIA'"),
    "q05, another": (3, _IN_1994.format("o_orderdate"), "c_nation == s_nation == 'CHINA'"),
    "q06": (6, _IN_1994.format("l_shipdate"), "0.05 <= l_discount <= 0.07", "l_quantity < 24"),
    "q07": (
        4,
        _IN_1995_96.format("l_shipdate"),
        "c_nation == 'GERMANY'",
        "s_nation == 'FRANCE'",
    ),
    "q07, back": (
        4,
        _IN_1995_96.format("l_shipdate"),
        "c_nation == 'FRANCE'",
        "s_nation == 'GERMANY'",
    ),
    "q08": (
        8,
        _IN_1995_96.format("o_orderdate"),
        "p_type == 'ECONOMY ANODIZED STEEL'",
        "c_region == 'AMERICA'",
    ),
    "q09": (8, "p_name.str.contains('green')"),
    "q10": (25, "'1993-10-01' <= o_orderdate < '1994-01-01'", "l_returnflag == 'R'"),
    "q12": (
        8,
        "l_shipmode in ('MAIL', 'SHIP')",
        "l_shipdate < l_commitdate < l_receiptdate",
        _IN_1994.format("l_receiptdate"),
    ),
    "q14": (10, "'1995-09-01' <= l_shipdate < '1995-10-01'"),
    "q15": (10, "'1996-01-01' <= l_shipdate < '1996-04-01'"),
    "q18": (5, "ordered > 300"),
    "q19": (
        4,
        "p_brand == 'Brand#34' and p_size <= 15",
        "p_container.str.startswith('LG')",
        "20 <= l_quantity <= 30",
        "l_shipmode == 'AIR' and l_shipinstruct == 'DELIVER IN PERSON'",
    ),
    "q20": (
        4,
        _IN_1994.format("l_shipdate"),
        "p_name.str.startswith('forest')",
        "s_nation == 'CANADA'",
    ),
    "q21": (6, "s_nation == 'SAUDI ARABIA'", "o_orderstatus == 'F'", "waiting"),
}
"""Query -> how many orders are kept for it, and what their lines are like."""

_PARTS = "(p_size == 15 and p_type.str.endswith('BRASS')) or p_name.str.startswith('forest')"
COMPLAINTS = "Customer so many Complaints"
_CODES = ("13", "31", "23", "29", "30", "18", "17")


PLANTED_PART, PLANTED_SUPPLIER = 4, 9
"""So small a scale has no part that query 17 and no supplier that query 16 asks for."""


def generate(folder: Path, scale: float = 0.01) -> dict[str, pa.Table]:
    """Every table, with plain strings instead of the views that the generator writes."""
    program = Path(sysconfig.get_path("scripts")) / "tpchgen-cli"
    command = [str(program), "parquet", "-s", str(scale), "-o", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    tables = {name: _plain(pq.read_table(folder / f"{name}.parquet")) for name in DDL}
    part, supplier = tables["part"], tables["supplier"]
    part = _set(part, "p_brand", "p_partkey", PLANTED_PART, "Brand#23")
    tables["part"] = _set(part, "p_container", "p_partkey", PLANTED_PART, "MED BOX")
    tables["supplier"] = _set(supplier, "s_comment", "s_suppkey", PLANTED_SUPPLIER, COMPLAINTS)
    return tables


def _set(table: pa.Table, column: str, key: str, wanted: int, value: str) -> pa.Table:
    put = pc.if_else(pc.equal(table[key], wanted), value, table[column])
    return table.set_column(table.column_names.index(column), column, put)


def _plain(table: pa.Table) -> pa.Table:
    fields = [
        pa.field(f.name, pa.string() if f.type == pa.string_view() else f.type)
        for f in table.schema
    ]
    return table.cast(pa.schema(fields))


@dataclass(frozen=True)
class Thinned:
    """A small data set and the orders in it that the refresh functions copy and delete."""

    tables: Tables
    copied: tuple[int, ...]
    deleted: tuple[int, ...]
    idle: int  # a customer without orders


def thinned(tables: dict[str, pa.Table]) -> Thinned:
    """A hundred orders or so, chosen so that every query has rows to find, to lose and to gain."""
    frames = {name: table.to_pandas(date_as_object=True) for name, table in tables.items()}
    wide = _wide(frames)
    chosen = []
    for count, *conditions in SEEDS.values():
        lines = wide.query(" and ".join(f"({each})" for each in conditions), engine="python")
        found = lines["l_orderkey"].drop_duplicates()
        chosen.append([int(key) for key in found.head(count)])
    kept = _closed(frames, {key for keys in chosen for key in keys})
    copied = tuple(dict.fromkeys(keys[-1] for keys in chosen))
    deleted = tuple(keys[0] for keys in chosen if len(keys) > 2 and keys[0] not in copied)
    return Thinned(kept, copied, deleted, idle=kept["customer"][-1][0])


def _wide(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Lines with all that queries ask about them; text for dates and doubles for decimals."""
    nations = frames["nation"].set_index("n_nationkey")
    names = nations["n_name"]
    regions = nations["n_regionkey"].map(frames["region"].set_index("r_regionkey")["r_name"])
    customer, supplier = frames["customer"], frames["supplier"]
    customer = customer.assign(
        c_nation=customer["c_nationkey"].map(names), c_region=customer["c_nationkey"].map(regions)
    )
    supplier = supplier.assign(s_nation=supplier["s_nationkey"].map(names))
    wide = frames["lineitem"].merge(frames["orders"], left_on="l_orderkey", right_on="o_orderkey")
    wide = wide.merge(customer, left_on="o_custkey", right_on="c_custkey")
    wide = wide.merge(supplier, left_on="l_suppkey", right_on="s_suppkey")
    wide = wide.merge(frames["part"], left_on="l_partkey", right_on="p_partkey")
    for name in ("o_orderdate", "l_shipdate", "l_commitdate", "l_receiptdate"):
        wide[name] = wide[name].astype(str)
    for name in ("l_discount", "l_quantity"):
        wide[name] = wide[name].astype(float)
    per_order = wide.groupby("l_orderkey")
    late = wide["l_receiptdate"] > wide["l_commitdate"]
    lines_late = late.groupby(wide["l_orderkey"]).transform("sum")
    suppliers = per_order["l_suppkey"].transform("nunique")
    return wide.assign(
        ordered=per_order["l_quantity"].transform("sum"),
        waiting=late & (lines_late == 1) & (suppliers > 1),
    ).sort_values(["l_orderkey", "l_linenumber"])


def _closed(frames: dict[str, pd.DataFrame], orders: set[int]) -> Tables:
    """The rows that the chosen orders refer to, and those that need no order."""
    lines, every_order = frames["lineitem"], frames["orders"]
    lines = lines[lines["l_orderkey"].isin(orders) | (lines["l_partkey"] == PLANTED_PART)]
    kept_orders = every_order[every_order["o_orderkey"].isin(set(lines["l_orderkey"]))]
    offers = _offers(frames, lines)
    customer = frames["customer"]
    has_ordered = customer["c_custkey"].isin(set(every_order["o_custkey"]))
    idle = customer[customer["c_phone"].str[:2].isin(_CODES) & ~has_ordered].head(40)
    buyers = customer[customer["c_custkey"].isin(set(kept_orders["o_custkey"]))]
    part = frames["part"]
    kept = {
        **frames,
        "lineitem": lines,
        "orders": kept_orders,
        "partsupp": offers,
        "part": part[part["p_partkey"].isin({*offers["ps_partkey"], PLANTED_PART})],
    }
    rows = {name: list(frame.itertuples(index=False, name=None)) for name, frame in kept.items()}
    both = (list(frame.itertuples(index=False, name=None)) for frame in (buyers, idle))
    return {**rows, "customer": [row for frame in both for row in frame]}


def _offers(frames: dict[str, pd.DataFrame], lines: pd.DataFrame) -> pd.DataFrame:
    """Who supplies what: of the kept lines, of some parts, and by some German suppliers."""
    every = frames["partsupp"]
    parts = set(frames["part"].query(_PARTS, engine="python")["p_partkey"])
    german = set(frames["supplier"].query("s_nationkey == 7")["s_suppkey"])
    used = every.set_index(["ps_partkey", "ps_suppkey"]).index.isin(
        lines.set_index(["l_partkey", "l_suppkey"]).index
    )
    theirs = every["ps_suppkey"].isin(german) & (every["ps_partkey"] % 3 == 0)
    return every[used | theirs | every["ps_partkey"].isin(parts)]
