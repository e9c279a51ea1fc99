"""A disk without room."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.vocabulary.errors import CommitFailed
from headwater.vocabulary.receipt import AttemptState
from tests.scenarios.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """The warehouse on a file system of its own, of one megabyte."""
    place = tmp_path / "warehouse"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no right to mount a file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("technique", ["merge", "rebuild"])
def test_full_disk_harms_nothing(
    small_disk: Path, tmp_path: Path, small_spark: SparkSession, technique: str
) -> None:
    """S27: a commit that finds no room fails with its cause; content and frontier are as before."""
    lake = Lake(tmp_path, small_spark)
    lake.source("t", "k STRING, v INT", [("a", 1), ("b", 2)])
    lake.view("sums", "SELECT k, sum(v) AS s FROM t GROUP BY k")
    lake.insert("t", ("a", 5))
    before, frontier = lake.content("sums"), lake.hw.status()[0].frontier
    fill(small_disk / "filler")
    with pytest.raises(CommitFailed, match=r"(?i)space|COMMIT_FAILED"):
        lake.hw.refresh("sums", technique=technique)
    (small_disk / "filler").unlink()
    assert lake.content("sums") == before
    assert lake.hw.status()[0].frontier == frontier
    assert lake.hw.history("sums")[0].state is AttemptState.FAILED
    lake.hw.refresh("sums")
    lake.assert_right("sums")
    lake.hw.close()


def fill(file: Path) -> None:
    with file.open("wb", buffering=0) as opened, suppress(OSError):
        while True:
            opened.write(b"x" * 512)
