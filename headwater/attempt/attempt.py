"""One attempt to refresh a view: claim, heartbeat, cancel, and a history row that always closes."""

from __future__ import annotations

import math
import threading
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Self

from headwater.attempt.request import Request
from headwater.store.claims import Claim
from headwater.store.owner import this_process
from headwater.vocabulary.errors import (
    CommitUnsettled,
    HeadwaterError,
    LedgerUnreachable,
    RefreshCanceled,
)
from headwater.vocabulary.frontier import Frontier
from headwater.vocabulary.receipt import AttemptState, Receipt
from headwater.workspace.workspace import Workspace


def new_attempt_id() -> str:
    return uuid.uuid4().hex[:16]


class Attempt:
    """Holds a view's claim while it is entered; leaving it gives the claim back, always."""

    def __init__(
        self, workspace: Workspace, view: str, *, request: Request, frontier: Frontier
    ) -> None:
        self.id = new_attempt_id()
        self.view = view
        self._workspace = workspace
        self._request = request
        self._frontier = frontier
        self._claim: Claim | None = None
        self._stop = threading.Event()
        self._lost = threading.Event()
        self._canceled = threading.Event()
        self._thread: threading.Thread | None = None
        self._receipt: Receipt | None = None

    @property
    def tag(self) -> str:
        """The tag of all Spark jobs of this attempt."""
        return f"headwater-{self.id}"

    @property
    def seconds_left(self) -> float:
        """Until whoever asked for the attempt stops it."""
        ends_at = self._request.ends_at
        if ends_at is None:
            return math.inf
        return (ends_at - self._workspace.clock.now()).total_seconds()

    def __enter__(self) -> Self:
        workspace, now = self._workspace, self._workspace.clock.now()
        limit = workspace.config.claim_limit_seconds
        self._claim = workspace.ledger.claims.claim(self.view, self.id, this_process(), now, limit)
        self._begin(workspace, now)
        return self

    def _begin(self, workspace: Workspace, now: datetime) -> None:
        try:
            self._open(workspace, now)
        except BaseException:
            self.quietly(lambda: workspace.ledger.claims.release(self._require_claim()))
            raise

    def _open(self, workspace: Workspace, now: datetime) -> None:
        workspace.ledger.attempts.start(
            self.id,
            self.view,
            self._request.job or self.view,
            manual=self._request.manual,
            started_at=now,
            frontier_before=self._frontier,
            delay_seconds=self._request.delay(now),
        )
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat-{self.id}", daemon=True)
        self._thread.start()
        workspace.running[self.id] = self.cancel

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._workspace.running.pop(self.id, None)
        try:
            self._close(error)
        finally:
            if self._claim is not None:
                self.quietly(lambda: self._workspace.ledger.claims.release(self._require_claim()))

    def cancel(self) -> None:
        """Stop before the commit: Spark's jobs now, the rest at the next checkpoint."""
        self._canceled.set()
        self._cancel_jobs()

    def checkpoint(self, step: str) -> None:
        """Between two steps: tell the observer, and stop if somebody asked for it."""
        self._workspace.observer(step)
        self.stop_if_asked(f"before {step}")

    def finish(self) -> None:
        """The last moment to stop is over: the commit begins."""
        self.checkpoint("commit")
        self.quietly(lambda: self._workspace.ledger.claims.finish(self._require_claim()))

    def stop_if_asked(self, when: str) -> None:
        """Raise if somebody asked for it; also the true cause where Spark's jobs were cancelled."""
        if self._canceled.is_set():
            raise RefreshCanceled(f"attempt {self.id} of {self.view} was canceled {when}")
        if self._lost.is_set():
            raise RefreshCanceled(f"attempt {self.id} of {self.view} lost its claim {when}")

    def succeed(self, receipt: Receipt) -> None:
        """From here on the attempt has succeeded, whatever still goes wrong on the way out."""
        self._receipt = receipt

    def quietly(self, write: Callable[[], object]) -> None:
        """A ledger that is away must not undo or hide what the view's own log says."""
        try:
            write()
        except LedgerUnreachable:
            return

    def _finish(
        self,
        state: AttemptState,
        *,
        receipt: Receipt | None = None,
        error: Mapping[str, object] | None = None,
    ) -> None:
        ended_at = self._workspace.clock.now()
        attempts = self._workspace.ledger.attempts
        self.quietly(
            lambda: attempts.finish(self.id, state, receipt=receipt, error=error, ended_at=ended_at)
        )

    def _require_claim(self) -> Claim:
        if self._claim is None:
            raise RuntimeError("the attempt was not entered")
        return self._claim

    def _close(self, error: BaseException | None) -> None:
        """Close the history row by what is known of the view, not by how the call ended."""
        if error is None or self._receipt is not None:
            self._finish(AttemptState.SUCCEEDED, receipt=self._receipt)
        elif isinstance(error, HeadwaterError):
            self._finish(_state_after(error), error=error.to_json())
        else:
            self._finish(_state_after(error), error={"what": f"{type(error).__name__}: {error}"})

    def _beat(self) -> None:
        """Renew the claim and look for a cancel request until the attempt ends."""
        ledger, clock = self._workspace.ledger, self._workspace.clock
        while not self._stop.wait(self._workspace.config.heartbeat_seconds):
            try:
                if not ledger.claims.renew(self._require_claim(), clock.now()):
                    self._lost.set()
                ledger.attempts.heartbeat(self.id, clock.now())
                if ledger.attempts.cancel_requested(self.id):
                    self._canceled.set()
            except LedgerUnreachable:
                continue
            if self._canceled.is_set() or self._lost.is_set():
                self._cancel_jobs()

    def _cancel_jobs(self) -> None:
        spark = self._workspace.started_spark
        if spark is not None:
            spark.sparkContext.cancelJobsWithTag(self.tag)


def _state_after(error: BaseException) -> AttemptState:
    if isinstance(error, (RefreshCanceled, KeyboardInterrupt)):
        return AttemptState.CANCELED
    return AttemptState.ORPHANED if isinstance(error, CommitUnsettled) else AttemptState.FAILED
