"""Which jobs there should be, read off the definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from headwater.control.spec import Spec
from headwater.control.triggers import effective_lags, trigger_of
from headwater.define.definitions import Definitions
from headwater.define.graph import ancestors, base_sources, dependencies
from headwater.define.source import Cadence, SourceFormat
from headwater.define.trigger import Every, Manual
from headwater.define.view import ViewDef
from headwater.store.jobs import Duty
from headwater.vocabulary.lifecycle.job import JobKind
from headwater.vocabulary.names import RESERVED_PREFIX

COORDINATOR_JOB = f"{RESERVED_PREFIX}coordinator"
DICTIONARY_JOB = f"{RESERVED_PREFIX}dictionary"
PURGE_PREFIX = f"{RESERVED_PREFIX}purge:"

PURGE_EVERY = timedelta(hours=1)
"""How often a managed source's history is looked at."""

Identity = tuple[str, str, str]


def duties(definitions: Definitions, dictionary_every: timedelta) -> Mapping[Identity, Duty]:
    """A refresh job per view, a purge job per source that Headwater manages, and its own two."""
    found = (
        *_system(definitions, dictionary_every),
        *_refreshes(definitions),
        *_purges(definitions),
    )
    return {duty.identity: duty for duty in found}


def _system(definitions: Definitions, dictionary_every: timedelta) -> Iterator[Duty]:
    yield _system_duty(COORDINATOR_JOB, Spec(Manual()))
    slow = [s.name for s in definitions.sources.values() if s.cadence is Cadence.BATCH]
    readers = tuple(
        view for view in sorted(definitions.views) if {*slow} & {*base_sources(definitions, view)}
    )
    trigger = Every(dictionary_every) if readers else Manual()
    yield _system_duty(DICTIONARY_JOB, Spec(trigger, tuple(slow), readers))


def _system_duty(name: str, spec: Spec) -> Duty:
    return Duty(name, name, JobKind.SYS, name, spec.to_text())


def _refreshes(definitions: Definitions) -> Iterator[Duty]:
    lags = effective_lags(definitions)
    handled = {view: h.name for h in definitions.handlers.values() for view in h.views}
    for view in definitions.views.values():
        spec = Spec(
            trigger_of(view, lags),
            _followed(definitions, view),
            ancestors(definitions, view.name),
            warn_after=view.warn_after,
            overdue_after=view.overdue_after,
        )
        handler = handled.get(view.name)
        placed_by = f"handler:{handler}" if handler else driving_table(definitions, view.name)
        yield Duty(view.name, view.name, JobKind.REFRESH, placed_by, spec.to_text())


def _purges(definitions: Definitions) -> Iterator[Duty]:
    for source in definitions.sources.values():
        if source.format is not SourceFormat.DELTA:
            spec = Spec(Every(PURGE_EVERY), (source.name,))
            name = f"{PURGE_PREFIX}{source.name}"
            yield Duty(source.name, name, JobKind.PURGE, source.name, spec.to_text())


def driving_table(definitions: Definitions, view: str) -> str:
    """The source that a view's first table leads down to; views that share it share a scan."""
    name = view
    while name in definitions.views:
        read = dependencies(definitions, name)
        if not read:
            return view
        name = read[0]
    return name


def _followed(definitions: Definitions, view: ViewDef) -> tuple[str, ...]:
    """The sources whose commits make a view run: dictionaries wait for their own cadence."""
    read = base_sources(definitions, view.name)
    quick = tuple(s for s in read if definitions.sources[s].cadence is Cadence.STREAM)
    return quick or read
