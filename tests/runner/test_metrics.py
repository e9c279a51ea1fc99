"""The metrics, read as Prometheus reads them."""

from __future__ import annotations

import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from headwater.runner.metrics import Metrics, MetricsServer, code_of
from headwater.vocabulary.errors import HistoryGone, PortUnusable, SparkFailed
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique


@dataclass(frozen=True)
class Waiting:
    queued: int
    running: int


Samples = dict[tuple[str, str], float]


def scraped(server: MetricsServer) -> Samples:
    """Sample and label value -> number, over HTTP."""
    address = f"http://127.0.0.1:{server.port}/metrics"
    with urllib.request.urlopen(address, timeout=10) as answer:
        text = answer.read().decode()
    return {
        (sample.name, ",".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def receipt(technique: Technique, seconds: float, inserted: int, deleted: int) -> Receipt:
    return Receipt(
        attempt="a",
        view="v",
        technique=technique,
        frontier=Frontier({}),
        frontier_before=Frontier({}),
        sequence=1,
        table_version=1,
        rows_inserted=inserted,
        rows_deleted=deleted,
        started_at=datetime(2030, 1, 1, tzinfo=UTC),
        seconds=seconds,
    )


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def server(metrics: Metrics):
    opened = MetricsServer(metrics, 0)
    yield opened
    opened.close()
    opened.close()


def test_everything_is_told_over_http(metrics: Metrics, server: MetricsServer) -> None:
    """Queues, running, lag, refresh seconds, rows, retries, failures and the term are there."""
    queues = {"refresh": Waiting(3, 2), "purge": Waiting(0, 1)}
    lags = {"revenue": 4.5, "orders": 0.0}
    metrics.watch_queues(lambda: queues)
    metrics.watch_lags(lambda: lags)
    metrics.refreshed(receipt(Technique.MERGE, 0.7, 5, 2))
    metrics.refreshed(receipt(Technique.MERGE, 20, 1, 0))
    metrics.failed("SPARK_FAILED", retried=True)
    metrics.failed("HISTORY_GONE", retried=False)
    metrics.missed(2)
    metrics.timed_out("refresh")
    metrics.leads(7)
    found = scraped(server)
    wanted = {
        ("headwater_queue_length", "refresh"): 3,
        ("headwater_running", "refresh"): 2,
        ("headwater_queue_length", "purge"): 0,
        ("headwater_running", "purge"): 1,
        ("headwater_view_lag_seconds", "revenue"): 4.5,
        ("headwater_view_lag_seconds", "orders"): 0,
        ("headwater_views", ""): 2,
        ("headwater_refresh_seconds_count", "merge"): 2,
        ("headwater_refresh_seconds_sum", "merge"): 20.7,
        ("headwater_refresh_seconds_count", "append"): 0,
        ("headwater_rows_total", "inserted"): 6,
        ("headwater_rows_total", "deleted"): 2,
        ("headwater_retries_total", ""): 1,
        ("headwater_failures_total", "SPARK_FAILED"): 1,
        ("headwater_failures_total", "HISTORY_GONE"): 1,
        ("headwater_missed_runs_total", ""): 2,
        ("headwater_time_limits_total", "refresh"): 1,
        ("headwater_leader_term", ""): 7,
    }
    assert {key: found.get(key) for key in wanted} == pytest.approx(wanted)
    queues["refresh"] = Waiting(0, 0)
    del lags["orders"]
    metrics.leads(0)
    found = scraped(server)
    assert found["headwater_queue_length", "refresh"] == 0
    assert ("headwater_view_lag_seconds", "orders") not in found, "a view that is gone is not told"
    assert found["headwater_leader_term", ""] == 0


def test_every_metric_is_documented(metrics: Metrics) -> None:
    """Each has a row in the operations page, under the name that Prometheus shows."""
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text("utf-8")
    metrics.watch_queues(dict)
    metrics.watch_lags(dict)
    for family in metrics.registry.collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        assert f"| `{name}` |" in page


def test_the_number_of_series_is_bounded(metrics: Metrics, server: MetricsServer) -> None:
    """Of very many views those furthest behind are told; unknown codes are one series."""
    metrics.watch_lags(lambda: {f"v{n}": float(n) for n in range(5000)}, most_views=10)
    for number in range(100):
        metrics.failed(f"MADE_UP_{number}", retried=False)
    found = scraped(server)
    lagging = {label for name, label in found if name == "headwater_view_lag_seconds"}
    assert lagging == {f"v{n}" for n in range(4990, 5000)}
    assert found["headwater_views", ""] == 5000
    failures = {label for name, label in found if name == "headwater_failures_total"}
    assert failures == {"OTHER"}


def test_labels_are_escaped(metrics: Metrics, server: MetricsServer) -> None:
    """Names may hold anything."""
    metrics.watch_lags(lambda: {'so "called"\n$v': 1.0})
    assert scraped(server)["headwater_view_lag_seconds", 'so "called"\n$v'] == 1


def test_a_port_that_is_taken_is_a_coded_error(server: MetricsServer) -> None:
    """Two processes on one port: the second is told so."""
    with pytest.raises(PortUnusable, match=str(server.port)):
        MetricsServer(Metrics(), server.port)
    with pytest.raises(PortUnusable):
        MetricsServer(Metrics(), 99_999)


def test_errors_are_counted_by_code() -> None:
    """Ours under their own code, all others as what they are: unforeseen."""
    assert code_of(SparkFailed("x")) == "SPARK_FAILED"
    assert code_of(HistoryGone("x")) == "HISTORY_GONE"
    assert code_of(KeyError("x")) == "INTERNAL_ERROR"
