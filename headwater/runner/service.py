"""`headwater serve`: a runner, a coordinator that contends and a watch over the sources."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Self

import structlog

from headwater.config import Config
from headwater.control.alerts import Alerts, tell_log
from headwater.control.coordinator import Coordinator
from headwater.control.leader import Leader
from headwater.control.reaper import HistoryLimits, Reaper
from headwater.control.webhook import Webhook
from headwater.runner.backpressure import Backpressure
from headwater.runner.loop import Loop
from headwater.runner.metrics import Metrics, MetricsServer
from headwater.runner.pools import Pools, PoolSettings
from headwater.runner.refreshing import RefreshWork
from headwater.runner.registration import fresh_id
from headwater.runner.runner import Runner
from headwater.runner.watching import SourceWatch
from headwater.runner.workers import PooledWorkers
from headwater.store.ledger import Ledger
from headwater.vocabulary.errors import HeadwaterError, LedgerUnreachable
from headwater.vocabulary.settings import RunnerSettings
from headwater.workspace.workspace import Workspace

_STOP_SECONDS = 10.0

log = structlog.get_logger(__name__)


class Service:
    """All loops of one process. Close it, or use it in a `with` statement."""

    def __init__(self, workspace: Workspace) -> None:
        config, clock, ledger = workspace.config, workspace.clock, workspace.ledger
        self._workspace = workspace
        self._clock = clock
        self._every = timedelta(seconds=config.runner.watch_seconds)
        self._close_seconds = config.runner.close_seconds
        self._webhook = Webhook(config.runner.webhook) if config.runner.webhook else None
        alerts = Alerts(ledger, self._webhook or tell_log)
        self.metrics = Metrics()
        backpressure = Backpressure.of(config.runner, clock)
        self._pools = Pools(clock, PoolSettings.of(config.runner), backpressure)
        self.runner = Runner(
            ledger,
            clock,
            config.control,
            PooledWorkers(self._pools, RefreshWork(workspace, self.metrics), self.metrics),
            address=address_of(config),
            wake=self._wake,
            alerts=alerts,
            metrics=self.metrics,
        )
        self.leader = Leader(ledger.leases, fresh_id(), clock, config.control)
        self._coordinator = Coordinator(
            ledger,
            self.leader,
            lambda: self.runner.registration.known_id,
            clock,
            config.control,
            alerts=alerts,
            reaper=_reaper(ledger, config),
        )
        self._watch = SourceWatch(clock)
        self._watched: frozenset[str] = frozenset()
        self._loops = (
            Loop("runner", self.runner.step, clock),
            Loop("coordinator", self._coordinate, clock),
            Loop("watch", self._look, clock),
        )
        self._server = self._metrics_server(config.runner)
        self._is_closed = False

    # --- life -------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin; everything happens in threads of its own."""
        self._pools.watch()
        for loop in self._loops:
            loop.start()
        log.info("serving", runner=self.runner.registration.address)

    def close(self) -> None:
        """Lead no more, start nothing more, wait for what runs, leave; twice is harmless."""
        if self._is_closed:
            return
        self._is_closed = True
        self.runner.stop_starting()
        running, *others = self._loops
        for loop in others:
            loop.stop(_STOP_SECONDS)
        try:
            self._coordinator.close()
        except LedgerUnreachable as error:
            log.warning("left_without_a_word", error=error.what)
        # The runner goes on reporting meanwhile; what had to be canceled gets a moment to end.
        if not self._pools.close(self._close_seconds):
            self._pools.close(_STOP_SECONDS)
        running.stop(_STOP_SECONDS)
        self.runner.close(0)
        self._watch.close()
        if self._server is not None:
            self._server.close()
        if self._webhook is not None:
            self._webhook.close()
        log.info("closed", runner=self.runner.registration.address)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _wake(self) -> None:
        self._loops[0].wake()

    # --- loops ------------------------------------------------------------------------------

    def _coordinate(self) -> datetime:
        until = self._coordinator.step()
        term = self.leader.term
        self.metrics.leads(0 if term is None else term.number)
        return until

    def _look(self) -> datetime:
        """See what the sources did, for the views that follow them here."""
        followed = self.runner.followed
        if followed != self._watched:
            self._watch.follow(self._places(followed))
            self._watched = followed
        moved = [noticed.source for noticed in self._watch.look()]
        self.runner.noticed(moved)
        return self._clock.now() + self._every

    def _places(self, sources: frozenset[str]) -> Mapping[str, str]:
        found = {}
        self._workspace.reload()
        for source in sorted(sources):
            try:
                found[source] = self._workspace.path_of(source)
            except HeadwaterError as error:
                log.warning("source_unknown", source=source, error=error.what)
        return found

    # --- metrics ----------------------------------------------------------------------------

    def _metrics_server(self, runner: RunnerSettings) -> MetricsServer | None:
        self.metrics.watch_queues(
            lambda: {kind.value: state for kind, state in self._pools.state().items()}
        )
        self.metrics.watch_lags(lambda: self.runner.scheduler.lags(self._clock.now()))
        if not runner.metrics_port:
            return None
        return MetricsServer(self.metrics, runner.metrics_port, runner.metrics_address)


def address_of(config: Config) -> str:
    """What a runner is known by: two processes on one folder of one machine are one."""
    return config.runner.address or f"{socket.gethostname()}:{config.folder}"


def _reaper(ledger: Ledger, config: Config) -> Reaper:
    limits = HistoryLimits(
        config.claim_limit_seconds, config.history_keep_days, config.history_keep_rows
    )
    return Reaper(ledger, limits, every_seconds=config.control.reap_seconds)
