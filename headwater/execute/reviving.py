"""A Spark whose JVM died: noticed, and forgotten so that another can be started.

PySpark keeps the gateway to its one JVM in class attributes; with those in place every further
session would talk to the dead one.
"""

from __future__ import annotations

from contextlib import suppress

from pyspark import SparkContext
from pyspark.sql import SparkSession

from headwater.execute.session import _Shared


def is_alive(spark: SparkSession) -> bool:
    """Ask the JVM itself; no answer of any kind is an answer."""
    try:
        return not spark.sparkContext._jsc.sc().isStopped()  # noqa: SLF001
    except Exception:  # noqa: BLE001  (py4j has many ways of saying that nobody is there)
        return False


def forget(spark: SparkSession) -> None:
    """Let go of a session whose JVM is gone; the next one gets a JVM of its own."""
    context = spark.sparkContext
    with _Shared.lock:
        if _Shared.context is context:
            _Shared.context, _Shared.holders = None, 0
        gateway = SparkContext._gateway  # noqa: SLF001
        if gateway is not None:
            with suppress(Exception):
                gateway.shutdown()
        SparkContext._gateway = None  # noqa: SLF001
        SparkContext._jvm = None  # noqa: SLF001
        SparkContext._active_spark_context = None  # noqa: SLF001
        SparkSession._instantiatedSession = None  # noqa: SLF001
