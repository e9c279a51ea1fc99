"""Which of several views goes first: the one that the longest row of others waits for."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from graphlib import TopologicalSorter


def followers(reads: Mapping[str, AbstractSet[str]]) -> dict[str, int]:
    """For each view, how many come after it one by one before the last; `reads` are its inputs."""
    found = dict.fromkeys(reads, 0)
    for view in reversed(list(TopologicalSorter(reads).static_order())):
        for below in reads[view]:
            found[below] = max(found[below], found[view] + 1)
    return found
