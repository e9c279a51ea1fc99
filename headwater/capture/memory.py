"""What was read of logs before, so that an unchanged table costs a few file look-ups."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from headwater.capture.storage import Signature

_LIMIT = 8192


class LogMemory:
    """A bounded store of values that hold as long as a file keeps its signature.

    Commits never change, but a table can be dropped and made again at the same path: its files then
    have other signatures, and what was known of the old ones is not found any more.
    """

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._entries: OrderedDict[Hashable, tuple[Signature, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, signature: Signature) -> Any:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry[0] != signature:
                return None
            self._entries.move_to_end(key)
            return entry[1]

    def put(self, key: Hashable, signature: Signature, value: object) -> None:
        with self._lock:
            self._entries[key] = (signature, value)
            self._entries.move_to_end(key)
            while len(self._entries) > self._limit:
                self._entries.popitem(last=False)

    def last(self, key: Hashable) -> tuple[Signature, Any] | None:
        """The value put last, whatever its file looks like now."""
        with self._lock:
            return self._entries.get(key)

    def __len__(self) -> int:
        return len(self._entries)


SHARED = LogMemory()
