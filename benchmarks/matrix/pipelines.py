"""Spark Declarative Pipelines, which recompute every view in every run."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.matrix.changes import Window
from benchmarks.matrix.contenders import PIPELINES, Told
from benchmarks.matrix.shapes import Shape
from benchmarks.matrix.tables import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NEEDED = ("grpc", "grpc_status", "google.protobuf", "yaml", "zstandard")
_SAME = (
    "spark.driver.memory",
    "spark.driver.extraClassPath",
    "spark.sql.extensions",
    "spark.sql.catalog.spark_catalog",
    "spark.sql.shuffle.partitions",
)


class NotInstalled(Exception):
    """The engine is not on this machine."""


def missing() -> str:
    """What must be installed first; `pip install 'pyspark[pipelines]'` does."""
    return ", ".join(name for name in _NEEDED if not _is_there(name))


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class Pipelines:
    """A `spark-pipelines run` per refresh, in a JVM of its own, with the session's settings."""

    name = PIPELINES

    def __init__(self, folder: Path, lake: Lake, spark: SparkSession) -> None:
        self._folder = folder
        self._lake = lake
        self._spark = spark

    def build(self, shape: Shape) -> bool:
        """Write the project; the first run fills the views."""
        project = self._folder / shape.name
        (project / "transformations").mkdir(parents=True)
        (project / "spark-pipeline.yml").write_text(
            f"name: {shape.name}\nstorage: {(project / 'storage').as_uri()}\n"
            "libraries:\n  - glob:\n      include: transformations/**\n"
        )
        named = [
            f"CREATE TEMPORARY VIEW {table.name} AS "
            f"SELECT * FROM delta.`{self._lake.path(table.name)}`;\n"
            for table in shape.tables
        ]
        kept = [f"CREATE MATERIALIZED VIEW {v} AS {query};\n" for v, query in shape.views.items()]
        (project / "transformations" / "views.sql").write_text("".join([*named, *kept]))
        return True

    def follow(self, shape: Shape, _window: Window) -> Told:
        if missing():
            raise NotInstalled(f"pip install 'pyspark[pipelines]' ({missing()})")
        project = self._folder / shape.name
        conf: Any = self._spark.sparkContext.getConf()
        settings = {name: value for name in _SAME if (value := conf.get(name))}
        settings["spark.sql.catalogImplementation"] = "hive"
        settings["spark.sql.warehouse.dir"] = str(project / "tables")
        settings["spark.ui.enabled"] = "false"
        # A file, because the JVM that carries the run out is not the one that gets the options.
        defaults = project / "conf" / "spark-defaults.conf"
        defaults.parent.mkdir(exist_ok=True)
        defaults.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
        home = Path(find_spec("pyspark").origin).parent  # type: ignore[union-attr,arg-type]
        command = [str(home / "bin" / "spark-pipelines"), "run"]
        command += ["--spec", "spark-pipeline.yml", "--remote", f"local[{os.cpu_count()}]"]
        environment = self._environment(home) | {"SPARK_CONF_DIR": str(defaults.parent)}
        done = subprocess.run(
            command, cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            (project / "failed.log").write_text(done.stdout + done.stderr)
            raise RuntimeError(_last(done.stdout + done.stderr))
        return Told("recompute")

    def _environment(self, home: Path) -> dict[str, str]:
        jvm: Any = self._spark._jvm  # noqa: SLF001
        java = os.environ.get("JAVA_HOME") or jvm.System.getProperty("java.home")
        return {
            **os.environ,
            "JAVA_HOME": java,
            "SPARK_HOME": str(home),
            "PYSPARK_PYTHON": sys.executable,
        }

    def content(self, view: str) -> DataFrame:
        (path,) = self._folder.glob(f"*/tables/{view}")
        return self._spark.read.parquet(str(path))


def _last(output: str) -> str:
    told = [line for line in output.splitlines() if "rror" in line or "xception" in line]
    return (told or output.splitlines() or ["no output"])[0]
