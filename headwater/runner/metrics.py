"""What a runner tells Prometheus.

The number of series is bounded: labels come from closed sets, and lag is told for so many views
only, those furthest behind first.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headwater.vocabulary import errors
from headwater.vocabulary.errors import HeadwaterError, InternalError, PortUnusable
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique

MOST_VIEWS = 1000
_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_OTHER = "OTHER"
_CODES = frozenset(
    error("").code
    for error in vars(errors).values()
    if isinstance(error, type) and issubclass(error, HeadwaterError) and error.number
)


class Queue(Protocol):
    """One kind of work: how much of it waits and how much runs."""

    @property
    def queued(self) -> int: ...

    @property
    def running(self) -> int: ...


Queues = Callable[[], Mapping[str, Queue]]
Lags = Callable[[], Mapping[str, float]]


class Metrics:
    """Counts what happens; what merely is (queues, lags) is asked for when somebody reads."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._refreshes = self._histogram()
        self._rows = self._counter("rows", "Rows written to views", "change")
        self._retries = self._counter("retries", "Failed jobs that will be tried again")
        self._failures = self._counter("failures", "Failed jobs by the code of their error", "code")
        self._missed = self._counter("missed_runs", "Scheduled times at which no run began")
        self._timed_out = self._counter("time_limits", "Work that took longer than it may", "kind")
        self._term = Gauge(
            "headwater_leader_term",
            "The term in which this process leads, 0 if it does not",
            registry=self.registry,
        )
        for technique in Technique:
            self._refreshes.labels(technique.value)
        for change in ("inserted", "deleted"):
            self._rows.labels(change)

    def refreshed(self, receipt: Receipt) -> None:
        """A refresh succeeded."""
        self._refreshes.labels(receipt.technique.value).observe(receipt.seconds)
        self._rows.labels("inserted").inc(receipt.rows_inserted)
        self._rows.labels("deleted").inc(receipt.rows_deleted)

    def failed(self, code: str, *, retried: bool) -> None:
        """A job failed; codes that no error of ours has are counted as one."""
        self._failures.labels(code if code in _CODES else _OTHER).inc()
        if retried:
            self._retries.inc()

    def missed(self, times: int) -> None:
        """Scheduled times passed without a run."""
        self._missed.inc(times)

    def timed_out(self, kind: str) -> None:
        self._timed_out.labels(kind).inc()

    def leads(self, term: int) -> None:
        """This process leads in a term; 0 when it does not."""
        self._term.set(term)

    def watch_queues(self, queues: Queues) -> None:
        """Ask for the queues at every reading."""
        self.registry.register(_QueueCollector(queues))

    def watch_lags(self, lags: Lags, most_views: int = MOST_VIEWS) -> None:
        """Ask at every reading how many seconds each view is behind."""
        self.registry.register(_LagCollector(lags, most_views))

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"headwater_{name}", about, labels, registry=self.registry)

    def _histogram(self) -> Histogram:
        return Histogram(
            "headwater_refresh_seconds",
            "How long successful refreshes took, by technique",
            ["technique"],
            buckets=_SECONDS,
            registry=self.registry,
        )


class MetricsServer:
    """The metrics on a port, until closed."""

    def __init__(self, metrics: Metrics, port: int, address: str = "127.0.0.1") -> None:
        """Open the port; 0 takes any that is free."""
        try:
            self._server, self._thread = start_http_server(port, address, metrics.registry)
        except (OSError, OverflowError) as error:
            raise PortUnusable(
                f"metrics cannot be told on {address}:{port}: {error}", where=f"{address}:{port}"
            ) from error
        self.port = int(self._server.server_port)

    def close(self) -> None:
        """Give the port back; twice is harmless."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


def code_of(error: BaseException) -> str:
    """The code under which an error is counted."""
    return error.code if isinstance(error, HeadwaterError) else InternalError("").code


class _QueueCollector(Collector):
    def __init__(self, queues: Queues) -> None:
        self._queues = queues

    def collect(self) -> Iterable[Metric]:
        queued = _gauge("queue_length", "Work that waits for a worker", "kind")
        running = _gauge("running", "Work that runs", "kind")
        for kind, queue in self._queues().items():
            queued.add_metric([kind], queue.queued)
            running.add_metric([kind], queue.running)
        return queued, running

    def describe(self) -> Iterable[Metric]:
        return ()


class _LagCollector(Collector):
    def __init__(self, lags: Lags, most_views: int) -> None:
        self._lags = lags
        self._most_views = most_views

    def collect(self) -> Iterable[Metric]:
        lags = self._lags()
        lag = _gauge("view_lag_seconds", "How long a view's content has been out of date", "view")
        for view in heapq.nlargest(self._most_views, lags, key=lambda name: lags[name]):
            lag.add_metric([view], lags[view])
        views = _gauge("views", "Views that this process keeps")
        views.add_metric([], len(lags))
        return lag, views

    def describe(self) -> Iterable[Metric]:
        return ()


def _gauge(name: str, about: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"headwater_{name}", about, labels=labels)
