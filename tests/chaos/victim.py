"""A process of its own that refreshes as it is told, one JSON command per line, until it dies.

    {"change": [{"table": ..., ...}, ...]}       changes to sources, see tests/tables.py
    {"define": "CREATE ..."}                     hw.sql
    {"refresh": "v", "die": "commit"}            SIGKILL when that step is reached
    {"loop": {"views": [...], "changes": [...]}} change and refresh for ever
    {"race": {"view": ..., "wins": 5, ...}}      change and refresh until it was done so often
    {"open": "sqlite:///..."}                    go on with another ledger

Every answer is one line that begins with `@`; the steps of a refresh are told as they come.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import headwater
from headwater.vocabulary.errors import HeadwaterError
from tests import tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK = {
    "spark.master": "local[1]",
    "spark.driver.memory": "768m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=200m",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.databricks.delta.snapshotPartitions": "1",
}


class Executioner:
    """The observer that tells every step, and ends the process at one, or some time after it."""

    def __init__(self) -> None:
        self._step: str | None = None
        self._delay = 0.0
        self._whole = False

    def arm(self, step: str | None, *, whole: bool) -> None:
        """`commit+0.4` stands for 0.4 s after `commit`; `whole` takes the JVM along."""
        name, _, delay = (step or "").partition("+")
        self._step, self._delay, self._whole = name or None, float(delay or 0), whole

    def __call__(self, step: str) -> None:
        tell({"step": step})
        if self._step is None or not _is(step, self._step):
            return
        if self._delay:
            threading.Timer(self._delay, self._kill).start()
        else:
            self._kill()

    def _kill(self) -> None:
        if self._whole:
            os.killpg(os.getpgid(0), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


def _is(step: str, wanted: str) -> bool:
    """`execute` stands for whichever step of the plan comes first."""
    return step == wanted or (wanted == "execute" and step.startswith("execute:"))


class Refresher:
    """What commands act on."""

    def __init__(self, folder: str, spark: SparkSession | None) -> None:
        self._folder = folder
        self._spark = spark
        self.executioner = Executioner()
        self.hw = self._opened(None)
        with contextlib.suppress(Exception):  # ^C elsewhere cancels all that runs in a shared JVM
            self.hw.workspace.spark.range(1).count()

    def _opened(self, store: str | None) -> headwater.Headwater:
        config: dict[str, Any] = {"refresh.heartbeat_seconds": 1.0, "spark": SPARK}
        return headwater.open(
            self._folder,
            store=store,
            spark=self._spark,
            config=config,
            observer=self.executioner,
        )

    def obey(self, command: dict[str, Any]) -> None:
        self.executioner.arm(command.get("die"), whole=bool(command.get("whole")))
        if "open" in command:
            self.hw = self._opened(command["open"])
        for action in command.get("change", ()):
            tables.change(action["table"], action)
        if "define" in command:
            tell(attempt(lambda: self.hw.sql(command["define"])))
        if "refresh" in command:
            tell(attempt(lambda: self.hw.refresh(command["refresh"]).to_json()))
        if "race" in command:
            self.race(**command["race"])
        if "loop" in command:
            self.loop(**command["loop"])
        tell({"done": True})

    def loop(self, views: list[str], changes: list[dict[str, Any]]) -> None:
        for action in itertools.cycle(changes):
            tables.change(action["table"], action)
            self.hw.refresh_all(views)
            tell({"round": True})

    def race(self, view: str, wins: int, changes: list[dict[str, Any]]) -> None:
        """Refresh without pause until it was done so often; the changes are this process's."""
        for action in itertools.islice(itertools.cycle(changes), wins):
            with contextlib.suppress(Exception):  # two writers of a source may conflict
                tables.change(action["table"], action)
            while "error" in (told := attempt(lambda: self.hw.refresh(view).to_json())):
                tell(told)
                time.sleep(0.02)
            tell(told)


def attempt(call: Any) -> dict[str, Any]:
    try:
        return {"outcome": call()}
    except HeadwaterError as error:
        return {"error": error.code, "what": error.what}
    except KeyboardInterrupt:
        return {"error": "INTERRUPTED"}


_telling = threading.Lock()


def tell(answer: dict[str, Any]) -> None:
    with _telling:
        os.write(1, f"@{json.dumps(answer)}\n".encode())


def borrowed(gateway: str) -> SparkSession:
    """A session on a JVM that another process started, and that outlives this one."""
    os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"] = gateway.split(":")
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession as Session

    connection = launch_gateway()
    jvm: Any = connection.jvm
    java = jvm.org.apache.spark
    context = java.api.java.JavaSparkContext.fromSparkContext(java.SparkContext.getOrCreate())
    conf = SparkConf(_jvm=jvm, _jconf=context.getConf())
    session = Session(SparkContext(gateway=connection, jsc=context, conf=conf)).newSession()
    for name, value in SPARK.items():
        if session.conf.isModifiable(name):
            session.conf.set(name, value)
    return session


def live(folder: str, gateway: str | None) -> None:
    """Get ready, then obey until there is nobody to obey."""
    refresher = Refresher(folder, borrowed(gateway) if gateway else None)
    tell({"ready": os.getpid()})
    with open(0, encoding="utf-8", closefd=False) as commands:
        for line in commands:
            refresher.obey(json.loads(line))
    os._exit(0)  # a borrowed Spark is not ours to stop
