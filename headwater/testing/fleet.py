"""Several runners and coordinators over one ledger, on a clock that is given: the real code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from headwater.control.alerts import Alerts
from headwater.control.coordinator import Coordinator
from headwater.control.leader import Leader
from headwater.control.reaper import HistoryLimits, Reaper
from headwater.control.results import SUCCEEDED, RunResult
from headwater.define.definitions import Definition
from headwater.define.handler import HandlerDef
from headwater.define.source import SourceDef
from headwater.define.stored import to_json
from headwater.define.trigger import OnChange, Trigger
from headwater.define.view import TargetLag, ViewDef
from headwater.runner.registration import fresh_id
from headwater.runner.run import Run
from headwater.runner.runner import Runner
from headwater.store.encoding import json_text
from headwater.store.events import Event
from headwater.store.job_record import JobRecord
from headwater.store.ledger import Ledger
from headwater.testing.clock import FrozenClock
from headwater.testing.workers import Ended, Plan, PlannedWorkers
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.errors import LedgerUnreachable
from headwater.vocabulary.location import Location
from headwater.vocabulary.settings import ControlSettings

_HERE = Location("fleet.sql", 1, 1)


def source_def(name: str) -> SourceDef:
    """A source for which only its name matters."""
    return SourceDef(
        name=name, display=name, path=name, text="", location=_HERE, name_location=_HERE
    )


def view_def(
    name: str,
    *tables: str,
    trigger: Trigger | None = None,
    target_lag: TargetLag | None = None,
    warn_after: timedelta | None = None,
    overdue_after: timedelta | None = None,
) -> ViewDef:
    """A view for which only its tables and its schedule matter."""
    return ViewDef(
        name=name,
        display=name,
        query="",
        query_location=_HERE,
        normal_query="",
        tables=tables,
        trigger=trigger or OnChange(),
        target_lag=target_lag,
        warn_after=warn_after,
        overdue_after=overdue_after,
        text="",
        location=_HERE,
        name_location=_HERE,
    )


def handler_def(name: str, *views: str) -> HandlerDef:
    """A handler for which only its views matter."""
    return HandlerDef(
        name=name,
        display=name,
        views=views,
        places=(_HERE,) * len(views),
        text="",
        location=_HERE,
        name_location=_HERE,
    )


def define(ledger: Ledger, definitions: Iterable[Definition]) -> None:
    """Write definitions as `apply` does."""
    with ledger.transaction():
        for definition in definitions:
            text = json_text(to_json(definition))
            place = definition.location
            ledger.definitions.put(
                definition.kind.value, definition.name, text, place.file, 1, 1, ""
            )


class Node:
    """One process: a runner, a coordinator that contends, and workers."""

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        settings: ControlSettings,
        address: str,
        *,
        plan: Plan,
        slots: int = 4,
        new_id: Callable[[], str] = fresh_id,
        tell: Callable[[Event], None] | None = None,
    ) -> None:
        self.address = address
        self.clock = clock
        self.ledger = ledger
        self.workers = PlannedWorkers(clock, plan, slots=slots)
        alerts = Alerts(ledger, tell or (lambda _event: None))
        self.runner = Runner(
            ledger, clock, settings, self.workers, address=address, alerts=alerts, new_id=new_id
        )
        self.leader = Leader(ledger.leases, new_id(), clock, settings)
        self.coordinator = Coordinator(
            ledger,
            self.leader,
            lambda: self.runner.registration.known_id,
            clock,
            settings,
            alerts=alerts,
            reaper=Reaper(ledger, HistoryLimits(), every_seconds=settings.reap_seconds),
        )
        self.is_up = True
        self._next_runner = self._next_coordinator = clock.now()

    @property
    def next_at(self) -> datetime:
        """When this process wakes by itself."""
        times = [self._next_runner, self._next_coordinator]
        ending = self.workers.next_at
        return min([*times, ending] if ending is not None else times)

    def step(self, *, now_too: bool = False) -> None:
        """Do what is due in both loops, and in the workers."""
        self.workers.step()
        now = self.clock.now()
        if now_too or now >= self._next_coordinator:
            self._next_coordinator = self._coordinated(now)
        if now_too or now >= self._next_runner or self.runner.has_ended:
            self._next_runner = self.runner.step()
        self.workers.step()
        if self.runner.has_ended:  # what takes no time is over in the same moment
            self._next_runner = self.runner.step()
            self.workers.step()

    def _coordinated(self, now: datetime) -> datetime:
        try:
            return self.coordinator.step()
        except LedgerUnreachable:
            return now + timedelta(seconds=1)

    def crash(self) -> None:
        """As by SIGKILL: nothing is said to anybody."""
        self.is_up = False

    def stop(self) -> None:
        """As by SIGTERM: the clock moves on until what runs has ended."""
        self.coordinator.close()
        self.runner.close(seconds=60)
        self.is_up = False

    def leave(self) -> None:
        """As by SIGTERM with no time to wait: what runs is lost, everybody is told."""
        self.is_up = False
        self.coordinator.close()
        self.runner.close(seconds=0)


class Fleet:
    """Nodes that share a ledger and a clock; time passes in small steps for all of them."""

    def __init__(
        self, ledger: Ledger, clock: FrozenClock, settings: ControlSettings | None = None
    ) -> None:
        self.ledger = ledger
        self.clock = clock
        self.settings = settings or ControlSettings(settle_seconds=0)
        self.nodes: list[Node] = []
        self.events: list[Event] = []
        self.plan: Plan = lambda _run: (0.1, SUCCEEDED)
        self.runs: list[tuple[datetime, str, str]] = []

    def start(self, address: str, *, slots: int = 4) -> Node:
        """A new process at an address."""

        def planned(run: Run) -> tuple[float, RunResult | Ended]:
            self.runs.append((self.clock.now(), address, run.job.name))
            return self.plan(run)

        node = Node(
            self.ledger,
            self.clock,
            self.settings,
            address,
            plan=planned,
            slots=slots,
            tell=self.events.append,
        )
        self.nodes.append(node)
        return node

    def pass_time(self, seconds: float, step: float = 0.5) -> None:
        """Let everybody do what is due, again and again."""
        until = self.clock.now() + timedelta(seconds=seconds)
        self._step_all()
        while self.clock.now() < until:
            self.clock.advance(step)
            self._step_all()

    def _step_all(self) -> None:
        for node in self.nodes:
            if node.is_up:
                node.step()

    def owners(self) -> dict[str, str | None]:
        """Which address has each job of a view, as the ledger says."""
        addresses = {runner.id: runner.address for runner in self.ledger.runners.list()}
        return {
            job.name: addresses.get(job.owner or "")
            for job in self.ledger.jobs.list()
            if not job.name.startswith("sys$") and job.dropped_at is None
        }

    def job(self, name: str) -> JobRecord:
        (found,) = self.ledger.jobs.find(name)
        return found

    def runs_of(self, name: str) -> list[datetime]:
        return [at for at, _, job in self.runs if job == name]
