"""A lake on which refreshes are killed, and the judge of what they leave behind."""

from __future__ import annotations

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.execute.isolated import isolated
from headwater.vocabulary.errors import HeadwaterError, ViewNotReady
from headwater.vocabulary.receipt import AttemptState
from tests import tables
from tests.chaos.harness import Nursery, Victim, gateway_of
from tests.chaos.witness import Witness
from tests.scenarios.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T, D = "id INT, k STRING, v INT", "k STRING, name STRING"
VIEWS = {
    "sums": "SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k",
    "flat": "SELECT id, k, v * 2 AS w FROM t WHERE v > 0",
    "pairs": "SELECT DISTINCT t.k, d.name FROM t LEFT JOIN d ON t.k = d.k",
}
STEPS = ("capture", "plan", "execute", "commit", "commit+0.1", "committed", "publish", "done")
RETRIES = 20


@dataclass
class Tally:
    """What was seen, to be told at the end."""

    kills: Counter[str] = field(default_factory=Counter)  # by the step the process died in
    outcomes: Counter[str] = field(default_factory=Counter)  # what had become of its attempt
    fenced: int = 0  # refreshes that came second to a dead one's commit
    recovery: list[float] = field(default_factory=list)  # seconds until the next refresh was done

    def lines(self) -> list[str]:
        def told(counts: Counter[str]) -> str:
            return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))

        took = sorted(self.recovery)
        return [
            f"{self.kills.total()} kills; died in: {told(self.kills)}",
            f"attempts of the dead: {told(self.outcomes)}",
            f"{self.fenced} refreshes were fenced off by what a dead process left running",
            f"next refresh after {took[len(took) // 2]:.1f} s (median), at most {took[-1]:.1f} s",
        ]


@dataclass
class Arena:
    """Three views on two tables, and a die that can be thrown again with the same seed."""

    lake: Lake
    chance: random.Random
    witness: Witness
    nursery: Nursery = field(default_factory=Nursery)
    tally: Tally = field(default_factory=Tally)
    waiting: dict[bool, list[Victim]] = field(default_factory=lambda: {True: [], False: []})

    @classmethod
    def make(cls, folder: Path, spark: SparkSession, seed: int) -> Arena:
        lake = Lake(folder, spark)
        lake.source("t", T, [(i, f"k{i % 5}", i) for i in range(30)])
        lake.source("d", D, [(f"k{i}", f"n{i}") for i in range(4)])
        for name, query in VIEWS.items():
            lake.view(name, query)
        return cls(lake, random.Random(seed), Witness(lake, isolated(spark)))

    def changes(self, number: int = 2) -> list[dict[str, Any]]:
        """Small changes of the sources."""
        id_, value = self.chance.randrange(40), self.chance.randrange(100)
        key = f"k{self.chance.randrange(8)}"
        t, d = self.lake.path("t"), self.lake.path("d")
        wanted: list[dict[str, Any]] = [
            {"table": t, "ddl": T, "insert": [(id_, key, value), (id_ + 1, key, -value)]},
            {"table": t, "update": {"v": "v + 1", "k": f"'{key}'"}, "where": f"id % 7 = {id_ % 7}"},
            {"table": t, "delete": f"id = {id_}"},
            {"table": d, "ddl": D, "insert": [(key, f"n{id_ % 9}")]},
            {"table": d, "delete": f"name = 'n{id_ % 9}'"},
        ]
        self.chance.shuffle(wanted)
        return wanted[:number]

    def change(self) -> None:
        """At least one that every view must follow."""
        row = (100 + self.chance.randrange(50), "moved", 1 + self.chance.randrange(99))
        tables.change(self.lake.path("t"), {"ddl": T, "insert": [row]})
        for action in self.changes():
            tables.change(action["table"], action)

    # --- victims --------------------------------------------------------------------------------

    def prepare(self, *, with_spark: bool, number: int = 1) -> None:
        """Start processes that will be wanted soon; they get ready meanwhile."""
        gateway = None if with_spark else gateway_of(self.lake.spark)
        for _ in range(number):
            self.waiting[with_spark].append(Victim(self.nursery, self.lake.folder, gateway))

    def victim(self, *, with_spark: bool) -> Victim:
        if not self.waiting[with_spark]:
            self.prepare(with_spark=with_spark)
        ready = self.waiting[with_spark].pop(0)
        ready.await_ready()
        return ready

    def close(self) -> None:
        for victim in (*self.waiting[True], *self.waiting[False]):
            victim.kill()
            victim.bury()
        self.nursery.close()
        self.lake.hw.close()

    # --- rounds ---------------------------------------------------------------------------------

    def kill_at(
        self, step: str, view: str, *, with_spark: bool = False, refresh: bool = True
    ) -> None:
        """Let a refresh run to a named step and end its process there."""
        self.change()
        victim = self.victim(with_spark=with_spark)
        victim.say(refresh=view, die=step, whole=True)
        answer = victim.hear()
        if answer is not None:
            assert "+" in step, f"{step} was not reached: {answer}"
            victim.kill()  # it was faster than the delay
        victim.bury()
        self.judge(victim, [view], refresh=refresh)

    def kill_some_time(
        self, *views: str, with_spark: bool = False, within: float = 3.0, refresh: bool = True
    ) -> None:
        """Let a process change and refresh for ever and end it at a random moment."""
        wanted = list(views or VIEWS)
        victim = self.victim(with_spark=with_spark)
        victim.say(loop={"views": wanted, "changes": self.changes(5)})
        if self.chance.random() < 0.5:
            victim.hear()  # the second pass is faster, and other moments are then as likely
        time.sleep(self.chance.random() * within)
        victim.kill()
        victim.bury()
        self.judge(victim, wanted, refresh=refresh)

    def interrupt(self, step: str, view: str) -> AttemptState:
        """Send ^C to a process in the middle of a refresh; what its attempt is closed as."""
        self.change()
        victim = self.victim(with_spark=False)
        victim.say(refresh=view)
        victim.await_step(step)
        victim.interrupt()
        assert victim.hear() is not None, "it died of ^C"
        ledger = self.lake.hw.workspace.ledger
        assert ledger.claims.list() == (), "a claim is left"
        (newest,) = ledger.attempts.list(view, limit=1)
        assert self.witness.has_landed(view, newest.id) == (newest.state is AttemptState.SUCCEEDED)
        self.witness.check([view])
        victim.kill()
        victim.bury()
        self.refresh(view)
        self.witness.check([view])
        return newest.state

    def race(self, victims: list[Victim], wins: int) -> list[list[dict[str, Any]]]:
        """All refresh one view without pause; each makes changes, so that there is always work."""
        table = self.lake.path("t")
        for victim in victims:
            mine = [change for change in self.changes(5) if change["table"] == table]
            victim.say(race={"view": "sums", "wins": wins, "changes": mine})
        with ThreadPoolExecutor(len(victims)) as listeners:  # nobody waits to be heard
            return list(listeners.map(_heard_out, victims))

    def kill_definition(self, step: str, *, known: bool) -> None:
        """End a process while it builds a view, or builds it anew: one definition holds whole."""
        hw, queries = self.lake.hw, self.lake.queries
        old, new = "SELECT k, max(v) AS m FROM t GROUP BY k", "SELECT k, min(v) AS m, 1 AS c FROM t"
        new += " GROUP BY k"
        if known:
            hw.sql(f"CREATE MATERIALIZED VIEW late AS {old}")
        victim = self.victim(with_spark=False)
        verb = "CREATE OR REPLACE" if known else "CREATE"
        victim.say(define=f"{verb} MATERIALIZED VIEW late AS {new}", die=step)
        assert victim.hear() is None, f"{step} was not reached"
        victim.bury()
        has_landed = step in {"committed", "publish"}
        hw.workspace.reload()
        if not known and not has_landed:
            with suppress(ViewNotReady):
                hw.table("late").collect()
                raise AssertionError("a view without content could be read")
            assert {s.state for s in hw.status() if s.view == "late"} == {"deferred"}
            hw.sql(f"CREATE OR REPLACE MATERIALIZED VIEW late AS {new}")
        queries["late"] = old if known and not has_landed else new
        self.change()
        self.judge(victim, ["late"])
        assert self.witness.stamps("late")[-1][1]["statement"].endswith(queries["late"])
        hw.sql("DROP MATERIALIZED VIEW late")
        del queries["late"]

    # --- judgement ------------------------------------------------------------------------------

    def judge(self, victim: Victim, views: list[str], *, refresh: bool = True) -> None:
        """Everything that must hold after a death, and after the next refresh."""
        started = time.monotonic()
        workspace = self.lake.hw.workspace
        attempts, claims = workspace.ledger.attempts, workspace.ledger.claims
        dead = {a.id: a.view for a in attempts.list(state=AttemptState.RUNNING)}
        landed = {
            attempt for attempt, view in dead.items() if self.witness.has_landed(view, attempt)
        }
        self.witness.check(views)
        if refresh:
            for view in views:
                self.refresh(view)
            self.tally.recovery.append(time.monotonic() - started)
            self.witness.check(views)
        claims.sweep(workspace.clock.now())
        assert attempts.list(state=AttemptState.RUNNING) == ()
        orphaned = {a.id for a in attempts.list(state=AttemptState.ORPHANED, limit=1000)}
        assert dead.keys() <= orphaned, "a dead attempt was not orphaned"
        assert claims.list() == (), "a claim is stuck"
        self._count(victim, dead, landed)

    def _count(self, victim: Victim, dead: dict[str, str], landed: set[str]) -> None:
        spark = "its Spark with it" if victim.has_spark else "its Spark lived on"
        self.tally.kills[f"{victim.last_step} ({spark})"] += 1
        for attempt, view in dead.items():
            later = attempt not in landed and self.witness.has_landed(view, attempt)
            fate = "committed before death" if attempt in landed else "never committed"
            self.tally.outcomes["committed after death" if later else fate] += 1
        self.tally.outcomes["no attempt open"] += not dead

    def refresh(self, view: str) -> None:
        """At once; only what the dead process's Spark still does may come first: no harm."""
        for _ in range(RETRIES):
            try:
                self.lake.hw.refresh(view)
            except HeadwaterError as error:
                assert error.code == "REFRESH_FENCED", error  # noqa: PT017
                self.tally.fenced += 1
            else:
                return
        raise AssertionError(f"{view} was fenced off {RETRIES} times")


def _heard_out(victim: Victim) -> list[dict[str, Any]]:
    """All answers until it says that it is done."""
    told = []
    while (answer := victim.hear()) is not None and "done" not in answer:
        told.append(answer)
    return told
