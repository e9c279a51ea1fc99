"""The files that views leave behind: those that nobody needs go, and no others."""

from __future__ import annotations

import os
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.runner.purging import Purging
from tests import tables
from tests.scenarios.lake import Lake

DAYS_MS = 10 * 86_400_000
TIMES = re.compile(r'("(?:timestamp|deletionTimestamp|modificationTime)":)(\d{13})')


@pytest.fixture
def shop(lake: Lake) -> Lake:
    lake.source("t", "k STRING, v INT", [("a", 1), ("b", 2)])
    lake.view("sums", "SELECT k, sum(v) AS s FROM t GROUP BY k")
    lake.view("sizes", "SELECT s, count(*) AS n FROM sums GROUP BY s")
    return lake


def age(path: str) -> None:
    """Let everything in a table have happened ten days earlier."""
    then = time.time() - DAYS_MS / 1000
    for log in tables.log_files(path):
        text = TIMES.sub(lambda m: f"{m[1]}{int(m[2]) - DAYS_MS}", log.read_text())
        log.write_text(text)
        log.with_name(f".{log.name}.crc").unlink(missing_ok=True)
        log.with_suffix(".crc").unlink(missing_ok=True)
    for file in Path(path).rglob("*"):
        os.utime(file, (then, then))


def data_files(path: str) -> set[str]:
    return {file.name for file in Path(path).rglob("*.parquet")}


def test_what_readers_and_retention_leave_goes(shop: Lake) -> None:
    """S24: nothing goes that a view on it has not read, or that its own retention keeps."""
    purging, path = Purging(), shop.path("sums")
    for value in (10, 20):
        shop.insert("t", ("a", value))
        shop.refresh("sums")
    everything = data_files(path)
    purging.run(shop.hw.workspace, lambda: False)
    assert data_files(path) == everything, "its retention keeps a week"
    age(path)
    shop.reopen()
    purging = Purging()
    purging.run(shop.hw.workspace, lambda: False)
    assert data_files(path) == everything, "the view on it has read none of it"
    shop.refresh()
    purging.run(shop.hw.workspace, lambda: True)
    assert data_files(path) == everything, "canceled"
    purging.run(shop.hw.workspace, lambda: False)
    left = data_files(path)
    assert left < everything
    shop.assert_right()
    shop.insert("t", ("a", 30))
    assert {r.technique.value for r in shop.refresh().values()} <= {"merge", "rekey", "delta"}
    shop.assert_right()


def test_old_files_above_the_limit_are_an_alert(shop: Lake) -> None:
    """S20: strictly above the limit, once; and it is over when the files are gone."""
    workspace = shop.hw.workspace
    control = replace(workspace.config.control, history_megabytes=1e-6)
    workspace.config = replace(workspace.config, control=control)
    shop.insert("t", ("a", 10))
    shop.refresh("sums")
    purging = Purging()
    for _ in range(2):
        purging.run(shop.hw.workspace, lambda: False)
    assert {alert.subject for alert in workspace.ledger.events.alerts()} == {"sums"}
    assert len([e for e in workspace.ledger.events.list() if e.subject == "sums"]) == 1


def test_a_source_that_was_quiet_for_longer_than_its_retention(shop: Lake) -> None:
    """Its old version is older than what Delta lets others travel to; its files are all there."""
    age(shop.path("t"))
    shop.reopen()
    shop.insert("t", ("a", 10))
    assert shop.hw.verify("sums").equal
    assert {r.technique.value for r in shop.refresh().values()} <= {"merge", "rekey", "delta"}
    shop.assert_right()
