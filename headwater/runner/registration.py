"""A runner's place among the others: its row, its reports, and whether it may act."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import Enum, auto

import structlog

from headwater.store.runners import Runners
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.errors import RunnerUnregistered
from headwater.vocabulary.settings import ControlSettings

log = structlog.get_logger(__name__)


class Standing(Enum):
    """What a step found out."""

    REGISTERED = auto()  # as before
    GAINED = auto()  # registered just now, with a fresh id
    LOST = auto()  # the row is gone: whatever ran here must stop
    WAITING = auto()  # not registered; a later runner has the address


def fresh_id() -> str:
    return uuid.uuid4().hex[:16]


class Registration:
    """Registers, reports, and knows when silence has lasted so long that others may have acted."""

    def __init__(
        self,
        runners: Runners,
        clock: Clock,
        settings: ControlSettings,
        address: str,
        new_id: Callable[[], str] = fresh_id,
    ) -> None:
        self.address = address
        self._runners = runners
        self._clock = clock
        self._every = timedelta(seconds=settings.report_seconds)
        self._limit = timedelta(seconds=settings.silent_seconds)
        self._new_id = new_id
        self._id: str | None = None
        self._tried: str | None = None
        self._is_first = True
        self._heard_at: datetime | None = None
        self._next_at: datetime | None = None

    @property
    def id(self) -> str:
        """The runner's id; raises while there is none."""
        if self._id is None:
            raise RunnerUnregistered(f"the runner at {self.address} is not registered")
        return self._id

    @property
    def known_id(self) -> str:
        """The id, or nothing while there is none."""
        return self._id or ""

    @property
    def is_sure(self) -> bool:
        """Whether nobody can have taken this runner for dead, by its own clock."""
        heard = self._heard_at
        return (
            self._id is not None and heard is not None and self._clock.now() - heard < self._limit
        )

    @property
    def next_at(self) -> datetime:
        return self._next_at or self._clock.now()

    def step(self, *, running: int, slots: int) -> Standing:
        """Report or register, if it is time to."""
        now = self._clock.now()
        if self._next_at is not None and now < self._next_at:
            return Standing.WAITING if self._id is None else Standing.REGISTERED
        if self._id is None:
            return self._register(slots, now)
        if not self._runners.report(self._id, running=running, slots=slots, now=now):
            log.warning("registration_lost", runner=self._id)
            self._id = self._next_at = self._heard_at = None
            return Standing.LOST
        self._heard_at, self._next_at = now, now + self._every
        return Standing.REGISTERED

    def leave(self) -> None:
        """Take part no longer: the jobs are free at once; harmless when not registered."""
        left, self._id = self._id, None
        if left is not None:
            self._runners.leave(left)

    def _register(self, slots: int, now: datetime) -> Standing:
        """The first time whoever is at the address gives way; later a newcomer stays."""
        self._tried = self._tried or self._new_id()
        if self._is_first:
            self._runners.register(self._tried, self.address, slots, now)
        elif not self._is_back(self._tried, slots, now):
            self._next_at = now + self._every
            return Standing.WAITING
        self._id, self._tried, self._is_first = self._tried, None, False
        self._heard_at, self._next_at = now, now + self._every
        log.info("registered", runner=self._id)
        return Standing.GAINED

    def _is_back(self, runner: str, slots: int, now: datetime) -> bool:
        """Whether the row is there again, perhaps by a try whose answer got lost."""
        return (
            self._runners.register_again(runner, self.address, slots, now)
            or self._runners.get(runner) is not None
        )
