"""Commits on sources are noticed without Spark."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import pytest

from headwater.capture.listing import commit_name
from headwater.capture.storage import LocalFiles, LogFiles
from headwater.runner.watching import Noticed, SourceWatch
from headwater.testing.clock import FrozenClock


class Lake:
    """Folders that look like Delta tables from outside, and a watch over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = FrozenClock()
        self.watch = SourceWatch(self.clock)

    def commit(self, source: str, *versions: int) -> None:
        log = self.folder / source / "_delta_log"
        log.mkdir(parents=True, exist_ok=True)
        for version in versions:
            (log / commit_name(version)).write_text(f'{{"commitInfo":{{"v":{version}}}}}\n')

    def drop(self, source: str) -> None:
        shutil.rmtree(self.folder / source)

    def follow(self, *sources: str) -> None:
        self.watch.follow({source: str(self.folder / source) for source in sources})

    def noticed(self) -> list[tuple[str, int | None]]:
        return [(noticed.source, noticed.version) for noticed in self.watch.look()]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def test_a_commit_is_noticed_once(lake: Lake) -> None:
    """The first look tells all sources, later ones only those that moved, each once."""
    lake.commit("orders", 0)
    lake.commit("people", 0, 1, 2)
    lake.follow("orders", "people")
    assert lake.noticed() == [("orders", 0), ("people", 2)]
    assert lake.noticed() == []
    lake.commit("people", 3)
    assert lake.noticed() == [("people", 3)]
    assert lake.noticed() == []


def test_many_commits_between_two_looks_are_one(lake: Lake) -> None:
    """However many commits there were, the newest is told."""
    lake.commit("orders", 0)
    lake.follow("orders")
    lake.watch.look()
    for versions in (range(1, 4), range(4, 20), range(20, 36), range(36, 200)):
        lake.commit("orders", *versions)
        assert lake.noticed() == [("orders", versions[-1])]
        assert lake.noticed() == []


def test_the_moment_of_the_commit_is_told(lake: Lake) -> None:
    """Lag can be counted from it."""
    lake.commit("orders", 0)
    lake.follow("orders")
    (noticed,) = lake.watch.look()
    assert noticed.committed_at is not None
    assert abs(noticed.committed_at.timestamp() - time.time()) < 60


def test_a_table_made_again_is_noticed(lake: Lake) -> None:
    """S42: dropped and made again with the same number of commits, or fewer, it has changed."""
    lake.commit("orders", 0, 1, 2)
    lake.follow("orders")
    lake.watch.look()
    lake.drop("orders")
    lake.commit("other", 0)
    lake.commit("orders", 0, 1, 2)
    assert lake.noticed() == [("orders", 2)]
    lake.drop("orders")
    lake.commit("another", 0)
    lake.commit("orders", 0)
    assert lake.noticed() == [("orders", 0)]
    assert lake.noticed() == []


def test_a_missing_table_stops_nobody(lake: Lake) -> None:
    """A source that is not there is told once, and again when it comes or goes."""
    lake.commit("orders", 0)
    lake.follow("nowhere", "orders")
    assert lake.noticed() == [("nowhere", None), ("orders", 0)]
    assert lake.noticed() == []
    lake.commit("nowhere", 0)
    lake.commit("orders", 1)
    assert lake.noticed() == [("nowhere", 0), ("orders", 1)]
    lake.drop("nowhere")
    assert lake.noticed() == [("nowhere", None)]
    assert lake.noticed() == []


class Faulty(LocalFiles):
    """A place whose answers can be made to fail, or to wait, and that counts its questions."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.fails = False
        self.asked = 0
        self.answers = threading.Event()
        self.answers.set()

    def signature(self, name: str):
        self.answers.wait(10)
        self.asked += 1
        if self.fails:
            raise OSError("the store is away")
        return super().signature(name)


def test_a_failing_check_is_told_and_not_too_often(lake: Lake) -> None:
    """Where the check fails what reads the source runs anyway: at once, then every minute."""
    lake.commit("orders", 0)
    lake.commit("people", 0)
    files = Faulty(str(lake.folder / "orders"))
    lake.watch = SourceWatch(
        lake.clock, lambda path: files if "orders" in path else LocalFiles(path)
    )
    lake.follow("orders", "people")
    lake.watch.look()
    files.fails = True
    lake.commit("people", 1)
    failed = Noticed("orders", 0, lake.watch._sources["orders"].seen.signature.modified)
    first, second = lake.watch.look()
    assert (first.source, first.version, first.error) == ("orders", 0, "the store is away")
    assert (second.source, second.version) == ("people", 1)
    assert lake.noticed() == []
    lake.clock.advance(59)
    assert lake.noticed() == []
    lake.clock.advance(1)
    assert lake.noticed() == [("orders", 0)]
    files.fails = False
    assert lake.watch.look() == (failed,), "that it can be read again is news"
    lake.commit("orders", 1)
    assert lake.noticed() == [("orders", 1)]


def test_a_commit_made_while_the_check_failed_is_not_lost(lake: Lake) -> None:
    """After the failure the newest commit is told."""
    lake.commit("orders", 0)
    files = Faulty(str(lake.folder / "orders"))
    lake.watch = SourceWatch(lake.clock, lambda path: files)
    lake.follow("orders")
    lake.watch.look()
    files.fails = True
    lake.watch.look()
    lake.commit("orders", 1)
    files.fails = False
    assert lake.noticed() == [("orders", 1)]


def test_a_store_that_hangs_holds_nobody_up(lake: Lake) -> None:
    """Tables in stores are asked in the background; the others are told meanwhile."""
    lake.commit("far", 0)
    lake.commit("near", 0)
    far = Faulty(str(lake.folder / "far"))
    far.is_local = False
    far.answers.clear()

    def open_files(path: str) -> LogFiles:
        return far if path.endswith("far") else LocalFiles(path)

    lake.watch = SourceWatch(lake.clock, open_files)
    lake.follow("far", "near")
    assert lake.noticed() == [("near", 0)]
    lake.commit("near", 1)
    assert lake.noticed() == [("near", 1)]
    far.answers.set()
    assert answered(lake) == [("far", 0)]
    lake.commit("far", 1)
    lake.clock.advance(2)
    assert answered(lake) == [("far", 1)]
    lake.watch.close()
    lake.watch.close()


def answered(lake: Lake) -> list[tuple[str, int | None]]:
    """What is told when the store has answered."""
    until = time.monotonic() + 10
    while not (found := lake.noticed()):
        assert time.monotonic() < until
        time.sleep(0.005)
    return found


def test_a_store_is_not_asked_too_often(lake: Lake) -> None:
    """One request per table every 2 s, less often for many tables; made again: within a minute."""
    names = [f"t{n}" for n in range(500)]
    files: dict[str, Faulty] = {}

    def open_files(path: str) -> LogFiles:
        files[path] = Faulty(path)
        files[path].is_local = False
        return files[path]

    lake.commit("far", 0, 1)
    lake.watch = SourceWatch(lake.clock, open_files)
    lake.follow("far")
    lake.noticed()
    assert answered(lake) == [("far", 1)]
    (far,) = files.values()
    far.asked = 0
    for _ in range(10):
        lake.clock.advance(1)
        lake.noticed()
        wait_for_answers(lake)
    assert far.asked == 5, "every other second, and only for the next commit"
    lake.drop("far")
    lake.commit("other", 0)
    lake.commit("far", 0, 1)
    lake.clock.advance(60)
    assert answered(lake) == [("far", 1)], "it was made again"
    lake.follow(*names)
    assert lake.watch._store_pause.total_seconds() == 4
    lake.watch.close()


def wait_for_answers(lake: Lake) -> None:
    for watched in lake.watch._sources.values():
        if watched.answer is not None:
            watched.answer.exception(10)


def test_sources_come_and_go(lake: Lake) -> None:
    """Following others keeps what is known of those that stay; a new place is a new source."""
    for source in ("a", "b", "c"):
        lake.commit(source, 0)
    lake.follow("a", "b")
    lake.watch.look()
    lake.follow("b", "c")
    assert lake.noticed() == [("c", 0)]
    lake.watch.follow({"b": str(lake.folder / "a"), "c": str(lake.folder / "c")})
    assert lake.noticed() == [("b", 0)]


def test_a_quiet_source_costs_two_look_ups(lake: Lake) -> None:
    """The pass grows with the sources, not with their logs, and reads none of them."""
    lake.commit("orders", *range(50))
    files = Faulty(str(lake.folder / "orders"))
    files.names = _listed_once(files.names)
    lake.watch = SourceWatch(lake.clock, lambda path: files)
    lake.follow("orders")
    lake.watch.look()
    files.asked = 0
    for _ in range(10):
        assert lake.noticed() == []
    assert files.asked == 20


def _listed_once(names):
    left = [names]

    def listed() -> list[str]:
        return left.pop()()

    return listed


def test_a_thousand_sources_are_cheap(lake: Lake) -> None:
    """1,000 quiet sources take less than 5 % of a core at a look every 2 s, that is 100 ms."""
    names = [f"t{n}" for n in range(1000)]
    for name in names:
        lake.commit(name, 0)
    lake.follow(*names)
    lake.watch.look()
    began = time.thread_time()
    for _ in range(5):
        assert lake.watch.look() == ()
    assert (time.thread_time() - began) / 5 < 0.1
