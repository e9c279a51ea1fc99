"""A lane for each refresh that runs: a name nobody else has now, of as few names as possible.

Spark shares its cores fairly between pools, and never forgets the name of one. So each running
refresh has a pool of its own, and a name is used again as soon as it is free.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Lanes:
    """Numbers from 1 on; whoever enters gets the lowest free one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[int] = []
        self._made = 0

    @contextmanager
    def lane(self) -> Iterator[int]:
        """A number that is nobody else's until this is left."""
        number = self._take()
        try:
            yield number
        finally:
            with self._lock:
                heapq.heappush(self._free, number)

    @property
    def taken(self) -> int:
        """How many are in use now."""
        with self._lock:
            return self._made - len(self._free)

    def _take(self) -> int:
        with self._lock:
            if self._free:
                return heapq.heappop(self._free)
            self._made += 1
            return self._made


REFRESHES = Lanes()
"""Of this process, as Spark's pools are."""
