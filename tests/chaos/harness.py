"""Starts victims, lets them die, and judges what they left behind."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.vocabulary.errors import HeadwaterError, ViewNotReady
from headwater.vocabulary.receipt import AttemptState
from tests.scenarios.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEWS = {
    "sums": "SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k",
    "flat": "SELECT id, k, v * 2 AS w FROM t WHERE v > 0",
    "pairs": "SELECT DISTINCT t.k, d.name FROM t LEFT JOIN d ON t.k = d.k",
}
STEPS = (
    "capture",
    "plan",
    "execute:first",
    "execute:last",
    "commit",
    "commit+0.3",
    "commit+0.9",
    "committed",
    "publish",
    "done",
)
PATIENCE_SECONDS = 180
RETRIES = 20


class Victim:
    """One process; it leads a group of its own, so that its JVM can be killed with it."""

    def __init__(self, folder: Path, store: str | None = None) -> None:
        command = [sys.executable, "-m", "tests.chaos.victim", str(folder)]
        self.process = subprocess.Popen(
            [*command, store] if store else command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            cwd=Path(__file__).parents[2],
        )

    def say(self, **command: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any] | None:
        """The next answer; None once the process is gone."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("@"):
                return dict(json.loads(line[1:]))
        return None

    def await_ready(self) -> None:
        assert self.hear() is not None, "the process did not start"

    def kill(self, *, whole: bool) -> None:
        with suppress(ProcessLookupError):
            if whole:
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()

    def bury(self, *, patience: float = PATIENCE_SECONDS) -> int:
        """Wait for the process; its status is minus the signal that ended it."""
        status = self.process.wait(patience)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        return status

    def is_quiet(self) -> bool:
        """No process of the group lives: nothing can write any more."""
        return not any(_alive(pid) for pid in _group(self.process.pid))

    def await_quiet(self) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not self.is_quiet():
            assert time.monotonic() < end, "the JVM of a dead process lives on"
            time.sleep(0.05)


def _group(leader: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getpgid(int(entry.name)) == leader:
                found.append(int(entry.name))
    return found


def _alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


@dataclass
class Arena:
    """A lake with three views, and a die that can be thrown again with the same seed."""

    lake: Lake
    chance: random.Random
    standby: Victim | None = None
    orphaned: int = 0
    survived: int = 0
    fenced: int = 0
    times: list[float] = field(default_factory=list)

    @classmethod
    def make(cls, folder: Path, spark: SparkSession, seed: int) -> Arena:
        lake = Lake(folder, spark)
        lake.source("t", "id INT, k STRING, v INT", [(i, f"k{i % 5}", i) for i in range(30)])
        lake.source("d", "k STRING, name STRING", [(f"k{i}", f"n{i}") for i in range(4)])
        for name, query in VIEWS.items():
            lake.view(name, query)
        return cls(lake, random.Random(seed))

    def changes(self) -> list[str]:
        """Three small changes of the sources."""
        key, id_ = f"k{self.chance.randrange(8)}", self.chance.randrange(40)
        wanted = [
            f"INSERT INTO {{t}} VALUES ({id_}, '{key}', {self.chance.randrange(100)})",
            f"UPDATE {{t}} SET v = v + 1, k = '{key}' WHERE id % 7 = {id_ % 7}",
            f"DELETE FROM {{t}} WHERE id = {id_}",
            f"INSERT INTO {{d}} VALUES ('{key}', 'n{id_}')",
        ]
        self.chance.shuffle(wanted)
        places = {name: self.lake.place(name) for name in self.lake.sources}
        return [statement.format(**places) for statement in wanted[:3]]

    def victim(self) -> Victim:
        """One that is ready; the next is started at once, so that its start costs no waiting."""
        ready = self.standby or Victim(self.lake.folder)
        ready.await_ready()
        self.standby = Victim(self.lake.folder)
        return ready

    def close(self) -> None:
        if self.standby is not None:
            self.standby.kill(whole=True)
            self.standby.bury()
        self.lake.hw.close()

    # --- rounds ---------------------------------------------------------------------------------

    def kill_at(self, step: str, view: str) -> None:
        """Let a refresh run to a named step and end its process there."""
        for statement in self.changes():
            self.lake.spark.sql(statement)
        whole = self.chance.random() < 0.5
        victim = self.victim()
        victim.say(refresh=view, die=self._spelled(step, view), whole=whole)
        if victim.hear() is not None and step in {"commit+0.9", "commit+0.3"}:
            victim.kill(whole=True)  # it was faster than the delay
        assert victim.bury() == -signal.SIGKILL, f"{step} was not reached"
        self.judge(victim)

    def _spelled(self, step: str, view: str) -> str:
        if not step.startswith("execute:"):
            return step
        plan = self.lake.hw.explain(view).plan
        assert plan is not None
        return f"execute:{plan.steps[0 if step.endswith('first') else -2].name}"

    def kill_build(self, step: str) -> None:
        """End a process while it builds a new view; the view must be had all the same."""
        query, hw = "SELECT k, max(v) AS m FROM t GROUP BY k", self.lake.hw
        victim = self.victim()
        victim.say(define=f"CREATE MATERIALIZED VIEW late AS {query}", die=step, whole=True)
        assert victim.bury() == -signal.SIGKILL, f"{step} was not reached"
        hw.workspace.reload()
        if step == "committed":
            hw.refresh("late")
        else:
            with suppress(ViewNotReady):
                hw.table("late")
                raise AssertionError("a view without content could be read")
            hw.sql(f"CREATE OR REPLACE MATERIALIZED VIEW late AS {query}")
        self.lake.queries["late"] = query
        assert_one_commit_per_sequence(self.lake, "late")
        self.lake.assert_right("late")
        hw.sql("DROP MATERIALIZED VIEW late")
        del self.lake.queries["late"]
        self.judge(victim)

    def kill_some_time(self) -> None:
        """Let a process change and refresh for ever and end it at a random moment."""
        victim = self.victim()
        sql = [statement for _ in range(4) for statement in self.changes()]
        victim.say(loop={"views": list(VIEWS), "sql": sql})
        if self.chance.random() < 0.5:
            victim.hear()  # the second pass is faster, and other moments are then as likely
        time.sleep(self.chance.random() * 5)
        victim.kill(whole=self.chance.random() < 0.5)
        assert victim.bury() == -signal.SIGKILL
        self.judge(victim)

    # --- judgement ------------------------------------------------------------------------------

    def judge(self, victim: Victim) -> None:
        """Everything that must hold after a death, then after the next refresh."""
        started = time.monotonic()
        hw = self.lake.hw
        attempts = hw.workspace.ledger.attempts
        before = {a.id for a in attempts.list(state=AttemptState.RUNNING)}
        for view in VIEWS:
            self._refresh(view)
        self.times.append(time.monotonic() - started)
        victim.await_quiet()
        for view in VIEWS:
            self._refresh(view)  # what the dead one's JVM may still have committed
            assert_one_commit_per_sequence(self.lake, view)
        self.lake.assert_right()
        assert attempts.list(state=AttemptState.RUNNING) == ()
        lost = {a.id for a in attempts.list(state=AttemptState.ORPHANED)} & before
        assert lost == before, "a dead attempt was not orphaned"
        self.orphaned += len(lost)
        self.survived += not lost
        assert hw.workspace.ledger.claims.list() == ()

    def _refresh(self, view: str) -> None:
        """At once; only the JVM of the dead process may still come first, which is no harm."""
        for _ in range(RETRIES):
            try:
                self.lake.hw.refresh(view)
            except HeadwaterError as error:
                assert error.code == "REFRESH_FENCED", error  # noqa: PT017
                self.fenced += 1
            else:
                return
        raise AssertionError(f"{view} was fenced off {RETRIES} times")


def assert_one_commit_per_sequence(lake: Lake, view: str) -> None:
    """The log has every sequence exactly once, in order, and every attempt at most once."""
    stamps = [json.loads(c["userMetadata"]) for c in lake.commits(view) if "userMetadata" in c]
    sequences = [stamp["sequence"] for stamp in stamps]
    assert sequences == list(range(1, len(sequences) + 1)), sequences
    attempts = [stamp["attempt"] for stamp in stamps]
    assert len(set(attempts)) == len(attempts)
    for earlier, later in itertools.pairwise(stamps):
        for source, seen in earlier["frontier"].items():
            assert later["frontier"][source]["version"] >= seen["version"], view
