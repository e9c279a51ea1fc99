"""Refreshes on a cluster: the runners are drivers, the work is done by executors elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.cluster.standalone import Cluster, standalone

pytestmark = pytest.mark.slow

SETTINGS = """
[spark]
master = "{master}"
"spark.driver.host" = "127.0.0.1"
"spark.driver.memory" = "768m"
"spark.executor.memory" = "512m"
"spark.cores.max" = 1
"spark.sql.shuffle.partitions" = 2
"spark.ui.enabled" = false
"spark.databricks.delta.snapshotPartitions" = 1
"spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1"
"spark.executor.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"spark.sql.adaptive.enabled" = false
"spark.sql.codegen.wholeStage" = false
"spark.sql.codegen.factoryMode" = "NO_CODEGEN"
"""

VIEWS = """
CREATE SOURCE orders FROM DELTA '{orders}' KEY (id);
CREATE MATERIALIZED VIEW revenue AS
SELECT region, count(*) AS orders, sum(amount) AS total FROM orders GROUP BY region;
CREATE MATERIALIZED VIEW large AS SELECT id, amount FROM orders WHERE amount > 90;
"""


def rows(ids: range) -> pa.Table:
    table = {
        "id": list(ids),
        "region": [f"r{i % 3}" for i in ids],
        "amount": [i % 100 for i in ids],
    }
    return pa.table(table, schema=pa.schema({"id": "int64", "region": "string", "amount": "int64"}))


class Project:
    """A project whose Spark is the cluster, used by commands in processes of their own."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        self.folder = folder
        folder.mkdir()
        self.orders = str(folder / "orders")
        feed = {"delta.enableChangeDataFeed": "true"}
        write_deltalake(self.orders, rows(range(1000)), configuration=feed)
        (folder / "headwater.toml").write_text(SETTINGS.format(master=cluster.master))
        (folder / "views.sql").write_text(VIEWS.format(orders=self.orders))

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "headwater", *words, "-C", str(self.folder), "-o", "json"]
        environment = {**os.environ, "HEADWATER_ARCHIVE": "off"}
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)

    def table(self, view: str) -> list[dict[str, Any]]:
        (found,) = (self.folder / "warehouse").glob(f"{view}*")
        return DeltaTable(str(found)).to_pyarrow_table().to_pylist()


def ended(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err + out
    return json.loads(out)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    with standalone(tmp_path_factory.mktemp("cluster")) as running:
        yield running


def test_two_runners_refresh_on_one_cluster(cluster: Cluster, tmp_path: Path) -> None:
    """With `spark.master` set to a cluster, two processes at once refresh their views there."""
    project = Project(tmp_path / "shop", cluster)
    ended(project.start("apply"))
    write_deltalake(project.orders, rows(range(1000, 1100)), mode="append")
    first, second = (project.start("refresh", view) for view in ("revenue", "large"))
    merged, appended = (ended(process)["receipts"][0] for process in (first, second))
    assert (merged["technique"], appended["technique"]) == ("merge", "append")
    assert {row["region"]: row["orders"] for row in project.table("revenue")} == {
        "r0": 367,
        "r1": 367,
        "r2": 366,
    }
    assert len(project.table("large")) == 99
    applications = cluster.finished()
    assert len(applications) == 3
    assert {application["name"] for application in applications} == {"headwater"}
