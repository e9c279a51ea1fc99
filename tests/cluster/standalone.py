"""A real Spark standalone cluster on this machine: one master, some workers, all from pyspark."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwater.execute.cache import cache_folder
from headwater.execute.jars import spark_home
from headwater.execute.java import find_java, launcher_home

HOST = "127.0.0.1"
_DEPLOY = "org.apache.spark.deploy"
_START_SECONDS = 60


@dataclass(frozen=True)
class Cluster:
    """The running cluster's addresses."""

    master: str
    page: str

    def state(self) -> dict[str, Any]:
        """What the master says about workers and applications."""
        with urllib.request.urlopen(f"{self.page}/json/", timeout=10) as answer:
            return json.load(answer)

    def finished(self) -> list[dict[str, Any]]:
        """The applications that ran and ended."""
        return self.state()["completedapps"]


@contextmanager
def standalone(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and its workers, one core each, gone at the end with all their processes."""
    port, page = free_port(), free_port()
    cluster = Cluster(f"spark://{HOST}:{port}", f"http://{HOST}:{page}")
    with ExitStack() as stack:
        master = ["master.Master", "--port", str(port), "--webui-port", str(page)]
        stack.enter_context(_process(folder / "master", *master))
        wait_until(lambda: _answers(cluster))
        for number in range(workers):
            place = folder / f"worker{number}"
            size = ["-c", "1", "-m", "1g", "-d", str(place), "--webui-port", str(free_port())]
            stack.enter_context(_process(place, "worker.Worker", *size, cluster.master))
        wait_until(lambda: len(cluster.state()["workers"]) == workers)
        yield cluster


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind((HOST, 0))
        return int(opened.getsockname()[1])


def wait_until(holds: Callable[[], bool], seconds: float = _START_SECONDS) -> None:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise TimeoutError("the cluster did not come up")
        time.sleep(0.1)


def _answers(cluster: Cluster) -> bool:
    try:
        return cluster.state()["status"] == "ALIVE"
    except (OSError, ValueError):
        return False


@contextmanager
def _process(folder: Path, name: str, *options: str) -> Iterator[None]:
    folder.mkdir(parents=True)
    java = launcher_home(find_java(os.environ), cache_folder(os.environ))
    environment = {
        **os.environ,
        "JAVA_HOME": str(java),
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    command = [str(spark_home() / "bin" / "spark-class"), f"{_DEPLOY}.{name}", "--host", HOST]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *options], cwd=folder, env=environment, stdout=log, stderr=log
        )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
