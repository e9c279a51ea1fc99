"""What is against what should be: the coordinator's decisions as one pure function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from headwater.control.decisions import (
    AssignJob,
    Decision,
    DropJob,
    FreeLostJobs,
    RegisterJob,
    RemoveRunner,
    RespecifyJob,
    SendCommand,
    WithdrawCommand,
)
from headwater.control.duties import COORDINATOR_JOB, Identity
from headwater.control.placement import ring
from headwater.control.settings import retry_policy
from headwater.control.spec import read_spec
from headwater.control.triggers import next_run
from headwater.store.commands import CommandRecord
from headwater.store.job_record import JobRecord
from headwater.store.jobs import Duty
from headwater.store.runners import RunnerRecord
from headwater.vocabulary.lifecycle.command import CommandKind, CommandState
from headwater.vocabulary.lifecycle.runner import RunnerState
from headwater.vocabulary.settings import ControlSettings


@dataclass(frozen=True)
class Snapshot:
    """All that a pass looks at; nothing in it can be written through."""

    now: datetime
    own: str
    duties: Mapping[Identity, Duty]
    jobs: tuple[JobRecord, ...]
    runners: tuple[RunnerRecord, ...]
    silent: frozenset[str] = frozenset()
    pending: tuple[CommandRecord, ...] = ()
    failed: tuple[CommandRecord, ...] = ()

    @property
    def dead(self) -> tuple[RunnerRecord, ...]:
        """Runners to be removed; the coordinator's own is alive, whatever its row looks like."""
        return tuple(r for r in self.runners if r.id in self.silent and r.id != self.own)

    @property
    def alive(self) -> Mapping[str, RunnerRecord]:
        dead = {runner.id for runner in self.dead}
        return {runner.id: runner for runner in self.runners if runner.id not in dead}


def decide(seen: Snapshot, settings: ControlSettings, *, balancing: bool) -> tuple[Decision, ...]:
    """All that a pass should write, in order; before the settling time is over, no commands."""
    found: list[Decision] = [RemoveRunner(runner) for runner in seen.dead]
    found += _lost(seen)
    found += _definitions(seen)
    if balancing:
        found += islice(_commands(seen, settings), settings.commands_per_pass)
    return tuple(found)


def _lost(seen: Snapshot) -> Iterator[Decision]:
    known = {runner.id for runner in seen.runners}
    if any(job.owner is not None and job.owner not in known for job in seen.jobs):
        yield FreeLostJobs()


def _definitions(seen: Snapshot) -> Iterator[Decision]:
    alive = {(j.account, j.subject, j.name): j for j in seen.jobs if j.dropped_at is None}
    for identity, duty in seen.duties.items():
        job = alive.get(identity)
        if job is None:
            trigger = read_spec(duty.spec).trigger
            first = next_run(trigger, last_success=None, last_start=None, now=seen.now)
            yield RegisterJob(duty, first.at)
        elif (job.spec, job.placed_by) != (duty.spec, duty.placed_by):
            yield _respecified(job, duty, seen.now)
        if job is not None and job.name == COORDINATOR_JOB and job.owner != (seen.own or job.owner):
            yield AssignJob(job.id, seen.own)
    yield from (DropJob(job.id) for key, job in alive.items() if key not in seen.duties)


def _respecified(job: JobRecord, duty: Duty, now: datetime) -> RespecifyJob:
    trigger = read_spec(duty.spec).trigger
    changed = read_spec(job.spec).trigger != trigger
    following = next_run(trigger, last_success=job.last_success, last_start=job.last_start, now=now)
    return RespecifyJob(job.id, duty, following.at, reschedule=changed)


# --- commands -----------------------------------------------------------------------------------


def _commands(seen: Snapshot, settings: ControlSettings) -> Iterator[Decision]:
    alive = seen.alive
    active = {r.address: r.id for r in alive.values() if r.state is RunnerState.ACTIVE}
    members = ring(frozenset(active), settings.virtual_nodes)
    asked: dict[int, list[CommandRecord]] = {}
    for command in seen.pending:
        if command.runner in alive:
            asked.setdefault(command.job, []).append(command)
    waits = _waits(seen, settings)
    for job in seen.jobs:
        if job.name == COORDINATOR_JOB:
            continue
        address = members.owner(job.placed_by)
        target = active[address] if address is not None and job.is_wanted else None
        yield from _for_job(job, target, alive, asked.get(job.id, []), waits)


def _for_job(
    job: JobRecord,
    target: str | None,
    alive: Mapping[str, RunnerRecord],
    asked: list[CommandRecord],
    waits: frozenset[tuple[int, CommandKind]],
) -> Iterator[Decision]:
    """A job is stopped where it should not be, and started only where nobody has it."""
    if job.owner is not None:
        if job.owner in alive:
            yield from _for_owned(job, job.owner, target, asked, waits)
        return
    starts = [c for c in asked if c.kind is CommandKind.START]
    unwanted = [c for c in starts if c.runner != target and c.state is CommandState.CREATED]
    yield from map(WithdrawCommand, unwanted)
    is_free = len(unwanted) == len(starts) and (job.id, CommandKind.START) not in waits
    if target is not None and is_free:
        yield SendCommand(target, CommandKind.START, job.id)


def _for_owned(
    job: JobRecord,
    owner: str,
    target: str | None,
    asked: list[CommandRecord],
    waits: frozenset[tuple[int, CommandKind]],
) -> Iterator[Decision]:
    pending = {c.kind: c for c in asked if c.runner == owner}
    stop = pending.get(CommandKind.STOP)
    if owner != target:
        if stop is None:
            yield SendCommand(owner, CommandKind.STOP, job.id)
        return
    if stop is not None and stop.state is CommandState.CREATED:
        yield WithdrawCommand(stop)
    scan = pending.get(CommandKind.SCAN)
    if job.scan and scan is None and (job.id, CommandKind.SCAN) not in waits:
        yield SendCommand(owner, CommandKind.SCAN, job.id)
    elif not job.scan and scan is not None and scan.state is CommandState.CREATED:
        yield WithdrawCommand(scan)
    elif not job.scan and scan is not None and CommandKind.NOSCAN not in pending:
        yield SendCommand(owner, CommandKind.NOSCAN, job.id)


def _waits(seen: Snapshot, settings: ControlSettings) -> frozenset[tuple[int, CommandKind]]:
    """What failed so recently, or so often, that it is not asked for again yet."""
    failures: dict[tuple[int, CommandKind], list[datetime]] = {}
    for command in seen.failed:
        ended = command.ended_at or command.created_at
        failures.setdefault((command.job, command.kind), []).append(ended)
    return frozenset(
        what
        for what, times in failures.items()
        if seen.now < max(times) + retry_policy(settings).delay(len(times))
    )
