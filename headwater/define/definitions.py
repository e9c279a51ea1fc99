"""All definitions of a project by their canonical names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from headwater.define.consumer import ConsumerDef
from headwater.define.handler import HandlerDef
from headwater.define.kind import Kind, canonical
from headwater.define.source import SourceDef
from headwater.define.view import ViewDef

Definition = SourceDef | ViewDef | HandlerDef | ConsumerDef

_SHELVES = {
    Kind.SOURCE: "sources",
    Kind.VIEW: "views",
    Kind.HANDLER: "handlers",
    Kind.CONSUMER: "consumers",
}


@dataclass(frozen=True)
class Definitions:
    """A consistent set of definitions; changing it makes a new one."""

    sources: Mapping[str, SourceDef] = field(default_factory=dict)
    views: Mapping[str, ViewDef] = field(default_factory=dict)
    handlers: Mapping[str, HandlerDef] = field(default_factory=dict)
    consumers: Mapping[str, ConsumerDef] = field(default_factory=dict)

    @classmethod
    def of(cls, definitions: Iterable[Definition]) -> Definitions:
        """Shelve definitions by kind; of two with one name the first stays."""
        shelves: dict[str, dict[str, Definition]] = {shelf: {} for shelf in _SHELVES.values()}
        for definition in definitions:
            shelves[_SHELVES[definition.kind]].setdefault(definition.name, definition)
        return cls(**shelves)  # type: ignore[arg-type]  # each shelf holds its own kind only

    def all(self) -> tuple[Definition, ...]:
        """Every definition, sources first."""
        shelves = (self.sources, self.views, self.handlers, self.consumers)
        return tuple(definition for shelf in shelves for definition in shelf.values())

    def find(self, kind: Kind, name: str) -> Definition | None:
        """The definition of this kind and name, whatever the case of its letters."""
        shelf: Mapping[str, Definition] = getattr(self, _SHELVES[kind])
        return shelf.get(canonical(name))

    def table(self, name: str) -> SourceDef | ViewDef | None:
        """What a query means by a table name."""
        known = canonical(name)
        return self.sources.get(known) or self.views.get(known)

    def with_(self, definition: Definition) -> Definitions:
        """This set with one definition added, or put in the place of its namesake."""
        shelf = _SHELVES[definition.kind]
        return replace(self, **{shelf: {**getattr(self, shelf), definition.name: definition}})

    def without(self, kind: Kind, name: str) -> Definitions:
        """This set less one definition; a name that is not there changes nothing."""
        shelf, gone = _SHELVES[kind], canonical(name)
        kept = {key: value for key, value in getattr(self, shelf).items() if key != gone}
        return replace(self, **{shelf: kept})
