"""The one process that decides for all: jobs as defined, runners as alive, commands between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

import structlog

from headwater.control.alerts import Alerts
from headwater.control.balance import Snapshot, decide
from headwater.control.decisions import Decision, SendCommand, WithdrawCommand, carry_out
from headwater.control.duties import Identity, duties
from headwater.control.leader import Leader
from headwater.control.membership import Membership
from headwater.control.reaper import Reaper
from headwater.control.settings import pause_after
from headwater.define.definitions import Definitions
from headwater.define.stored import from_json
from headwater.store.encoding import json_value
from headwater.store.jobs import Duty
from headwater.store.leases import Term
from headwater.store.ledger import Ledger
from headwater.store.marks import Mark
from headwater.store.runners import RunnerRecord
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.errors import LeaseLost
from headwater.vocabulary.settings import ControlSettings

_WRITES_AT_ONCE = 500
"""Decisions in one transaction: enough to be quick, few enough to let others in between."""

log = structlog.get_logger(__name__)


class Coordinator:
    """Contends for the lease; while it leads, looks every tick and acts where something changed.

    A look reads marks and runners. A pass reads everything, decides, and writes under the term. It
    follows a change, or a pause that grows with its own cost, so that long lists do not keep a core
    busy.
    """

    def __init__(
        self,
        ledger: Ledger,
        leader: Leader,
        own: Callable[[], str],
        clock: Clock,
        settings: ControlSettings,
        *,
        alerts: Alerts,
        reaper: Reaper,
    ) -> None:
        self._ledger = ledger
        self._leader = leader
        self._own = own
        self._clock = clock
        self._settings = settings
        self._alerts = alerts
        self._reaper = reaper
        self._membership = Membership(settings.silent_seconds)
        self._duties: tuple[int, Mapping[Identity, Duty]] | None = None
        self._marks: Mapping[str, int] = {}
        self._next_pass: datetime | None = None
        self._was_balancing = False

    def step(self) -> datetime:
        """Contend, and if leading look and act; returns when to come again."""
        if not self._leader.step():
            self._forget()
            return self._clock.now() + timedelta(seconds=self._settings.tick_seconds)
        term = self._leader.term
        if term is not None:
            try:
                self._look(term)
            except LeaseLost:
                self._forget()
        return self._clock.now() + timedelta(seconds=self._settings.tick_seconds)

    def close(self) -> None:
        """Let somebody else lead at once."""
        self._leader.step_down()
        self._forget()

    def _forget(self) -> None:
        self._membership.forget()
        self._marks, self._next_pass, self._was_balancing = {}, None, False

    def _look(self, term: Term) -> None:
        now = self._clock.now()
        marks = self._ledger.marks.read()
        runners = self._ledger.runners.list()
        silent = self._membership.observe(runners, now)
        if self._is_due(marks, silent, now):
            self._pass(term, marks, runners, silent)
        self._reaper.step(now)

    def _is_due(self, marks: Mapping[str, int], silent: frozenset[str], now: datetime) -> bool:
        return (
            self._next_pass is None
            or now >= self._next_pass
            or marks != self._marks
            or bool(silent - {self._own()})
            or self._is_settled(now) != self._was_balancing
        )

    def _is_settled(self, now: datetime) -> bool:
        since = self._leader.leading_since
        return since is not None and now - since >= timedelta(seconds=self._settings.settle_seconds)

    def _pass(
        self,
        term: Term,
        marks: Mapping[str, int],
        runners: tuple[RunnerRecord, ...],
        silent: frozenset[str],
    ) -> None:
        began = self._clock.now()
        self._was_balancing = self._is_settled(began)
        seen = self._snapshot(marks, runners, silent, began)
        self._stay(term)
        decisions = decide(seen, self._settings, balancing=self._was_balancing)
        self._write(decisions, term)
        self._alerts.check(seen.jobs, began, complete=True)
        unfinished = bool(seen.pending or seen.failed)
        self._next_pass = self._following(began, len(decisions), unfinished=unfinished)
        self._marks = marks

    def _following(self, began: datetime, decisions: int, *, unfinished: bool) -> datetime:
        """At once where a pass was too short for all its commands, soon where some are open."""
        now, settings = self._clock.now(), self._settings
        if decisions >= settings.commands_per_pass:
            return now
        least = settings.poll_seconds if unfinished else settings.reconcile_seconds
        return now + pause_after(least, now - began)

    def _snapshot(
        self,
        marks: Mapping[str, int],
        runners: tuple[RunnerRecord, ...],
        silent: frozenset[str],
        now: datetime,
    ) -> Snapshot:
        longest = timedelta(seconds=2 * self._settings.retry_longest_seconds)
        return Snapshot(
            now,
            self._own(),
            self._wanted(marks.get(Mark.DEFINITIONS, 0)),
            self._ledger.jobs.list(),
            runners,
            silent,
            self._ledger.commands.pending(),
            self._ledger.commands.failed(now - longest),
        )

    def _wanted(self, revision: int) -> Mapping[Identity, Duty]:
        """What the definitions ask for; read again only when they have changed."""
        if self._duties is None or self._duties[0] != revision:
            records = self._ledger.definitions.list()
            known = Definitions.of(from_json(json_value(record.text)) for record in records)
            dictionaries = timedelta(seconds=self._settings.dictionary_seconds)
            wanted = duties(known, dictionaries, self._settings.purge_hour)
            self._duties = (revision, wanted)
        return self._duties[1]

    def _stay(self, term: Term) -> None:
        """Renew in the middle of a pass, which may take longer than the lease lasts."""
        self._leader.step()
        if self._leader.term != term:
            raise LeaseLost(f"the term {term.number} ended during a pass")

    def _write(self, decisions: tuple[Decision, ...], term: Term) -> None:
        """All under the term, in a few transactions; the loser of the lease writes nothing."""
        for start in range(0, len(decisions), _WRITES_AT_ONCE):
            some = decisions[start : start + _WRITES_AT_ONCE]
            self._stay(term)
            with self._ledger.leases.held(term):
                for decision in some:
                    carry_out(decision, self._ledger, term, self._clock.now())
                if any(isinstance(each, (SendCommand, WithdrawCommand)) for each in some):
                    self._ledger.marks.bump(Mark.COMMANDS)
        if decisions:
            log.info("decided", count=len(decisions), term=term.number)
