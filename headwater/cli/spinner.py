"""A sign of life on the terminal; off the terminal a line for what takes long, and no more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status


class Spinner:
    """Appears with the first step or message while something is under way; safe in any thread.

    It waits for that first sign so that a command with nothing to do never loads what draws it.
    """

    def __init__(self, stderr: IO[str]) -> None:
        self._stderr = stderr
        self._lock = threading.RLock()
        self._what = ""
        self._drawn: Status | None = None

    def begin(self, what: str) -> None:
        with self._lock:
            self._what = what

    def step(self, name: str) -> None:
        self._draw(f"{self._what}: {name}" if self._what else name)

    def announce(self, message: str) -> None:
        """A message worth a line even where nothing can be drawn."""
        if self._stderr.isatty():
            self._draw(message)
        else:
            self._stderr.write(message + "\n")
            self._stderr.flush()

    def end(self) -> None:
        with self._lock:
            if self._drawn is not None:
                self._drawn.stop()
            self._drawn, self._what = None, ""

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """While something else is printed."""
        with self._lock:
            if self._drawn is not None:
                self._drawn.stop()
            try:
                yield
            finally:
                if self._drawn is not None:
                    self._drawn.start()

    def _draw(self, text: str) -> None:
        with self._lock:
            if not self._what or not self._stderr.isatty():
                return
            if self._drawn is None:
                from headwater.cli.terminal import status_line  # noqa: PLC0415  (loads rich)

                self._drawn = status_line(self._stderr)
                self._drawn.start()
            self._drawn.update(text)
