"""Open a workspace: ledger first, Spark only when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.config import Config
from headwater.store.ledger import Ledger
from headwater.vocabulary.clock import Clock
from headwater.workspace.workspace import Observer, Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_workspace(
    config: Config,
    clock: Clock,
    *,
    spark: SparkSession | None = None,
    observer: Observer = lambda _step: None,
    progress: Callable[[str], None] | None = None,
) -> Workspace:
    """The session is the caller's own if one is given, else built from the configuration."""
    _make_folder(config.store)
    ledger = Ledger.open(config.store, clock, timeout_seconds=config.ledger_timeout_seconds)

    def session() -> SparkSession:
        from headwater.execute.session import adopt_session, build_session  # noqa: PLC0415

        if spark is not None:
            return adopt_session(spark)
        if progress is not None:
            progress("starting Spark ...")
        return build_session(config, progress)

    workspace = Workspace(
        config,
        ledger,
        clock,
        session=session,
        given_session=spark is not None,
        stop_session=_stop,
        observer=observer,
    )
    if not ledger.definitions.list() and Path(config.warehouse).is_dir():
        from headwater.workspace.recovery import rediscover  # noqa: PLC0415

        rediscover(workspace)
    return workspace


def _stop(spark: SparkSession) -> None:
    from headwater.execute.session import stop_session  # noqa: PLC0415

    stop_session(spark)


def _make_folder(store: str) -> None:
    if store.startswith("sqlite:///"):
        Path(store.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
