"""A process of its own that refreshes as it is told, one JSON command per line, until it dies.

    {"sql": ["UPDATE ...", ...]}                 changes to sources
    {"define": "CREATE ..."}                     hw.sql
    {"refresh": "v", "die": "commit"}            SIGKILL when that step is reached
    {"loop": {"views": [...], "sql": [...]}}     change and refresh for ever

Every answer is one line that begins with `@`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import sys
import threading
import time
from typing import Any

import headwater
from headwater.vocabulary.errors import HeadwaterError

SPARK = {
    "spark.master": "local[1]",
    "spark.driver.memory": "768m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.databricks.delta.snapshotPartitions": "1",
}


class Executioner:
    """The observer that ends the process at one step, or some time after one."""

    def __init__(self) -> None:
        self._step: str | None = None
        self._delay = 0.0
        self._whole = False

    def arm(self, step: str | None, *, whole: bool) -> None:
        """`commit+0.4` stands for 0.4 s after `commit`; `whole` takes the JVM along."""
        name, _, delay = (step or "").partition("+")
        self._step, self._delay, self._whole = name or None, float(delay or 0), whole

    def __call__(self, step: str) -> None:
        if step != self._step:
            return
        if self._delay:
            threading.Timer(self._delay, self._kill).start()
        else:
            self._kill()

    def _kill(self) -> None:
        if self._whole:
            os.killpg(os.getpgid(0), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


def main(folder: str, store: str | None) -> None:
    executioner = Executioner()
    config: dict[str, Any] = {"refresh.heartbeat_seconds": 1.0, "spark": SPARK}
    hw = headwater.open(folder, store=store or None, config=config, observer=executioner)
    hw.spark.range(1).count()
    tell({"ready": os.getpid()})
    for line in sys.stdin:
        obey(hw, executioner, json.loads(line))
    hw.close()


def obey(hw: headwater.Headwater, executioner: Executioner, command: dict[str, Any]) -> None:
    executioner.arm(command.get("die"), whole=bool(command.get("whole")))
    for statement in command.get("sql", ()):
        hw.workspace.spark.sql(statement)
    if "define" in command:
        tell(attempt(lambda: hw.sql(command["define"])))
    if "refresh" in command:
        tell(attempt(lambda: hw.refresh(command["refresh"]).to_json()))
    if "race" in command:
        race(hw, **command["race"])
    if "loop" in command:
        loop(hw, **command["loop"])
    tell({"done": True})


def loop(hw: headwater.Headwater, views: list[str], sql: list[str]) -> None:
    for statement in itertools.cycle(sql):
        hw.workspace.spark.sql(statement)
        hw.refresh_all(views)
        tell({"round": True})


def race(hw: headwater.Headwater, view: str, until: float, sql: list[str]) -> None:
    """Refresh as often as possible; the changes, if any, are this process's to make."""
    changes = itertools.cycle(sql) if sql else None
    while time.time() < until:
        if changes is not None:
            with contextlib.suppress(Exception):  # two writers of a source may conflict
                hw.workspace.spark.sql(next(changes))
        tell(attempt(lambda: hw.refresh(view).to_json()))


def attempt(call: Any) -> dict[str, Any]:
    try:
        return {"outcome": call()}
    except HeadwaterError as error:
        return {"error": error.code, "what": error.what}


def tell(answer: dict[str, Any]) -> None:
    print("@" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
