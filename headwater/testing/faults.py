"""A clock that is wrong and a database that sometimes does not answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from headwater.store.dialects import Database
from headwater.store.queries import Query
from headwater.vocabulary.clock import Clock
from headwater.vocabulary.errors import LedgerUnreachable

if TYPE_CHECKING:
    from sqlalchemy import Connection


class SkewedClock:
    """Another clock, off by some seconds."""

    def __init__(self, clock: Clock, seconds: float = 0.0) -> None:
        self._clock = clock
        self.seconds = seconds

    def now(self) -> datetime:
        return self._clock.now() + timedelta(seconds=self.seconds)

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)


class Fault(Enum):
    """What happens to a statement."""

    NONE = auto()
    LOST = auto()  # it never arrives
    ANSWER_LOST = auto()  # it takes effect, but the caller never learns of it


class FaultyDatabase:
    """A real database behind a bad line; `fault` decides about every statement.

    Inside a transaction an answer is lost for all of it: at the commit.
    """

    def __init__(self, inner: Database, fault: Callable[[], Fault]) -> None:
        self._inner = inner
        self._fault = fault
        self._depth = 0

    def rows(self, query: Query, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        fault = self._before()
        answer = self._inner.rows(query, parameters)
        self._after(fault)
        return answer

    def change(self, query: Query, parameters: Mapping[str, object]) -> int:
        fault = self._before()
        answer = self._inner.change(query, parameters)
        self._after(fault)
        return answer

    @contextmanager
    def transaction(self) -> Iterator[None]:
        if self._depth:
            yield
            return
        fault = self._before()
        self._depth += 1
        try:
            with self._inner.transaction():
                yield
        finally:
            self._depth -= 1
        self._after(fault)

    def revision(self) -> str | None:
        return self._inner.revision()

    def migration(self) -> AbstractContextManager[Connection]:
        return self._inner.migration()

    def close(self) -> None:
        """The inner one is others' too."""

    def _before(self) -> Fault:
        fault = Fault.NONE if self._depth else self._fault()
        if fault is Fault.LOST:
            raise LedgerUnreachable("the statement was lost")
        return fault

    def _after(self, fault: Fault) -> None:
        if fault is Fault.ANSWER_LOST:
            raise LedgerUnreachable("the answer was lost")
