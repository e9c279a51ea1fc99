"""How far a view has read each of its sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, order=True)
class SourceVersion:
    """One version of one physical table; the id tells a recreated table from the old one."""

    table_id: str
    version: int


@dataclass(frozen=True)
class Frontier(Mapping[str, SourceVersion]):
    """Source name -> the version of it that the view's content is computed from."""

    entries: tuple[tuple[str, SourceVersion], ...] = ()

    @classmethod
    def of(cls, versions: Mapping[str, SourceVersion]) -> Frontier:
        return cls(tuple(sorted(versions.items())))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Frontier:
        return cls.of(
            {name: SourceVersion(str(v["id"]), int(v["version"])) for name, v in value.items()}
        )

    def to_json(self) -> dict[str, dict[str, Any]]:
        return {name: {"id": v.table_id, "version": v.version} for name, v in self.entries}

    def advanced(self, versions: Mapping[str, SourceVersion]) -> Frontier:
        return Frontier.of({**dict(self.entries), **versions})

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
        return ", ".join(f"{name}@{v.version}" for name, v in self.entries) or "(none)"
