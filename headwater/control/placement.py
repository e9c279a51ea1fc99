"""Which runner a job belongs to: consistent hashing.

Every runner stands at many points of a ring, and a job at a few; the job belongs to the runner that
follows one of its points most closely. Several points per job even out the runners' shares, which
bounds how many jobs move. When a runner leaves, only its jobs move; when it comes back, they come
back. Runners are placed by address, which outlives a restart, and jobs by what they can share: a
base table or a handler.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from itertools import chain

VIRTUAL_NODES = 100
_PROBES = 3
_CIRCUMFERENCE = 2**64


class Ring:
    """Immutable: other members make another ring."""

    def __init__(self, members: Iterable[str], virtual_nodes: int = VIRTUAL_NODES) -> None:
        points = sorted(chain.from_iterable(_points(name, virtual_nodes) for name in set(members)))
        self._places = [place for place, _ in points]
        self._names = [name for _, name in points]

    def owner(self, key: str) -> str | None:
        """The member a key belongs to; None if there is no member."""
        if not self._places:
            return None
        _, name = min(self._next(place) for place in _places(key))
        return name

    def _next(self, place: int) -> tuple[int, str]:
        """How far it is to the next member, and which one that is."""
        at = bisect_right(self._places, place) % len(self._places)
        return (self._places[at] - place) % _CIRCUMFERENCE, self._names[at]


@lru_cache(maxsize=4)
def ring(members: frozenset[str], virtual_nodes: int = VIRTUAL_NODES) -> Ring:
    """The ring of these members; the last few are kept, because members rarely change."""
    return Ring(members, virtual_nodes)


@lru_cache(maxsize=10_000)
def _points(member: str, virtual_nodes: int) -> tuple[tuple[int, str], ...]:
    return tuple((_place(f"{member}#{number}"), member) for number in range(virtual_nodes))


def _places(key: str) -> tuple[int, ...]:
    return tuple(_place(key if number == 0 else f"{key}#{number}") for number in range(_PROBES))


def _place(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
