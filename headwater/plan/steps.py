"""A refresh as a list of small frozen steps: `execute` runs it, `explain` prints it.

Every step but the last makes a relation with a name; the last one writes to the view's table. The
relations are Spark temporary views in a session of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.vocabulary.names import WEIGHT, quoted
from headwater.vocabulary.reason import Reason
from headwater.vocabulary.technique import Technique

TARGET = "__hw_view"
"""The view's own table as it was when the refresh began, hidden columns included."""


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
class MergeRows(Write):
    """Signed rows with the number of copies the table has (`have`): rewrite what differs."""

    def merge(self, target: str, source: str) -> str:
        same = " AND ".join(f"t.{quoted(c)} <=> s.{quoted(c)}" for c in self.columns)
        values = ", ".join(f"s.{quoted(c)}" for c in self.columns)
        names = ", ".join(quoted(c) for c in self.columns)
        return (
            f"MERGE INTO {target} AS t USING {quoted(source)} AS s "
            f"ON s.{quoted(WEIGHT)} < 0 AND {same}\n"
            f"WHEN MATCHED THEN DELETE\n"
            f"WHEN NOT MATCHED AND s.{quoted(WEIGHT)} > 0 THEN INSERT ({names}) VALUES ({values})"
        )


@dataclass(frozen=True)
class MergeKeys(Write):
    """One row per touched key, `present` telling whether the key still has a row."""

    keys: tuple[str, ...]

    def merge(self, target: str, source: str) -> str:
        others = tuple(c for c in self.columns if c not in self.keys)
        on = " AND ".join(f"t.{quoted(k)} <=> s.{quoted(k)}" for k in self.keys) or "TRUE"
        differs = " OR ".join(f"NOT (t.{quoted(c)} <=> s.{quoted(c)})" for c in others)
        updates = ", ".join(f"{quoted(c)} = s.{quoted(c)}" for c in others)
        names = ", ".join(quoted(c) for c in self.columns)
        values = ", ".join(f"s.{quoted(c)}" for c in self.columns)
        update = f"WHEN MATCHED AND ({differs}) THEN UPDATE SET {updates}\n" if others else ""
        return (
            f"MERGE INTO {target} AS t USING {quoted(source)} AS s ON {on}\n"
            f"WHEN MATCHED AND NOT s.{quoted(PRESENT)} THEN DELETE\n"
            f"{update}"
            f"WHEN NOT MATCHED AND s.{quoted(PRESENT)} THEN INSERT ({names}) VALUES ({values})"
        )


PRESENT = "__hw_present"
"""In the source of a MergeKeys: whether the key has a row in the new state."""

HAVE = "__hw_have"
"""In the source of a MergeRows: how many copies of the row the table holds now."""


@dataclass(frozen=True)
class MergeGroups(Write):
    """Add the change of each touched group's state to what the table holds."""

    keys: tuple[str, ...]
    updates: tuple[tuple[str, str], ...]  # column -> SQL over t. and s.
    inserts: tuple[tuple[str, str], ...]  # column -> SQL over s.
    vanishes: str | None  # SQL over t. and s.: the group has no row left

    def merge(self, target: str, source: str) -> str:
        on = " AND ".join(f"t.{quoted(k)} <=> s.{quoted(k)}" for k in self.keys) or "TRUE"
        updates = ", ".join(f"{quoted(c)} = {sql}" for c, sql in self.updates)
        names = ", ".join(quoted(c) for c, _ in self.inserts)
        values = ", ".join(sql for _, sql in self.inserts)
        delete = f"WHEN MATCHED AND {self.vanishes} THEN DELETE\n" if self.vanishes else ""
        return (
            f"MERGE INTO {target} AS t USING {quoted(source)} AS s ON {on}\n{delete}"
            f"WHEN MATCHED THEN UPDATE SET {updates}\n"
            f"WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})"
        )


@dataclass(frozen=True)
class Overwrite(Write):
    """Put the whole new content in the old one's place, schema included."""


@dataclass(frozen=True)
class Rewrite(Write):
    """Write only the difference between new content and old, or all of it where most differs."""

    content: str

    @property
    def rows(self) -> MergeRows:
        return MergeRows(self.name, self.relation, self.columns)


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
