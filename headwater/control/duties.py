"""Which jobs there should be, read off the definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from headwater.control.spec import Spec
from headwater.control.triggers import effective_lags, trigger_of
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
    """A refresh job per view, one that purges what Headwater manages, and its own two."""
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
    lags = effective_lags(definitions)
    handled = {view: h.name for h in definitions.handlers.values() for view in h.views}
    for view in definitions.views.values():
        spec = Spec(
            trigger_of(view, lags),
            _followed(definitions, reads.bottom[view.name]),
            warn_after=view.warn_after,
            overdue_after=view.overdue_after,
        )
        handler = handled.get(view.name)
        placed_by = f"handler:{handler}" if handler else reads.driving[view.name]
        yield Duty(view.name, view.name, JobKind.REFRESH, placed_by, spec.to_text())


def _purges(definitions: Definitions, hour: int) -> Iterator[Duty]:
    """The tables of views are Headwater's own; those of sources are their users'."""
    if definitions.views and hour < _HOURS:
        spec = Spec(Cron(f"30 {hour} * * *"))
        yield Duty(PURGE_JOB, PURGE_JOB, JobKind.PURGE, PURGE_JOB, spec.to_text())


def _followed(definitions: Definitions, bottom: frozenset[str]) -> tuple[str, ...]:
    """The sources whose commits make a view run: dictionaries wait for their own cadence."""
    quick = {s for s in bottom if definitions.sources[s].cadence is Cadence.STREAM}
    return tuple(sorted(quick or bottom))
