"""`headwater.open`: the library's face. It delegates; every verb lives in a file of its own."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from headwater.attempt.request import Request
from headwater.config import Config, load_config
from headwater.define.kind import canonical
from headwater.graph.chosen import named_views
from headwater.graph.iteration import Outcome
from headwater.graph.pins import AsOf
from headwater.graph.refreshing import refresh_views
from headwater.vocabulary.clock import Clock, SystemClock
from headwater.vocabulary.errors import HeadwaterError, UnknownName, WrongUse
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique
from headwater.workspace.opening import open_workspace
from headwater.workspace.workspace import Observer, Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.answers.explaining import Explanation
    from headwater.answers.status import ViewStatus
    from headwater.answers.verify import Verification
    from headwater.define.diagnostics import Report
    from headwater.project.applying import Action
    from headwater.store.attempt_record import AttemptRecord


class Headwater:
    """An open project. Close it, or use it in a `with` statement."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    @property
    def spark(self) -> SparkSession:
        """The session; every source and ready view can be queried in it by name."""
        from headwater.answers.reading import register_names  # noqa: PLC0415  (loads only where Spark runs)

        register_names(self.workspace)
        return self.workspace.spark

    def sql(self, text: str) -> DataFrame | None:
        """Carry out statements; the result of the last one, if it is a query."""
        from headwater.project.statements import run_statements  # noqa: PLC0415

        return run_statements(self.workspace, text)

    def refresh(
        self,
        *names: str,
        technique: str | Technique | None = None,
        full: bool = False,
        only: bool = False,
        as_of: AsOf = None,
        dictionaries: bool = True,
    ) -> Receipt:
        """Refresh a view and what it is computed from; the receipt of the (last) named view.

        A handler's name stands for its views. Without `dictionaries`, BATCH sources stay where the
        views have read them.
        """
        if not names:
            raise WrongUse("name the view to refresh")
        outcome = self.refresh_all(
            names,
            technique=technique,
            full=full,
            only=only,
            as_of=as_of,
            dictionaries=dictionaries,
        )
        if outcome.failures:
            raise next(iter(outcome.failures.values()))
        return outcome.receipts[named_views(self.workspace, names)[-1]]

    def refresh_all(
        self,
        names: Iterable[str] = (),
        *,
        technique: str | Technique | None = None,
        full: bool = False,
        only: bool = False,
        as_of: AsOf = None,
        dictionaries: bool = True,
        told: Callable[[Receipt], None] = lambda _receipt: None,
    ) -> Outcome:
        """Refresh several views (all, if none is named); failures are collected, not raised."""
        wanted = list(names) or sorted(self.workspace.definitions.views)
        request = Request(technique=_technique(technique), full=full, dictionaries=dictionaries)
        return refresh_views(self.workspace, wanted, request, only=only, as_of=as_of, told=told)

    def table(self, name: str) -> DataFrame:
        """A view or source as a DataFrame, visible columns only."""
        from headwater.answers.reading import table  # noqa: PLC0415

        return table(self.workspace, name)

    def verify(self, name: str, *, where: str | None = None) -> Verification:
        """Compare a view with its query at its frontier."""
        from headwater.answers.verify import verify_view  # noqa: PLC0415

        return verify_view(self.workspace, canonical(name), where=where)

    def explain(self, name: str) -> Explanation:
        """What the next refresh would do, and why the other techniques are not open."""
        from headwater.answers.explaining import explain_view  # noqa: PLC0415

        self.workspace.view(name)
        return explain_view(self.workspace, canonical(name))

    def changes(self, name: str, since: int = 0, until: int | None = None) -> DataFrame:
        """A view's own changes after a version of its table, visible columns only."""
        from headwater.answers.reading import changes  # noqa: PLC0415

        return changes(self.workspace, name, since, until)

    def check(self, *, with_spark: bool = True) -> Report:
        """Check the project folder's definitions; writes nothing."""
        from headwater.project.verbs import check_project  # noqa: PLC0415

        return check_project(self.workspace, with_spark=with_spark)[0]

    def plan(self) -> list[Action]:
        """What `apply` would do."""
        from headwater.project.verbs import plan_project  # noqa: PLC0415

        return plan_project(self.workspace)

    def apply(self, told: Callable[[Action], None] = lambda _action: None) -> list[Action]:
        """Bring the views in line with the project folder's definitions."""
        from headwater.project.verbs import apply_project  # noqa: PLC0415

        return apply_project(self.workspace, told)

    def status(self) -> list[ViewStatus]:
        """Every view: state, frontier, how far behind, last refresh."""
        from headwater.answers.status import view_statuses  # noqa: PLC0415

        return view_statuses(self.workspace)

    def history(
        self, view: str | None = None, *, limit: int = 20, before: str | None = None
    ) -> tuple[AttemptRecord, ...]:
        """Attempts, newest first."""
        name = canonical(view) if view else None
        self.workspace.ledger.claims.sweep(self.workspace.clock.now())
        return self.workspace.ledger.attempts.list(name, limit=limit, before=before)

    def cancel(self, attempt: str, by: str = "api") -> bool:
        """Ask a running attempt to stop; false if it is not running."""
        workspace = self.workspace
        if workspace.ledger.attempts.get(attempt) is None:
            raise UnknownName(f"no attempt `{attempt}`", hint="`headwater history` lists them")
        return workspace.ledger.attempts.request_cancel(attempt, by, workspace.clock.now())

    def close(self) -> None:
        """Close the ledger and the session, if it was started here; twice is harmless."""
        self.workspace.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def open(  # noqa: A001  (the public name)
    project: str | Path | None = None,
    *,
    store: str | None = None,
    warehouse: str | None = None,
    spark: SparkSession | None = None,
    config: Mapping[str, Any] | None = None,
    clock: Clock | None = None,
    observer: Observer = lambda _step: None,
    progress: Callable[[str], None] | None = None,
) -> Headwater:
    """Open a project folder, or a store and a warehouse without one."""
    flags = {"store": store, "warehouse": warehouse, **(config or {})}
    given = {key: value for key, value in flags.items() if value is not None}
    folder = Path(project) if project is not None else None
    settings: Config = load_config(folder, os.environ, given)
    workspace = open_workspace(
        settings, clock or SystemClock(), spark=spark, observer=observer, progress=progress
    )
    return Headwater(workspace)


def _technique(value: str | Technique | None) -> Technique | None:
    if value is None:
        return None
    try:
        return Technique(value)
    except ValueError:
        known = ", ".join(builtins.list(Technique))
        raise WrongUse(f"no technique `{value}`", hint=f"one of {known}") from None


__all__ = ["Headwater", "HeadwaterError", "open"]
