"""A process that has loaded everything and forks victims: each is then ready at once.

It is told what to start over the socket that is its standard input, together with two pipes, and
answers with the new process's id.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import traceback
from pathlib import Path

import deltalake  # noqa: F401  (loaded before the first fork, like those that follow)
import pyarrow.dataset  # noqa: F401
import pyspark.sql  # noqa: F401

import headwater.api
import headwater.demo.run
import headwater.execute.session
import headwater.graph.refreshing  # noqa: F401
from tests.chaos import victim
from tests.chaos.harness import LAST_WORDS


def main() -> None:
    channel = socket.socket(fileno=0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are gone at once
    while True:
        message, pipes, _, _ = socket.recv_fds(channel, 4096, 2)
        if not message:
            return
        child = os.fork()
        if child == 0:
            begin(json.loads(message), pipes)
        for pipe in pipes:
            os.close(pipe)
        channel.send(str(child).encode())


def begin(asked: dict[str, str | None], pipes: list[int]) -> None:
    """In the child: a session and pipes of its own; never returns."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, pipe in enumerate(pipes):
        os.dup2(pipe, number)
        os.close(pipe)
    try:
        victim.live(str(asked["folder"]), asked["gateway"])
    except BaseException:
        Path(str(asked["folder"]), LAST_WORDS).write_text(traceback.format_exc(), "utf-8")
        raise
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
