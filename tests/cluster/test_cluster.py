"""Refreshes on a cluster: the runners are drivers, the work is done by executors elsewhere."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from headwater.capture.log import open_log
from headwater.capture.view_log import stamp_of
from tests.cluster.standalone import Cluster, standalone, wait_until

pytestmark = pytest.mark.slow

SETTINGS = """
[runner]
busy_threshold = 0

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

NUMBERS = range(4)
VIEW = """
CREATE SOURCE orders{n} FROM DELTA '{path}' KEY (id);
CREATE MATERIALIZED VIEW revenue{n} REFRESH ON CHANGE AS
SELECT region, count(*) AS orders, sum(amount) AS total FROM orders{n} GROUP BY region;
"""


def rows(ids: range) -> pa.Table:
    regions, amounts = [f"r{i % 3}" for i in ids], [i % 100 for i in ids]
    return pa.table({"id": list(ids), "region": regions, "amount": amounts})


class Project:
    """A project whose Spark is the cluster, used by commands in processes of their own."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "headwater.toml").write_text(SETTINGS.format(master=cluster.master))
        text = "".join(VIEW.format(n=n, path=self.source(n)) for n in NUMBERS)
        (folder / "views.sql").write_text(text)
        feed = {"delta.enableChangeDataFeed": "true"}
        for number in NUMBERS:
            write_deltalake(self.source(number), rows(range(1000)), configuration=feed)

    def source(self, number: int) -> str:
        return str(self.folder / f"orders{number}")

    def view(self, number: int) -> str:
        return str(self.folder / "warehouse" / f"revenue{number}")

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "headwater", *words, "-C", str(self.folder), "-o", "json"]
        environment = {**os.environ, "HEADWATER_ARCHIVE": "off"}
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)

    def run(self, *words: str) -> Any:
        process = self.start(*words)
        out, err = process.communicate(timeout=400)
        assert process.returncode == 0, err + out
        return json.loads(out)

    @contextmanager
    def serving(self, address: str) -> Iterator[None]:
        log = str(self.folder / f"{address}.log")
        process = self.start("serve", "--address", address, "--log-file", log)
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=120)

    def owners(self) -> set[str | None]:
        """Who keeps the views, by address."""
        return {status["owner"] for status in self.run("status")}

    def is_fresh(self) -> bool:
        """Whether every view's newest commit covers its source's second one."""
        logs = [(number, open_log(self.view(number))) for number in NUMBERS]
        stamps = [(number, stamp_of(log.commit(log.latest_version()))) for number, log in logs]
        return all(stamp and stamp.frontier[f"orders{n}"].version == 1 for n, stamp in stamps)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    with standalone(tmp_path_factory.mktemp("cluster")) as running:
        yield running


def test_two_runners_refresh_on_one_cluster(cluster: Cluster, tmp_path: Path) -> None:
    """With `spark.master` set to a cluster, two runners share the views and refresh them there."""
    project = Project(tmp_path / "shop", cluster)
    project.run("apply")
    with project.serving("one"), project.serving("two"):
        wait_until(lambda: project.owners() == {"one", "two"}, 200)
        assert len(cluster.state()["activeapps"]) == 2
        for number in NUMBERS:
            write_deltalake(project.source(number), rows(range(1000, 1100)), mode="append")
        wait_until(project.is_fresh, 300)
    for number in NUMBERS:
        found = DeltaTable(project.view(number)).to_pyarrow_table().to_pylist()
        assert {row["region"]: row["orders"] for row in found} == {"r0": 367, "r1": 367, "r2": 366}
    assert [application["name"] for application in cluster.finished()] == ["headwater"] * 3
