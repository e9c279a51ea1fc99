"""Who holds a claim, told apart from a later process that got the same number.

A process is known by host, boot, process id and start time. Death is only ever concluded on the
owner's own host, in the same boot and the same process-id namespace; about any other process
nothing is known, and its claim must run out instead.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_PROC = Path("/proc")
_DEAD_STATES = frozenset("ZXx")


@dataclass(frozen=True, slots=True)
class Owner:
    """One process in the whole world, for as long as it lives."""

    host: str
    boot: str
    pid: int
    process_started: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> Owner:
    """The owner that the calling process is."""
    pid = os.getpid()
    return Owner(socket.gethostname(), _boot(), pid, _start_of(pid) or "")


def is_dead(owner: Owner) -> bool:
    """Tell whether the owner surely no longer runs; when in doubt it is alive."""
    if (owner.host, owner.boot) != (socket.gethostname(), _boot()):
        return False
    try:
        return _start_of(owner.pid) != owner.process_started
    except PermissionError:
        return False


@lru_cache(maxsize=1)
def _boot() -> str:
    """This boot of this machine, and the namespace in which its process ids are meant."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        namespace = (_PROC / "self/ns/pid").readlink()
    except OSError:
        return _boot_by_psutil()
    return f"{boot}/{namespace}"


def _start_of(pid: int) -> str | None:
    """When the process started, in a form that is only ever compared; None if it is gone."""
    if not (_PROC / "self/stat").exists():
        return _start_by_psutil(pid)
    try:
        # The command name in brackets may itself hold blanks and brackets.
        fields = (_PROC / f"{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        _refuse_if_hidden(pid)
        return None
    state, start_ticks = fields[0], fields[19]
    return None if state in _DEAD_STATES else start_ticks


def _refuse_if_hidden(pid: int) -> None:
    """Raise `PermissionError` for a process that is there but may not be looked at."""
    with suppress(ProcessLookupError):
        os.kill(pid, 0)


def _boot_by_psutil() -> str:
    # 30 ms that only systems without /proc need to spend.
    import psutil  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415

    return str(int(psutil.boot_time()))


def _start_by_psutil(pid: int) -> str | None:
    import psutil  # noqa: PLC0415

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return repr(process.create_time())
    except psutil.NoSuchProcess:
        return None
