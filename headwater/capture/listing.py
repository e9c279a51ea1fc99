"""What the names in a log's folder tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(
    r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.[0-9a-f-]{36})?\.(parquet|json)"
)


@dataclass(frozen=True)
class Checkpoint:
    """A whole state of the table at one version, in one file or several parts."""

    version: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """The commits and complete checkpoints of a log, oldest first."""

    commits: tuple[int, ...]
    checkpoints: tuple[Checkpoint, ...]

    @property
    def latest(self) -> int | None:
        return self.commits[-1] if self.commits else None

    @property
    def earliest(self) -> int | None:
        return self.commits[0] if self.commits else None

    def checkpoint_at_or_below(self, version: int) -> Checkpoint | None:
        return next((c for c in reversed(self.checkpoints) if c.version <= version), None)

    def can_rebuild(self, version: int) -> bool:
        """Whether the table's state at a version can still be put together from the log."""
        checkpoint = self.checkpoint_at_or_below(version)
        start = checkpoint.version + 1 if checkpoint else 0
        present = set(self.commits)
        return all(v in present for v in range(start, version + 1))


def commit_name(version: int) -> str:
    return f"{version:020d}.json"


def checksum_name(version: int) -> str:
    return f"{version:020d}.crc"


def listing_of(names: Iterable[str]) -> Listing:
    """Sort out the names; everything that is neither commit nor checkpoint is left aside."""
    commits: list[int] = []
    parts: dict[tuple[int, int], list[str]] = {}
    for name in names:
        if found := _COMMIT.fullmatch(name):
            commits.append(int(found.group(1)))
        elif found := _CHECKPOINT.fullmatch(name):
            expected = int(found.group(3) or 1)
            parts.setdefault((int(found.group(1)), expected), []).append(name)
    return Listing(tuple(sorted(commits)), _complete(parts))


def _complete(parts: dict[tuple[int, int], list[str]]) -> tuple[Checkpoint, ...]:
    """A checkpoint counts when all its parts are there; of several at a version one is enough."""
    found: dict[int, Checkpoint] = {}
    for (version, expected), names in sorted(parts.items()):
        chosen = sorted(names) if expected > 1 else sorted(names)[:1]
        if len(chosen) == expected:
            found.setdefault(version, Checkpoint(version, tuple(chosen)))
    return tuple(found[v] for v in sorted(found))
