"""What a user can say in SQL, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headwater.define.consumer import ConsumerDef
from headwater.define.handler import HandlerDef
from headwater.define.kind import Kind
from headwater.define.source import SourceDef
from headwater.define.view import ViewDef
from headwater.vocabulary.location import Location


@dataclass(frozen=True)
class CreateSource:
    """CREATE [OR REPLACE] SOURCE [IF NOT EXISTS]."""

    definition: SourceDef
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateView:
    """CREATE [OR REPLACE] MATERIALIZED VIEW [IF NOT EXISTS]."""

    definition: ViewDef
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateHandler:
    """CREATE [OR REPLACE] HANDLER [IF NOT EXISTS]."""

    definition: HandlerDef
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateConsumer:
    """CREATE [OR REPLACE] CONSUMER [IF NOT EXISTS]."""

    definition: ConsumerDef
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class Drop:
    """DROP kind [IF EXISTS] name."""

    kind: Kind
    name: str
    if_exists: bool
    location: Location


@dataclass(frozen=True)
class Refresh:
    """REFRESH MATERIALIZED VIEW view [FULL] [AS OF [VERSION] n]."""

    view: str
    full: bool
    as_of: int | None
    location: Location


@dataclass(frozen=True)
class Pause:
    """PAUSE kind name."""

    kind: Kind
    name: str
    location: Location


@dataclass(frozen=True)
class Resume:
    """RESUME kind name."""

    kind: Kind
    name: str
    location: Location


@dataclass(frozen=True)
class Cancel:
    """CANCEL [REFRESH] 'attempt'."""

    attempt: str
    location: Location


@dataclass(frozen=True)
class Alter:
    """ALTER kind name SET clauses; `changes` are new values by field of the definition."""

    kind: Kind
    name: str
    changes: tuple[tuple[str, Any], ...]
    location: Location


@dataclass(frozen=True)
class PlainSql:
    """A statement that is Spark's own."""

    text: str
    location: Location


Create = CreateSource | CreateView | CreateHandler | CreateConsumer
Action = Drop | Refresh | Pause | Resume | Cancel | Alter
Statement = Create | Action | PlainSql
