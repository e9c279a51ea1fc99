"""What a view costs without Headwater: evaluate its query, overwrite a table with the result."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from headwater.capture.log import open_log
from headwater.demo.story import Recomputed

if TYPE_CHECKING:
    from headwater.api import Headwater


class Recompute:
    """Recomputes views into scratch tables, which go when it is left.

    It runs right after the refresh of the same view and reads the same versions, so what Spark has
    already found out about them serves the recompute: the comparison leans to its side.
    """

    def __init__(self, hw: Headwater) -> None:
        self._hw = hw
        self._scratch = Path()

    def __enter__(self) -> Self:
        self._scratch = Path(tempfile.mkdtemp(prefix="headwater-demo-"))
        return self

    def __exit__(self, *_error: object) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)

    def measured(self, view: str) -> Recomputed:
        """Recompute a view on what its sources hold now."""
        workspace = self._hw.workspace
        query = workspace.definitions.views[view].query
        for name in workspace.inputs(view):
            self._hw.table(name).createOrReplaceTempView(name)
        path = str(self._scratch / view)
        started = time.perf_counter()
        workspace.spark.sql(query).write.format("delta").mode("overwrite").save(path)
        seconds = time.perf_counter() - started
        return Recomputed(seconds, open_log(path).statistics().rows or 0)
