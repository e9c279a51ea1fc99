"""Definitions as JSON, so that a process with nothing to refresh need not parse any SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import timedelta
from typing import Any

from headwater.define.consumer import ConsumerDef, ConsumerType, OwnScan, Periodic, SharedScan
from headwater.define.definitions import Definition
from headwater.define.handler import HandlerDef
from headwater.define.kind import Kind
from headwater.define.source import Cadence, SourceDef, SourceFormat
from headwater.define.trigger import Cron, Every, Greedy, Manual, OnChange
from headwater.define.view import ViewDef
from headwater.vocabulary.location import Location
from headwater.vocabulary.technique import Policy

_TYPES: Mapping[Kind, type[Definition]] = {
    Kind.SOURCE: SourceDef,
    Kind.VIEW: ViewDef,
    Kind.HANDLER: HandlerDef,
    Kind.CONSUMER: ConsumerDef,
}
_TRIGGERS: Mapping[str, type[Any]] = {
    variant.__name__: variant
    for variant in (OnChange, Greedy, Every, Cron, Manual, SharedScan, OwnScan, Periodic)
}


def to_json(definition: Definition) -> dict[str, Any]:
    """A definition in plain JSON values."""
    values = {field.name: getattr(definition, field.name) for field in fields(definition)}
    return {"kind": definition.kind.value, **{name: _plain(v) for name, v in values.items()}}


def from_json(value: Mapping[str, Any]) -> Definition:
    """The definition that `to_json` wrote down."""
    given = {name: _read(name, plain) for name, plain in value.items() if name != "kind"}
    return _TYPES[Kind(value["kind"])](**given)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Location):
        return [value.file, value.line, value.column]
    if type(value).__name__ in _TRIGGERS:
        parts = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {"type": type(value).__name__, **parts}
    return value


def _read(name: str, plain: Any) -> Any:
    if plain is None:
        return None
    reader = _READERS.get(name)
    return reader(plain) if reader else plain


def _interval(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def _location(parts: list[Any]) -> Location:
    return Location(*parts)


def _trigger(plain: Mapping[str, Any]) -> Any:
    parts = {name: value for name, value in plain.items() if name != "type"}
    if "interval" in parts:
        parts["interval"] = _interval(parts["interval"])
    return _TRIGGERS[plain["type"]](**parts)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("key", "tables", "views", "cluster_by", "partitioned_by", "copies"), tuple),
    "compute_once": tuple,
    **dict.fromkeys(("reload_every", "warn_after", "overdue_after"), _interval),
    **dict.fromkeys(("location", "name_location", "query_location", "view_location"), _location),
    "places": lambda plain: tuple(_location(parts) for parts in plain),
    "options": lambda plain: tuple((name, value) for name, value in plain),
    "target_lag": lambda plain: plain if plain == "DOWNSTREAM" else _interval(plain),
    "trigger": _trigger,
    "format": SourceFormat,
    "cadence": Cadence,
    "policy": Policy,
    "type": ConsumerType,
}
