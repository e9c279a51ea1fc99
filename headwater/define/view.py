"""A materialized view as its owner defined it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Literal

from headwater.define.kind import Kind, canonical
from headwater.define.trigger import OnChange, Trigger
from headwater.vocabulary.location import Location
from headwater.vocabulary.technique import Policy

TargetLag = timedelta | Literal["DOWNSTREAM"]


@dataclass(frozen=True, kw_only=True)
class ViewDef:
    """One CREATE MATERIALIZED VIEW.

    `query` is the user's own text and `query_location` where its first character stands, so a
    position inside the query can be told as a position in the file. `normal_query` is the query
    without comments and layout: what a fingerprint may depend on.
    """

    name: str
    display: str
    query: str
    query_location: Location
    normal_query: str
    tables: tuple[str, ...] = ()
    comment: str | None = None
    key: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    partitioned_by: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    compute_once: tuple[str, ...] = ()
    trigger: Trigger = field(default_factory=OnChange)
    target_lag: TargetLag | None = None
    policy: Policy = Policy.AUTO
    warn_after: timedelta | None = None
    overdue_after: timedelta | None = None
    text: str
    location: Location
    name_location: Location

    @property
    def kind(self) -> Kind:
        return Kind.VIEW

    @cached_property
    def fingerprint(self) -> str:
        """Changes exactly when the table must be built anew; other clauses alter in place."""
        layout: list[str | list[str]] = [
            self.normal_query,
            [canonical(column) for column in self.cluster_by],
            [canonical(column) for column in self.partitioned_by],
        ]
        if self.compute_once:
            layout.append([canonical(column) for column in (*self.compute_once, "", *self.key)])
        return hashlib.sha256(json.dumps(layout).encode()).hexdigest()[:16]
