"""A refresh with nothing to do: in this process, and as a command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import headwater
from benchmarks.figures import Figure, median_seconds

_VIEWS = 20
_ROUNDS = 20


def idle_in_process(folder: Path) -> list[Figure]:
    """No source has moved: milliseconds per view, and no Spark session is ever started."""
    _prepare(folder)
    with headwater.open(folder) as hw:
        names = [f"v{n}" for n in range(_VIEWS)]
        for name in names:
            hw.refresh(name)
        took = median_seconds(lambda: [hw.refresh(name) for name in names], _ROUNDS)
        started = hw.workspace.started_spark is not None
    group = "nothing to do"
    return [
        Figure(group, "in process, per view", took / _VIEWS * 1000, "ms", 5),
        Figure(group, "Spark sessions started", float(started), "", 0),
    ]


def idle_command(folder: Path) -> list[Figure]:
    """The whole command, Python's start included; a JVM could not even be found."""
    environment = {**os.environ, "JAVA_HOME": "/nonexistent", "SPARK_HOME": "/nonexistent"}
    command = [sys.executable, "-m", "headwater", "refresh", "v0", "-C", str(folder)]

    def run() -> None:
        subprocess.run(command, check=True, capture_output=True, env=environment)

    run()
    return [Figure("nothing to do", "as a command", median_seconds(run, 7), "s", 0.7)]


def _prepare(folder: Path) -> None:
    """A project of plain views over one table."""
    folder.mkdir(parents=True)
    (folder / "headwater.toml").write_text("")
    with headwater.open(folder) as hw:
        spark = hw.workspace.spark
        path = folder / "orders"
        spark.range(1000).selectExpr("id", "id % 7 AS g", "id * 2 AS amount").write.format(
            "delta"
        ).option("delta.enableChangeDataFeed", "true").save(str(path))
        hw.sql(f"CREATE SOURCE orders FROM DELTA '{path}'")
        for number in range(_VIEWS):
            hw.sql(
                f"CREATE MATERIALIZED VIEW v{number} AS "
                f"SELECT g, sum(amount) AS total FROM orders WHERE id > {number} GROUP BY g"
            )
