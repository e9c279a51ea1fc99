"""Starts victims, talks to them and lets them die."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE_SECONDS = 120
LAST_WORDS = "last_words.txt"


def gateway_of(spark: SparkSession) -> str:
    """Where the JVM of a session can be reached by other processes of this user."""
    reached: Any = spark.sparkContext._gateway
    told = reached.gateway_parameters
    return f"{told.port}:{told.auth_token}"


class Nursery:
    """The process from which all victims are forked."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.nursery"],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=None if os.environ.get("HEADWATER_DEBUG") else subprocess.DEVNULL,
                cwd=Path(__file__).parents[2],
            )

    def fork(self, pipes: list[int], **asked: Any) -> int:
        socket.send_fds(self._channel, [json.dumps(asked).encode()], pipes)
        return int(self._channel.recv(64))

    def close(self) -> None:
        self._channel.close()
        self._process.wait(PATIENCE_SECONDS)


class Victim:
    """One process; it leads a group of its own, so that its JVM can be killed with it.

    With a `gateway` it has no JVM: it uses one that lives on when it dies, and that finishes what
    it was told last.
    """

    def __init__(self, nursery: Nursery, folder: Path, gateway: str | None = None) -> None:
        self.has_spark = gateway is None
        self._folder = folder
        self.last_step = "none"
        read, told = os.pipe()
        heard, write = os.pipe()
        self.pid = nursery.fork([read, write], folder=str(folder), gateway=gateway)
        for theirs in (read, write):
            os.close(theirs)
        self._told = os.fdopen(told, "w", buffering=1)
        self._heard = os.fdopen(heard)

    def say(self, **command: Any) -> None:
        self._told.write(json.dumps(command) + "\n")

    def hear(self) -> dict[str, Any] | None:
        """The next answer; None once the process is gone. Steps are noted on the way."""
        for line in self._heard:
            with suppress(ValueError):  # a line may be cut off by the death
                told = json.loads(line.removeprefix("@"))
                if "step" not in told:
                    return dict(told)
                self.last_step = told["step"].partition(":")[0]
        return None

    def await_step(self, step: str) -> None:
        """Wait until a refresh is about to begin a step."""
        wanted = "@" + json.dumps({"step": step})
        assert any(line.startswith(wanted) for line in self._heard), f"no {step}"

    def await_ready(self) -> None:
        words = self._folder / LAST_WORDS
        assert self.hear() is not None, words.read_text("utf-8") if words.exists() else "no word"
        self.last_step = "none"

    def interrupt(self) -> None:
        os.kill(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """Everything that belongs to it, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def bury(self) -> None:
        """Wait until the process is gone, whatever it had to say."""
        while self.hear() is not None:
            pass
        for pipe in (self._told, self._heard):
            with suppress(OSError):
                pipe.close()
        end = time.monotonic() + PATIENCE_SECONDS
        while Path(f"/proc/{self.pid}").exists():
            assert time.monotonic() < end, "the process does not die"
            time.sleep(0.005)
