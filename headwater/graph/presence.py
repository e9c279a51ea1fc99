"""Who is at work, so that an interrupted caller can wait for exactly those.

^C may hit the caller while it starts a thread: the thread runs, and the caller never heard of it.
So a worker counts itself, and none may begin once the caller has closed the door.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headwater.vocabulary.errors import RefreshCanceled

_AGAIN_SECONDS = 0.2


class Presence:
    """Counts the workers inside; thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._is_closed = False

    @contextmanager
    def at_work(self, name: str) -> Iterator[None]:
        """While entered, `empty` waits for this worker."""
        with self._changed:
            if self._is_closed:
                raise RefreshCanceled(f"{name} was not begun: the refresh was interrupted")
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def empty(self, ask: Callable[[], None]) -> None:
        """Let nobody in any more, and ask those inside to leave until the last one has left."""
        with self._changed:
            self._is_closed = True
        while not self._is_empty():
            ask()

    def _is_empty(self) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._inside == 0, timeout=_AGAIN_SECONDS)
