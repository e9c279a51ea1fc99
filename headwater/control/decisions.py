"""What a coordinator can decide to do, and how each is written under its term."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import singledispatch

from headwater.store.commands import CommandRecord
from headwater.store.jobs import Duty
from headwater.store.leases import Term
from headwater.store.ledger import Ledger
from headwater.store.runners import RunnerRecord
from headwater.vocabulary.lifecycle.command import CommandKind


@dataclass(frozen=True)
class RemoveRunner:
    """A runner was silent too long."""

    runner: RunnerRecord


@dataclass(frozen=True)
class FreeLostJobs:
    """Jobs are owned by runners that are not registered."""


@dataclass(frozen=True)
class RegisterJob:
    """A definition has no job yet."""

    duty: Duty
    next_at: datetime | None


@dataclass(frozen=True)
class RespecifyJob:
    """A definition changed; with another trigger its job has another next time."""

    job: int
    duty: Duty
    next_at: datetime | None
    reschedule: bool


@dataclass(frozen=True)
class DropJob:
    """A job's definition is gone."""

    job: int


@dataclass(frozen=True)
class AssignJob:
    """The coordinator's own job is wherever the coordinator is."""

    job: int
    runner: str


@dataclass(frozen=True)
class SendCommand:
    """A runner is to do something."""

    runner: str
    kind: CommandKind
    job: int


@dataclass(frozen=True)
class WithdrawCommand:
    """What a runner was asked for, and has not seen yet, is not wanted any more."""

    command: CommandRecord


Decision = (
    RemoveRunner
    | FreeLostJobs
    | RegisterJob
    | RespecifyJob
    | DropJob
    | AssignJob
    | SendCommand
    | WithdrawCommand
)


@singledispatch
def carry_out(decision: Decision, ledger: Ledger, term: Term, now: datetime) -> bool:
    """Write one decision; false if it no longer applies."""
    raise TypeError(f"no way to carry out {decision}")


@carry_out.register
def _(decision: RemoveRunner, ledger: Ledger, term: Term, now: datetime) -> bool:
    return ledger.runners.remove(decision.runner, term)


@carry_out.register
def _(decision: FreeLostJobs, ledger: Ledger, term: Term, now: datetime) -> bool:
    return ledger.jobs.free_lost(term=term) > 0


@carry_out.register
def _(decision: RegisterJob, ledger: Ledger, term: Term, now: datetime) -> bool:
    return ledger.jobs.register(decision.duty, term=term, next_at=decision.next_at, now=now)


@carry_out.register
def _(decision: RespecifyJob, ledger: Ledger, term: Term, now: datetime) -> bool:
    return ledger.jobs.respecify(
        decision.job,
        decision.duty,
        term=term,
        next_at=decision.next_at,
        reschedule=decision.reschedule,
    )


@carry_out.register
def _(decision: DropJob, ledger: Ledger, term: Term, now: datetime) -> bool:
    return ledger.jobs.drop(decision.job, term=term, now=now)


@carry_out.register
def _(decision: AssignJob, ledger: Ledger, term: Term, now: datetime) -> bool:
    return ledger.jobs.assign(decision.job, decision.runner, term=term)


@carry_out.register
def _(decision: SendCommand, ledger: Ledger, term: Term, now: datetime) -> bool:
    return ledger.commands.create(decision.runner, decision.kind, decision.job, term=term, now=now)


@carry_out.register
def _(decision: WithdrawCommand, ledger: Ledger, term: Term, now: datetime) -> bool:
    why = "withdrawn: no longer wanted"
    return ledger.commands.withdraw(decision.command.id, why, term=term, now=now)
