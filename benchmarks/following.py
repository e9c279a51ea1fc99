"""From a commit on a source to a fresh view, with `headwater serve` in a process of its own."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import headwater
from benchmarks.figures import Figure
from headwater.capture.log import TableLog, open_log
from headwater.capture.view_log import stamp_of

_GROUPS = 1000
_WARM_UP = 3
_LONGEST_SECONDS = 180


def follow_changes(folder: Path, *, quick: bool = False) -> list[Figure]:
    """A small view ON CHANGE: how long after a commit it holds it, the server being warm."""
    source, view = _prepare(folder)
    took = []
    with _serving(folder):
        for number in range(_WARM_UP + (5 if quick else 15)):
            seconds = _followed(source, view, number)
            if number >= _WARM_UP:
                took.append(seconds)
    group = "change to fresh view"
    return [
        Figure(group, "small view, warm, ON CHANGE", statistics.median(took), "s", 5),
        Figure(group, "the slowest", max(took), "s"),
    ]


def _prepare(folder: Path) -> tuple[Path, TableLog]:
    """A project with one built view; its source, and the log of its table."""
    from deltalake import write_deltalake

    folder.mkdir(parents=True)
    (folder / "headwater.toml").write_text(
        "[runner]\nbusy_threshold = 0\n"
    )  # whoever else works here
    source = folder / "orders"
    write_deltalake(source, _rows(0, _GROUPS), configuration={"delta.enableChangeDataFeed": "true"})
    (folder / "views.sql").write_text(
        f"CREATE SOURCE orders FROM DELTA '{source}';\n"
        "CREATE MATERIALIZED VIEW totals REFRESH ON CHANGE AS\n"
        "SELECT g, sum(amount) AS total, count(*) AS n FROM orders GROUP BY g;\n"
    )
    with headwater.open(folder) as hw:
        hw.apply()
        return source, hw.workspace.log_of("totals")


def _rows(start: int, count: int) -> object:
    import pyarrow as pa

    ids = range(start, start + count)
    return pa.table({"g": [i % _GROUPS for i in ids], "amount": [i % 97 for i in ids]})


def _followed(source: Path, view: TableLog, number: int) -> float:
    """Seconds from the moment a commit is there until the view's frontier covers it."""
    from deltalake import write_deltalake

    write_deltalake(source, _rows(10 * number, 10), mode="append")
    began = time.perf_counter()
    version = open_log(str(source)).latest_version()
    while not _covers(view, version):
        if time.perf_counter() - began > _LONGEST_SECONDS:
            raise AssertionError("the view does not follow")
        time.sleep(0.01)
    return time.perf_counter() - began


def _covers(view: TableLog, version: int) -> bool:
    stamp = stamp_of(view.commit(view.latest_version()))
    return stamp is not None and stamp.frontier["orders"].version >= version


@contextmanager
def _serving(folder: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "headwater", "serve", "-C", str(folder)]
    with (folder / "serve.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=dict(os.environ))
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
