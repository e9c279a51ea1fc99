"""Which jobs there should be, read off the definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from headwater.control.spec import Spec
from headwater.control.triggers import effective_lags, together, trigger_of
from headwater.define.definitions import Definitions
from headwater.define.graph import dependencies, levels
from headwater.define.source import Cadence
from headwater.define.trigger import Cron, Every, Manual
from headwater.store.jobs import Duty
from headwater.vocabulary.lifecycle.job import JobKind
from headwater.vocabulary.names import RESERVED_PREFIX

COORDINATOR_JOB = f"{RESERVED_PREFIX}coordinator"
DICTIONARY_JOB = f"{RESERVED_PREFIX}dictionary"
PURGE_JOB = f"{RESERVED_PREFIX}purge"
_HOURS = 24

Identity = tuple[str, str, str]


def duties(
    definitions: Definitions, dictionary_every: timedelta, purge_hour: int
) -> Mapping[Identity, Duty]:
    """A refresh job per view or handler, one that purges what Headwater manages, its own two."""
    reads = _Reads.of(definitions)
    found = (
        *_system(definitions, reads, dictionary_every),
        *_refreshes(definitions, reads),
        *_purges(definitions, purge_hour),
    )
    return {duty.identity: duty for duty in found}


@dataclass(frozen=True)
class _Reads:
    """What every view reads, at once for all: asking view by view takes the square of their number.

    `bottom` is the sources below a view, `driving` the one that its first table leads down to;
    views that share it share a scan.
    """

    bottom: Mapping[str, frozenset[str]]
    driving: Mapping[str, str]

    @classmethod
    def of(cls, definitions: Definitions) -> _Reads:
        bottom: dict[str, frozenset[str]] = {}
        driving: dict[str, str] = {}
        for view in (name for level in levels(definitions, definitions.views) for name in level):
            read = dependencies(definitions, view)
            below = (bottom.get(table, frozenset((table,))) for table in read)
            bottom[view] = frozenset().union(*below)
            driving[view] = driving.get(read[0], read[0]) if read else view
        return cls(bottom, driving)


def _system(definitions: Definitions, reads: _Reads, dictionary_every: timedelta) -> Iterator[Duty]:
    yield _system_duty(COORDINATOR_JOB, Spec(Manual()))
    slow = {s.name for s in definitions.sources.values() if s.cadence is Cadence.BATCH}
    readers = tuple(view for view in sorted(definitions.views) if slow & reads.bottom[view])
    trigger = Every(dictionary_every) if readers else Manual()
    yield _system_duty(DICTIONARY_JOB, Spec(trigger, tuple(sorted(slow)), readers))


def _system_duty(name: str, spec: Spec) -> Duty:
    return Duty(name, name, JobKind.SYS, name, spec.to_text())


def _refreshes(definitions: Definitions, reads: _Reads) -> Iterator[Duty]:
    """A view of a handler has no job of its own: what makes it run makes all of them run."""
    lags = effective_lags(definitions)
    specs = {
        view.name: Spec(
            trigger_of(view, lags),
            _followed(definitions, reads.bottom[view.name]),
            warn_after=view.warn_after,
            overdue_after=view.overdue_after,
        )
        for view in definitions.views.values()
    }
    handled: set[str] = set()
    for handler in definitions.handlers.values():
        views = tuple(view for view in handler.views if view in specs)
        handled.update(views)
        if views:
            spec = _common(views, [specs[view] for view in views])
            placed_by = f"handler:{handler.name}"
            yield Duty(handler.name, handler.name, JobKind.REFRESH, placed_by, spec.to_text())
    for view, spec in specs.items():
        if view not in handled:
            yield Duty(view, view, JobKind.REFRESH, reads.driving[view], spec.to_text())


def _common(views: tuple[str, ...], specs: list[Spec]) -> Spec:
    """Any of the triggers, the commits that one of them follows, the earliest alarms."""
    followed = {source for spec in specs if spec.follows_commits for source in spec.sources}
    return Spec(
        together(trigger for spec in specs for trigger in spec.triggers),
        tuple(sorted(followed)),
        views,
        warn_after=min((s.warn_after for s in specs if s.warn_after), default=None),
        overdue_after=min((s.overdue_after for s in specs if s.overdue_after), default=None),
    )


def _purges(definitions: Definitions, hour: int) -> Iterator[Duty]:
    """The tables of views are Headwater's own; those of sources are their users'."""
    if definitions.views and hour < _HOURS:
        spec = Spec(Cron(f"30 {hour} * * *"))
        yield Duty(PURGE_JOB, PURGE_JOB, JobKind.PURGE, PURGE_JOB, spec.to_text())


def _followed(definitions: Definitions, bottom: frozenset[str]) -> tuple[str, ...]:
    """The sources whose commits make a view run: dictionaries wait for their own cadence."""
    return tuple(sorted(s for s in bottom if definitions.sources[s].cadence is Cadence.STREAM))
