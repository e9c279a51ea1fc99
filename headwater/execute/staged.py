"""What execution hands to the commit: relations ready to be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from headwater.capture.actions import Action
from headwater.capture.state import LiveFiles
from headwater.execute.census import Census, taken
from headwater.execute.isolated import forget
from headwater.execute.recorder import Recorder
from headwater.execute.relations import Kept
from headwater.plan.steps import Overwrite, Renew, Write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Stored:
    """The view's table as a refresh finds it."""

    path: str
    version: int
    files: tuple[Action, ...]
    has_feed: bool = True  # Delta writes rows with a change type as plain rows where it is off
    vectors: bool | None = None  # whether it has deletion vectors, or that it may get them

    @property
    def rows(self) -> int | None:
        return LiveFiles.of(self.files).statistics.rows

    @property
    def bytes(self) -> int:
        return LiveFiles.of(self.files).statistics.bytes


@dataclass(frozen=True)
class Staged:
    """A plan whose relations exist in a session of their own; nothing has touched the view."""

    session: SparkSession
    write: Write
    stored: Stored | None  # None before the first build
    kept: Mapping[str, Kept]  # the relations that were made once
    recorder: Recorder

    @cached_property
    def census(self) -> Census:
        """The rows of a patch that is to be written."""
        with self.recorder.part("count", self.session):
            return taken(self.session, self.write.relation, self.kept[self.write.relation])

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        write = self.write
        if isinstance(write, Overwrite):
            asked = [self.kept.get(name) for name in write.changes]
            return bool(asked) and all(kept is not None and kept.rows == 0 for kept in asked)
        kept = self.kept.get(write.change if isinstance(write, Renew) else write.relation)
        return kept is not None and kept.rows == 0

    def release(self) -> None:
        """Give back what was kept, once it is written or will not be."""
        for kept in self.kept.values():
            kept.release()
        forget(self.session)
