"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CPU = Path("/proc/cpuinfo")


def machine(spark: SparkSession) -> dict[str, Any]:
    """Cores, memory and versions."""
    jvm: Any = spark._jvm  # noqa: SLF001
    return {
        "at": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "processor": _processor(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "heap": spark.conf.get("spark.driver.memory"),
        "system": platform.platform(aliased=True, terse=True),
        "python": platform.python_version(),
        "java": jvm.System.getProperty("java.version"),
        "pyspark": version("pyspark"),
        "delta": version("delta-spark"),
    }


def _processor() -> str:
    if _CPU.exists():
        for line in _CPU.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()
