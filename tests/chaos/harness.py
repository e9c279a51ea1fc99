"""Starts victims, talks to them and lets them die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE_SECONDS = 180


def gateway_of(spark: SparkSession) -> str:
    """Where the JVM of a session can be reached by other processes of this user."""
    reached: Any = spark.sparkContext._gateway
    told = reached.gateway_parameters
    return f"{told.port}:{told.auth_token}"


class Victim:
    """One process; it leads a group of its own, so that its JVM can be killed with it.

    With a `gateway` it has no JVM: it uses one that lives on when it dies, and that finishes what
    it was told last.
    """

    def __init__(self, folder: Path, gateway: str | None = None) -> None:
        command = [sys.executable, "-m", "tests.chaos.victim", str(folder)]
        self.has_spark = gateway is None
        self.last_step = "none"
        self.process = subprocess.Popen(
            [*command, "--gateway", gateway] if gateway else command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("HEADWATER_DEBUG") else subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            cwd=Path(__file__).parents[2],
        )

    def say(self, **command: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any] | None:
        """The next answer; None once the process is gone. Steps are noted on the way."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with suppress(ValueError):  # a line may be cut off by the death
                told = json.loads(line.removeprefix("@"))
                if "step" not in told:
                    return dict(told)
                self.last_step = told["step"].partition(":")[0]
        return None

    def await_step(self, step: str) -> None:
        """Wait until a refresh is about to begin a step."""
        assert self.process.stdout is not None
        wanted = "@" + json.dumps({"step": step})
        assert any(line.startswith(wanted) for line in self.process.stdout), f"no {step}"

    def await_ready(self) -> None:
        assert self.hear() is not None, "the process did not start"
        self.last_step = "none"

    def kill(self) -> None:
        """Everything that belongs to it, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def bury(self) -> int:
        """Wait for the process; its status is minus the signal that ended it."""
        while self.hear() is not None:
            pass
        status = self.process.wait(PATIENCE_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        return status
