"""Delta's jars: fetched once by Spark's own resolver, then taken from the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

from headwater.execute.cache import published
from headwater.vocabulary.errors import DownloadFailed

_SCALA = "2.13"
_SHIPPED_BY_SPARK = (
    "com.fasterxml.jackson.*:*",
    "com.github.luben:*",
    "com.google.code.findbugs:*",
    "commons-logging:*",
    "commons-pool:*",
    "io.airlift:*",
    "javax.annotation:*",
    "org.apache.*:*",
    "org.locationtech.*:*",
    "org.roaringbitmap:*",
    "org.slf4j:*",
    "org.xerial.*:*",
)
_RESOLVER_SETTINGS = (
    "spark.driver.extraJavaOptions",
    "spark.jars.ivySettings",
    "spark.jars.repositories",
)
_LIMIT_SECONDS = 900


def spark_home() -> Path:
    """The Spark that came with the installed pyspark, found without importing it."""
    found = metadata.distribution("pyspark").locate_file("pyspark")
    return Path(str(found)).resolve()


def brings_delta(spark: Mapping[str, str]) -> bool:
    """Tell whether the user's settings, or Spark's own folder, provide Delta already."""
    named = ",".join(spark.get(name, "") for name in ("spark.jars", "spark.jars.packages"))
    return "delta-spark" in named or any((spark_home() / "jars").glob("delta-spark*.jar"))


def delta_jars(
    cache: Path,
    spark: Mapping[str, str],
    environment: Mapping[str, str],
    progress: Callable[[str], None],
) -> tuple[Path, ...]:
    """The jars of the installed delta-spark, in a fixed order."""
    delta, version = metadata.version("delta-spark"), metadata.version("pyspark")
    folder = cache / "jars" / f"delta-{delta}-spark-{version}"
    short = ".".join(version.split(".")[:2])

    def fill(scratch: Path) -> None:
        progress(f"fetching Delta Lake {delta} (about 13 MB, once per machine)")
        _resolve(f"io.delta:delta-spark_{short}_{_SCALA}:{delta}", scratch, spark, environment)

    return tuple(sorted(published(folder, fill).glob("*.jar")))


def _resolve(
    coordinate: str, folder: Path, spark: Mapping[str, str], environment: Mapping[str, str]
) -> None:
    """An empty program submitted to Spark makes it fetch the packages and end."""
    with tempfile.TemporaryDirectory(prefix=".ivy-", dir=folder.parent) as ivy:
        nothing = Path(ivy) / "nothing.py"
        nothing.write_text("", "utf-8")
        settings = {
            "spark.jars.packages": coordinate,
            "spark.jars.excludes": ",".join(_SHIPPED_BY_SPARK),
            "spark.jars.ivy": ivy,
            **{name: spark[name] for name in _RESOLVER_SETTINGS if name in spark},
        }
        said = _submitted(nothing, settings, environment)
        fetched = sorted((Path(ivy) / "jars").glob("*.jar"))
        if not any("delta-spark" in jar.name for jar in fetched):
            raise DownloadFailed(f"Delta's jars ({coordinate}) could not be fetched: {said}")
        for jar in fetched:
            shutil.copyfile(jar, folder / jar.name)


def _submitted(program: Path, settings: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """Run it; what went wrong in one line, for the case that something did."""
    command = [str(spark_home() / "bin" / "spark-submit"), "--master", "local[1]"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    env = {**os.environ, **environment, "PYSPARK_PYTHON": sys.executable}
    try:
        ended = subprocess.run(  # noqa: S603  (Spark's own program)
            [*command, str(program)],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_LIMIT_SECONDS // 60} minutes"
    return _cause(ended.stderr)


def _cause(said: str) -> str:
    lines = [line.strip() for line in said.splitlines()]
    marks = ("Exception", "Server access error", "refused", "timed out", "unresolved dependency")
    telling = [line for mark in marks for line in lines if mark in line]
    return (telling or [line for line in lines if line] or ["Spark said nothing"])[0][:300]
