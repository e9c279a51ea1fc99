"""TPC-H as a project: 22 views over Delta tables at scale 0.01, three batches of changes."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import headwater
from headwater.api import Headwater
from tests import tables
from tests.tpch.data import COMPLAINTS, generate
from tests.tpch.queries import HERE, TPCH
from tests.tpch.schema import DDL
from tests.tpch.streams import NEW_KEYS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLICIES = ("AUTO", "INCREMENTAL")
SHARE = 500
"""Of so many orders one is copied and one deleted in a batch."""


class Warehouse:
    """The tables of TPC-H and the refresh functions on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables = generate(folder / "generated")
        for name, table in self.tables.items():
            told = {"configuration": tables.FEED}
            deltalake.write_deltalake(self.path(name), table, **told)

    def path(self, name: str) -> str:
        return str(self.folder / "data" / name)

    def rf1(self, batch: int) -> None:
        """New orders with their lines, alike to some of the first ones."""
        for name, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
            table = self.tables[name]
            chosen = table.filter(pc.equal(_hashed(table[key]), batch))
            place = chosen.column_names.index(key)
            new = pc.add(chosen[key], batch * NEW_KEYS)
            chosen = chosen.set_column(place, key, new)
            deltalake.write_deltalake(self.path(name), chosen, mode="append")

    def rf2(self, batch: int) -> None:
        """Old orders go with their lines."""
        keys = self.tables["orders"]["o_orderkey"]
        going = keys.filter(pc.equal(_hashed(keys), SHARE - batch)).to_pylist()
        listed = ", ".join(map(str, going))
        for name, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
            tables.change(self.path(name), {"delete": f"{key} IN ({listed})"})

    def dictionaries(self, batch: int) -> None:
        """Prices, stocks, a complaint, and what customers have."""
        moved = {"ps_supplycost": "ps_supplycost + 1", "ps_availqty": "ps_availqty - 1"}
        changes = {
            "partsupp": {"update": moved, "where": f"ps_partkey % 40 = {batch}"},
            "supplier": {
                "update": {"s_comment": f"'{COMPLAINTS}'"},
                "where": f"s_suppkey = {batch * 7}",
            },
            "customer": {
                "update": {"c_acctbal": "c_acctbal + 500"},
                "where": f"c_custkey % 60 = {batch}",
            },
        }
        for name, change in changes.items():
            tables.change(self.path(name), change)


def _hashed(keys: pa.ChunkedArray) -> pa.ChunkedArray:
    """Some number below SHARE that the keys' order does not tell."""
    spread = pc.multiply(keys, 7919)
    return pc.subtract(spread, pc.multiply(pc.divide(spread, SHARE), SHARE))


@pytest.fixture(params=POLICIES)
def project(
    request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession
) -> Iterator[tuple[Headwater, Warehouse]]:
    """A folder of definitions with all views built."""
    warehouse = Warehouse(tmp_path)
    shutil.rmtree(tmp_path / "generated")
    sources = (f"CREATE SOURCE {name} FROM DELTA 'data/{name}';\n" for name in DDL)
    (tmp_path / "sources.sql").write_text("".join(sources))
    (tmp_path / "views").mkdir()
    for file in (HERE / "views").glob("*.sql"):
        text = file.read_text().replace(f"VIEW {file.stem} AS", _with(file.stem, request.param))
        (tmp_path / "views" / file.name).write_text(text)
    with headwater.open(tmp_path, spark=spark.newSession()) as hw:
        assert hw.check().valid
        hw.apply()
        yield hw, warehouse


def _with(view: str, policy: str) -> str:
    return f"VIEW {view} POLICY {policy} AS"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_tpch_is_equal_after_every_batch(project: tuple[Headwater, Warehouse]) -> None:
    """22 of 22 views equal their queries after each of three batches."""
    hw, warehouse = project
    assert sorted(hw.workspace.definitions.views) == sorted(TPCH)
    for batch in (1, 2, 3):
        warehouse.rf1(batch)
        warehouse.rf2(batch)
        warehouse.dictionaries(batch)
        outcome = hw.refresh_all()
        assert outcome.failures == {}
        print(batch, dict(Counter(r.technique.value for r in outcome.receipts.values())))
        wrong = [view for view in TPCH if not hw.verify(view).equal]
        assert wrong == []
