"""One commit at a time to a table on a local disk.

On object stores and HDFS Delta's log store makes the commit file appear at once or not at all. On a
local disk it looks first and renames then, and two processes can both see nothing and both rename.
So there, processes of one machine take turns; the system frees the lock of one that dies.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def commit_lock(table: str) -> Iterator[None]:
    """Hold the table's lock; nothing to hold where the table is not on a local disk."""
    folder = _local_folder(table)
    if folder is None:
        yield
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _local_folder(table: str) -> Path | None:
    if table.startswith("file:"):
        return Path("/" + table.removeprefix("file:").lstrip("/"))
    return None if "://" in table else Path(table)
