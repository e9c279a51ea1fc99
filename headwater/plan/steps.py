"""A refresh as a list of small frozen steps: `execute` runs it, `explain` prints it.

Every step but the last makes a relation with a name; the last one writes to the view's table. The
relations are Spark temporary views in a session of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.vocabulary.reason import Reason
from headwater.vocabulary.technique import Technique

TARGET = "__hw_view"
"""The view's own table as it was when the refresh began: all columns, and where each row lies."""


@dataclass(frozen=True)
class Step:
    """Something a refresh does."""

    name: str


@dataclass(frozen=True)
class ReadSnapshot(Step):
    """A source at one version, with the columns it had when the view was defined."""

    source: str
    version: int
    columns: tuple[str, ...]


@dataclass(frozen=True)
class ReadChanges(Step):
    """A source's change between two versions as signed rows, consolidated unless inserts only."""

    source: str
    after: int
    up_to: int
    columns: tuple[str, ...]
    inserts_only: bool
    has_feed: bool


@dataclass(frozen=True)
class ReadView(Step):
    """The view's own table."""


@dataclass(frozen=True)
class Derive(Step):
    """A relation made by SQL from earlier ones; `once` ones are evaluated once and kept."""

    sql: str
    once: bool = False


@dataclass(frozen=True)
class Write(Step):
    """The step that changes the view; `relation` is what it writes, `columns` the table's."""

    relation: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Append(Write):
    """Blind append of rows."""


@dataclass(frozen=True)
class Patch(Write):
    """Take stored rows out and put rows in; see `plan/patch.py`."""


@dataclass(frozen=True)
class Renew(Write):
    """Put a whole content, made of the old one and a change, in the old one's place."""

    change: str  # nothing is written if this relation is empty


PRESENT = "__hw_present"
"""In a relation of recomputed keys: whether the key has a row in the new state."""


@dataclass(frozen=True)
class Overwrite(Write):
    """Put the whole new content in the old one's place, schema included."""

    changes: tuple[str, ...] = ()  # nothing is written if these are some, and all of them empty


@dataclass(frozen=True)
class Rewrite(Write):
    """Patch what differs between new content and old, or put all of it where most differs.

    `difference` has one signed row per row that differs; the patch is only made if those are few.
    """

    content: str
    difference: str
    patching: tuple[Derive, ...]

    @property
    def patch(self) -> Patch:
        return Patch(self.name, self.relation, self.columns)


@dataclass(frozen=True)
class RefreshPlan:
    """What one refresh will do, and why this way."""

    technique: Technique
    steps: tuple[Step, ...]
    reasons: tuple[Reason, ...] = ()

    @property
    def write(self) -> Write:
        last = self.steps[-1]
        if not isinstance(last, Write):
            raise TypeError("a plan ends with a write")
        return last
