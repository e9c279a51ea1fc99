"""What a refresh with nothing to do never needs is not even loaded."""

from __future__ import annotations

import subprocess
import sys


def test_neither_parser_nor_planner_nor_spark_is_loaded() -> None:
    """They load with the first view that has something to do."""
    check = (
        "import sys, headwater.api; "
        "print({'sqlglot', 'pyspark', 'headwater.refresh', 'headwater.plan.planner'} "
        "& set(sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"
