"""What this machine, or the container in it, may use."""

from __future__ import annotations

import os
from pathlib import Path

_MEGABYTE = 1024 * 1024
_LEAST, _MOST, _SHARE = 1024, 4096, 0.4
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def cores() -> int:
    """The processors this process may run on."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def heap_megabytes() -> int:
    """Two fifths of the memory, between 1 and 4 GiB; the rest is for Python and the page cache."""
    share = int(memory_bytes() * _SHARE) // _MEGABYTE
    return min(_MOST, max(_LEAST, share))


def memory_bytes() -> int:
    """Physical memory, or the container's limit if that is lower."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([physical, *(limit for file in _LIMITS if (limit := _limit(file)) is not None)])


def _limit(file: Path) -> int | None:
    try:
        text = file.read_text("ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
