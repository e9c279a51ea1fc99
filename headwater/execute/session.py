"""The one place that builds the SparkSession."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from headwater.config import Config, load_config
from headwater.execute import archive
from headwater.execute.cache import cache_folder
from headwater.execute.jars import brings_delta, delta_jars, spark_home
from headwater.execute.java import Java, find_java, launcher_home, trust_options
from headwater.execute.jvm import know_helpers
from headwater.execute.machine import cores, heap_megabytes
from headwater.execute.settings import RESULT_SETTINGS, RIGHT_SETTINGS
from headwater.vocabulary.errors import SessionUnsuited, SparkFailed, WrongUse

EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_EXTENSIONS = "spark.sql.extensions"
_SPARK_CATALOG = "spark.sql.catalog.spark_catalog"
_CLASS_PATH = "spark.driver.extraClassPath"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_MEMORY = "spark.driver.memory"
JIT = "HEADWATER_JIT"
BRIEF = "brief"
"""How the JVM compiles: quickly, for commands and tests, or, unless asked, as it does itself."""

_PAGE = "2m"
"""What each sort, join and aggregate of a task takes at least. Spark's own choice, up to 64 MB, is
cleared to zero every time, and a few dozen small operators of one refresh fill the whole heap."""

_GENERATED_CLASSES = "10000"
"""Spark compiles a class for every stage of a query and keeps the newest; a refresh needs about
thirty. Of its own choice, a thousand, forty views in turn find none of theirs left."""

_CODE_CACHE = "-XX:ReservedCodeCacheSize=512m"
"""Likewise what the JVM makes of those classes: when this is full it throws code away."""

_YOUNG = 5
"""That part of the heap is for what is new; most of it is garbage before the part is full."""

_SPACIOUS = "-XX:MinHeapFreeRatio=60"
_METADATA = "-XX:MetaspaceSize=256m"
"""Spark and Delta load some 200 MB of classes; on the way there nothing is to be collected."""

_QUIET = Path(__file__).with_name("log4j2.properties")
_LOUD = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Here PySpark writes every error about a query, with the JVM's stack, before it is raised."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Launch:
    """What the JVM is started from."""

    java: Java
    java_home: Path
    jars: tuple[Path, ...]
    archive: archive.Archive | None


class _Shared:
    """The context this process built, and how many sessions on it are still open."""

    lock = threading.RLock()
    context: SparkContext | None = None
    holders = 0


def build_session(config: Config, progress: Progress | None = None) -> SparkSession:
    """A session as configured; a second one in this process shares the first one's Spark."""
    with _Shared.lock:
        context = SparkContext._active_spark_context  # noqa: SLF001  (the only way to ask)
        if context is None:
            _set_loud(logging.CRITICAL + 1)
            session = _started(config, progress or (lambda _line: None))
            know_helpers(session)
            _Shared.context, _Shared.holders = session.sparkContext, 1
        elif context is _Shared.context:
            session = _another(context, config)
            _Shared.holders += 1
        else:
            raise WrongUse(
                "a Spark that Headwater did not build runs in this process",
                hint="hand it in: headwater.open(..., spark=spark)",
            )
        return session


def adopt_session(spark: SparkSession) -> SparkSession:
    """The caller's own session, unaltered, if it can work with Delta tables."""
    wanted = {_EXTENSIONS: EXTENSION, _SPARK_CATALOG: CATALOG}
    missing = [
        f"{name}={value}"
        for name, value in wanted.items()
        if value not in (spark.conf.get(name, "") or "")
    ]
    if missing:
        raise SessionUnsuited(
            "the Spark session lacks Delta's settings",
            hint=f"build it with {' and '.join(missing)}, and with Delta's jars",
        )
    return spark


def stop_session(spark: SparkSession) -> None:
    """Stop a session from `build_session`; Spark itself goes with the last of them."""
    with _Shared.lock:
        if spark.sparkContext is not _Shared.context:
            return
        _Shared.holders -= 1
        if _Shared.holders <= 0:
            _Shared.context = None
            _set_loud(logging.WARNING)
            with suppress(OSError, Py4JError):  # its JVM may be gone: a group of processes is ended
                spark.stop()


def _set_loud(level: int) -> None:
    for name in _LOUD:
        PySparkLogger.getLogger(name).setLevel(level)


def is_local(spark: Mapping[str, str]) -> bool:
    """Tell whether driver and executors are one process of this machine."""
    master = spark.get("spark.master", "local[*]")
    return master == "local" or master.startswith("local[")


def session_settings(config: Config, launch: Launch | None) -> dict[str, str]:
    """All settings of the session: ours, then the user's own over them."""
    ours = {
        "spark.app.name": "headwater",
        "spark.scheduler.mode": "FAIR",
        "spark.sql.codegen.cache.maxEntries": _GENERATED_CLASSES,
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": str(config.folder / ".headwater" / "spark"),
        _SPARK_CATALOG: CATALOG,
        **RESULT_SETTINGS,
        **RIGHT_SETTINGS,
    }
    if is_local(config.spark):
        ours |= _local_settings()
    user = dict(config.spark)
    extensions = [name for name in user.pop(_EXTENSIONS, "").split(",") if name.strip()]
    ours[_EXTENSIONS] = ",".join(dict.fromkeys([*extensions, EXTENSION]))
    if launch is not None:
        ours |= _launch_settings(launch, user)
    return ours | user


_REMEMBERED = {
    "spark.ui.retainedJobs": "300",
    "spark.ui.retainedStages": "300",
    "spark.ui.retainedTasks": "3000",
    "spark.sql.ui.retainedExecutions": "10",
}
"""What is told of past work: a profile asks for jobs that have just ended, and nobody for more."""


def _local_settings() -> dict[str, str]:
    return {
        "spark.master": "local[*]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        _MEMORY: f"{heap_megabytes()}m",
        "spark.ui.enabled": "false",
        **_REMEMBERED,
        "spark.sql.shuffle.partitions": str(2 * cores()),
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(2 * cores()),  # VACUUM's
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.buffer.pageSize": _PAGE,
    }


def _launch_settings(launch: Launch, user: dict[str, str]) -> dict[str, str]:
    """What concerns the JVM's start; the user's own options come last, so that they win."""
    options = [f"-Dlog4j2.configurationFile={_QUIET.as_uri()}", *_compiler_options()]
    options += [*_heap_options(user), *trust_options(launch.java)]
    settings = {}
    jars = [str(jar) for jar in launch.jars]
    if is_local(user):
        path = [*jars, *filter(None, [user.pop(_CLASS_PATH, "")])]
        settings[_CLASS_PATH] = os.pathsep.join(path)
        if launch.archive is not None:
            options += launch.archive.options()
    else:
        settings["spark.jars"] = ",".join([*filter(None, [user.pop("spark.jars", "")]), *jars])
    settings[_JAVA_OPTIONS] = " ".join([*options, user.pop(_JAVA_OPTIONS, "")]).strip()
    return settings


def _compiler_options() -> list[str]:
    """A process of a few minutes ends before thoroughly compiled code has paid for itself."""
    collector = ["-XX:+UseSerialGC"] if cores() <= 4 else []  # noqa: PLR2004
    brief = os.environ.get(JIT, "") == BRIEF
    return [*collector, _CODE_CACHE, *(["-XX:TieredStopAtLevel=1"] if brief else [])]


def _heap_options(user: Mapping[str, str]) -> list[str]:
    """Room from the beginning: a heap that grows as it is needed is collected whole to grow."""
    ours = is_local(user) and _MEMORY not in user
    return [_METADATA, *([f"-Xmn{heap_megabytes() // _YOUNG}m", _SPACIOUS] if ours else [])]


# --- starting -----------------------------------------------------------------------------------


def _started(config: Config, progress: Progress) -> SparkSession:
    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:  # noqa: SLF001
        return _checked(_created(session_settings(config, None)))  # its JVM was started before
    launch = _prepared(config, progress)
    if launch.archive is not None:
        launch.archive.request(os.environ)
    settings = session_settings(config, launch)
    with _environment(config, launch):
        try:
            return _checked(_created(settings))
        except SparkFailed:
            if launch.archive is None or not launch.archive.discard():
                raise
            return _checked(_created(session_settings(config, launch)))


def local_archive(progress: Progress) -> archive.Archive | None:
    """The archive of local sessions, if they can have one; fetches Delta's jars if need be."""
    return _prepared(load_config(cache_folder(os.environ), {}, {}), progress).archive


def _prepared(config: Config, progress: Progress) -> Launch:
    cache = cache_folder(os.environ)
    java = find_java(os.environ)
    home = launcher_home(java, cache)
    environment = {"JAVA_HOME": str(home), "SPARK_HOME": str(spark_home())}
    jars: tuple[Path, ...] = ()
    if not brings_delta(config.spark):
        trust = " ".join([*trust_options(java), config.spark.get(_JAVA_OPTIONS, "")])
        jars = delta_jars(cache, {**config.spark, _JAVA_OPTIONS: trust}, environment, progress)
    found = None
    configured = (spark_home() / "conf").exists()
    if is_local(config.spark) and not configured and archive.suits(config.spark, os.environ):
        found = archive.locate(cache, java, home, [*jars, *(spark_home() / "jars").glob("*.jar")])
    return Launch(java, home, jars, found)


def _created(settings: Mapping[str, str]) -> SparkSession:
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise SparkFailed(f"Spark did not start: {error}") from error
    except Exception as error:
        if type(error).__module__.startswith("py4j"):
            raise SparkFailed(f"Spark did not start: {error}") from error
        raise
    finally:
        builder._options.clear()  # noqa: SLF001  (the builder is shared by the whole process)


def _checked(session: SparkSession) -> SparkSession:
    try:
        return adopt_session(session)
    except SessionUnsuited:
        session.stop()
        raise


def _another(context: SparkContext, config: Config) -> SparkSession:
    """A session of its own on the running Spark: settings and temporary views are not shared."""
    session = SparkSession(context).newSession()
    for name, value in session_settings(config, None).items():
        if session.conf.isModifiable(name):
            session.conf.set(name, value)
    return session


@contextmanager
def _environment(config: Config, launch: Launch) -> Iterator[None]:
    """Variables that the start reads, put back afterwards."""
    values = {"JAVA_HOME": str(launch.java_home), "PYSPARK_PYTHON": sys.executable}
    if is_local(config.spark):
        values["SPARK_HOME"] = str(spark_home())
        if launch.archive is not None:
            values["SPARK_CONF_DIR"] = str(launch.archive.empty_folder())
        values["SPARK_LAUNCHER_OPTS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
