"""How the value of each clause is read, and which clauses each statement has."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Literal, TypeVar

from headwater.define.clauses import Clause, Clauses
from headwater.define.consumer import ConsumerTrigger, OptionValue, OwnScan, Periodic, SharedScan
from headwater.define.cron import check_cron, check_time_zone
from headwater.define.diagnostics import alternatives
from headwater.define.header import Header
from headwater.define.intervals import read_interval
from headwater.define.source import Cadence
from headwater.define.trigger import Cron, Every, Greedy, Manual, OnChange, Trigger
from headwater.define.view import TargetLag
from headwater.define.words import WordKind
from headwater.vocabulary.technique import Policy

Choice = TypeVar("Choice", bound=StrEnum)


def read_choice(header: Header, choices: type[Choice], what: str) -> Choice:
    """Take one keyword of an enumeration."""
    for choice in choices:
        if header.take(choice.value.upper()):
            return choice
    names = [choice.value.upper() for choice in choices]
    raise header.unexpected(f"{what}: {alternatives(names)}", candidates=names)


def read_columns(header: Header) -> tuple[str, ...]:
    return header.listed("a column's name")


def read_trigger(header: Header) -> Trigger:
    """Take what follows REFRESH."""
    if header.take("ON"):
        header.expect("CHANGE")
        return OnChange()
    if header.take("GREEDY"):
        return Greedy()
    if header.take("EVERY"):
        return Every(read_interval(header))
    if header.take("CRON"):
        expression = _cron(header)
        return Cron(expression, _time_zone(header)) if header.take("TIME") else Cron(expression)
    if header.take("MANUAL"):
        return Manual()
    names = ["ON CHANGE", "GREEDY", "EVERY", "CRON", "MANUAL"]
    raise header.unexpected(alternatives(names), candidates=names)


def read_target_lag(header: Header) -> TargetLag:
    if header.take("DOWNSTREAM"):
        downstream: Literal["DOWNSTREAM"] = "DOWNSTREAM"
        return downstream
    if not header.at("INTERVAL"):
        names = ["INTERVAL", "DOWNSTREAM"]
        raise header.unexpected(alternatives(names), candidates=names)
    return read_interval(header)


def read_reload(header: Header) -> timedelta:
    """Take what follows RELOAD."""
    header.expect("EVERY")
    return read_interval(header)


def read_consumer_trigger(header: Header) -> ConsumerTrigger:
    """Take what follows TRIGGER."""
    if header.take("DEFAULT"):
        return SharedScan()
    if header.take("GREEDY"):
        return OwnScan()
    if header.take("PERIODIC"):
        interval = read_interval(header)
        return Periodic(interval, shared=header.take("SHARED"))
    names = ["DEFAULT", "GREEDY", "PERIODIC"]
    raise header.unexpected(alternatives(names), candidates=names)


def read_start(header: Header) -> bool:
    """Take what follows START."""
    header.expect("FROM", "NOW")
    return True


def read_options(header: Header) -> tuple[tuple[str, OptionValue], ...]:
    """Take `(name = value, ...)`, each name once."""
    header.expect_symbol("(")
    options: dict[str, OptionValue] = {}
    while not options or header.take_symbol(","):
        word = header.word
        name = _option_name(header)
        if name in options:
            twice = header.refused("DUPLICATE_ENTRY", f"`{name}` is listed twice", at=word)
            header.problems.append(twice.problem)
        header.expect_symbol("=")
        options[name] = _option_value(header)
    if not header.take_symbol(")"):
        raise header.unexpected("`,` or `)`")
    return tuple(options.items())


def _option_name(header: Header) -> str:
    if header.word.kind is WordKind.STRING:
        return header.advance().text
    parts = [header.identifier("an option's name")]
    while header.take_symbol("."):
        parts.append(header.identifier("an option's name"))
    return ".".join(parts)


def _option_value(header: Header) -> OptionValue:
    if header.take("TRUE"):
        return True
    if header.take("FALSE"):
        return False
    sign = -1 if header.take_symbol("-") else 1
    if header.word.kind is WordKind.NUMBER:
        number = header.advance().text
        return sign * (int(number) if number.isdecimal() else float(number))
    return header.string("a number, TRUE, FALSE or a text")


def _cron(header: Header) -> str:
    word = header.word
    expression = header.string("a cron expression")
    wrong = check_cron(expression)
    if wrong:
        hint = "five fields: minute hour day-of-month month day-of-week, for example '0 6 * * MON'"
        raise header.refused("INVALID_CRON", wrong, hint, at=word)
    return expression


def _time_zone(header: Header) -> str:
    """Take what follows TIME."""
    header.expect("ZONE")
    word = header.word
    name = header.string("a time zone")
    if wrong := check_time_zone(name):
        hint = "name it as in 'Europe/Zurich' or 'UTC'"
        raise header.refused("INVALID_TIME_ZONE", wrong, hint, at=word)
    return name


_KEY: Clauses = {("KEY",): Clause("key", read_columns)}

ALTERABLE: Clauses = {
    ("COMMENT",): Clause("comment", lambda header: header.string("a comment")),
    ("REFRESH",): Clause("trigger", read_trigger),
    ("TARGET", "LAG"): Clause("target_lag", read_target_lag),
    ("POLICY",): Clause("policy", lambda header: read_choice(header, Policy, "a policy")),
    ("WARN", "AFTER"): Clause("warn_after", read_interval),
    ("OVERDUE", "AFTER"): Clause("overdue_after", read_interval),
}
"""The clauses of a view that change it where it stands."""

VIEW: Clauses = {
    **_KEY,
    ("CLUSTER", "BY"): Clause("cluster_by", read_columns),
    ("PARTITIONED", "BY"): Clause("partitioned_by", read_columns),
    ("COMPUTE", "ONCE"): Clause("compute_once", read_columns),
    ("COPIES",): Clause("copies", lambda header: header.strings("a path")),
    **ALTERABLE,
}

CADENCE: Clauses = {
    ("AS",): Clause("cadence", lambda header: read_choice(header, Cadence, "a cadence")),
}

SOURCE: Mapping[str, Clauses] = {
    "DELTA": {**_KEY, **CADENCE},
    "JDBC": {
        ("TABLE",): Clause("table", lambda header: header.string("a table's name")),
        **_KEY,
        ("RELOAD",): Clause("reload_every", read_reload),
        **CADENCE,
    },
    "FILES": {
        ("FORMAT",): Clause("file_format", lambda header: header.identifier("a file format")),
        **_KEY,
        **CADENCE,
    },
}
"""The clauses of a source, by where its rows come from."""

CONSUMER_ALTERABLE: Clauses = {
    ("OPTIONS",): Clause("options", read_options),
    ("TRIGGER",): Clause("trigger", read_consumer_trigger),
    ("PRIORITY",): Clause("priority", lambda header: header.integer("a priority from 0 up")),
}

CONSUMER: Clauses = {**CONSUMER_ALTERABLE, ("START",): Clause("start_from_now", read_start)}
