"""How far a view has read each of its sources, and what the clock told it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_CLOCK = "now()"
"""Where the clock stands among the sources; no table has that name."""


@dataclass(frozen=True, order=True)
class SourceVersion:
    """One version of one physical table; the id tells a recreated table from the old one."""

    table_id: str
    version: int


@dataclass(frozen=True)
class Frontier(Mapping[str, SourceVersion]):
    """Source name -> the version of it that the view's content is computed from."""

    entries: tuple[tuple[str, SourceVersion], ...] = ()
    told: tuple[tuple[str, str], ...] = ()  # what the query asked the clock -> literal

    @classmethod
    def of(
        cls, versions: Mapping[str, SourceVersion], clock: Mapping[str, str] | None = None
    ) -> Frontier:
        return cls(tuple(sorted(versions.items())), tuple(sorted((clock or {}).items())))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Frontier:
        sources = {name: v for name, v in value.items() if name != _CLOCK}
        return cls.of(
            {name: SourceVersion(str(v["id"]), int(v["version"])) for name, v in sources.items()},
            value.get(_CLOCK),
        )

    def to_json(self) -> dict[str, dict[str, Any]]:
        versions = {name: {"id": v.table_id, "version": v.version} for name, v in self.entries}
        return {**versions, _CLOCK: self.clock} if self.told else versions

    @property
    def clock(self) -> dict[str, str]:
        """What each of the clock's functions gave, as a literal."""
        return dict(self.told)

    def __getitem__(self, source: str) -> SourceVersion:
        for name, version in self.entries:
            if name == source:
                return version
        raise KeyError(source)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        seen = [f"{name}@{v.version}" for name, v in self.entries]
        return ", ".join([*seen, *(value for _, value in self.told)]) or "(none)"
