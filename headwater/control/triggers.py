"""When a view is refreshed next, as pure functions of what is known about its last run.

Times are aware datetimes; what comes back is in UTC. A next time is in the future, or it is `now`
and means: once. However many times were missed, one run makes up for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import singledispatch
from zoneinfo import ZoneInfo

from cronsim import CronSim

from headwater.define import trigger as defined
from headwater.define.definitions import Definitions
from headwater.define.graph import dependencies, levels
from headwater.define.intervals import interval_text
from headwater.define.trigger import Cron, Every, Greedy, Manual, OnChange
from headwater.define.view import ViewDef

MOST_COUNTED = 1000
"""Missed times of a cron expression are counted up to here; a year of minutes helps nobody."""


@dataclass(frozen=True)
class TargetLag:
    """Early enough that the view's content never grows older than this."""

    interval: timedelta

    def __str__(self) -> str:
        return f"TARGET LAG {interval_text(self.interval)}"


@dataclass(frozen=True)
class Downstream:
    """As often as the views computed from it need; which that is, the graph tells."""

    def __str__(self) -> str:
        return "TARGET LAG DOWNSTREAM"


@dataclass(frozen=True)
class Together:
    """Whichever of several is first: what makes one view of a handler run makes all of them."""

    triggers: tuple[Single, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.triggers))


Single = defined.Trigger | TargetLag | Downstream
Trigger = Single | Together


@dataclass(frozen=True)
class NextRun:
    """When a view runs next, None for never by itself, and how many times it missed until now."""

    at: datetime | None
    missed: int = 0


@dataclass(frozen=True)
class LastRun:
    """What is known of the last automatic run; a manual one never changes the schedule.

    `start` is when it was due or began, `success` when the last successful one ended; the build of
    the view counts as a success.
    """

    start: datetime | None = None
    success: datetime | None = None

    @property
    def base(self) -> datetime | None:
        return self.start or self.success

    @property
    def end(self) -> datetime | None:
        """When the run that began last ended, if it succeeded."""
        if self.start is None or self.success is None or self.success < self.start:
            return None
        return self.success


UNSCHEDULED = NextRun(None)


def together(triggers: Iterable[Single]) -> Trigger:
    """One trigger for several; those that never fire, and namesakes, add nothing."""
    found = tuple(dict.fromkeys(t for t in triggers if not isinstance(t, (Manual, Downstream))))
    if not found:
        return Manual()
    return found[0] if len(found) == 1 else Together(found)


def follows_commits(trigger: Trigger) -> bool:
    """Whether a commit on a source makes it fire."""
    if isinstance(trigger, Together):
        return any(map(follows_commits, trigger.triggers))
    return isinstance(trigger, (OnChange, Greedy))


def trigger_of(view: ViewDef, lags: Mapping[str, timedelta | None] | None = None) -> Single:
    """What makes a view run; with the effective lags of its project, DOWNSTREAM is resolved."""
    lag = view.target_lag
    if lag is None:
        return view.trigger
    if isinstance(lag, timedelta):
        return TargetLag(lag)
    resolved = (lags or {}).get(view.name)
    return Downstream() if resolved is None else TargetLag(resolved)


def next_run(
    trigger: Trigger,
    *,
    last_success: datetime | None,
    last_start: datetime | None,
    now: datetime,
) -> NextRun:
    """When to run next; clocks that ran ahead of `now` do not push the next time away."""
    moment = _utc(now)
    last = LastRun(
        None if last_start is None else min(_utc(last_start), moment),
        None if last_success is None else min(_utc(last_success), moment),
    )
    return _next(trigger, last, moment)


# --- each kind of trigger -----------------------------------------------------------------------


@singledispatch
def _next(trigger: Trigger, last: LastRun, now: datetime) -> NextRun:
    """Never by itself: MANUAL, and DOWNSTREAM without anything downstream that lags."""
    return UNSCHEDULED


@_next.register(OnChange)
@_next.register(Greedy)
def _next_on_change(trigger: OnChange | Greedy, last: LastRun, now: datetime) -> NextRun:
    """The first time at once; later a commit decides, not the clock."""
    return NextRun(now) if last.base is None else UNSCHEDULED


@_next.register
def _next_every(trigger: Every, last: LastRun, now: datetime) -> NextRun:
    if last.base is None:
        return NextRun(now)
    passed = (now - last.base) // trigger.interval
    if not passed:
        return NextRun(last.base + trigger.interval)
    during = 0 if last.end is None else (last.end - last.base) // trigger.interval
    return NextRun(now, _missed(passed, during))


@_next.register
def _next_cron(trigger: Cron, last: LastRun, now: datetime) -> NextRun:
    base = now if last.base is None else last.base
    passed = during = 0
    for at in cron_times(trigger, base):
        if at > now or passed == MOST_COUNTED:
            return NextRun(now, _missed(passed, during)) if passed else NextRun(at)
        passed += 1
        during += last.end is not None and at <= last.end
    return NextRun(now, _missed(passed, during)) if passed else UNSCHEDULED


@_next.register
def _next_lag(trigger: TargetLag, last: LastRun, now: datetime) -> NextRun:
    """A run shows what was there at its start and takes about as long as the last one did."""
    if last.base is None:
        return NextRun(now)
    took = timedelta() if last.end is None else last.end - last.base
    due = last.base + trigger.interval - took
    return NextRun(due) if due > now else NextRun(now, (now - last.base) // trigger.interval)


@_next.register
def _next_of_any(trigger: Together, last: LastRun, now: datetime) -> NextRun:
    """The earliest; times that were missed are counted once, by the trigger that missed most."""
    found = [_next(each, last, now) for each in trigger.triggers]
    times = [each.at for each in found if each.at is not None]
    return NextRun(min(times, default=None), max(each.missed for each in found))


def cron_times(trigger: Cron, after: datetime) -> Iterator[datetime]:
    """The times of a cron expression, as in Debian's cron.

    Where clocks go forward, a time of day that is left out comes right after the gap; where they go
    back, it comes once. Expressions with a star for minute or hour follow the real hours.
    """
    zone = ZoneInfo(trigger.time_zone)
    for at in CronSim(trigger.expression, after.astimezone(zone)):
        yield at.astimezone(UTC)


def _missed(passed: int, during: int) -> int:
    """Times at which no run began; the newest begins now, unless it fell into the last run."""
    return passed - 1 if passed > during else passed


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone")
    return moment.astimezone(UTC)


# --- DOWNSTREAM ---------------------------------------------------------------------------------


def effective_lags(definitions: Definitions) -> Mapping[str, timedelta | None]:
    """The lag each view must keep, None where it has to keep none.

    A view's own TARGET LAG stands. A DOWNSTREAM view keeps the smallest lag of the views that read
    it. Views that follow every change pass on what theirs need; MANUAL, EVERY and CRON do not,
    because they move on times of their own.
    """
    readers = _readers(definitions)
    needs: dict[str, timedelta | None] = {}
    for level in reversed(levels(definitions, definitions.views)):
        for name in level:
            needs[name] = _need(
                definitions.views[name], [needs[reader] for reader in readers[name]]
            )
    return {
        name: needs[name] if view.target_lag is not None else None
        for name, view in definitions.views.items()
    }


def _need(view: ViewDef, below: list[timedelta | None]) -> timedelta | None:
    if isinstance(view.target_lag, timedelta):
        return view.target_lag
    if view.target_lag is None and isinstance(view.trigger, (Manual, Every, Cron)):
        return None
    return min((lag for lag in below if lag is not None), default=None)


def _readers(definitions: Definitions) -> dict[str, list[str]]:
    readers: dict[str, list[str]] = {name: [] for name in definitions.views}
    for name in definitions.views:
        for read in dependencies(definitions, name):
            if read in readers:
                readers[read].append(name)
    return readers
