"""Views for which only their schedules matter."""

from __future__ import annotations

from datetime import timedelta

from headwater.define.trigger import Every
from headwater.store import Ledger
from headwater.testing.fleet import define, source_def, view_def


def every(seconds: float) -> Every:
    return Every(timedelta(seconds=seconds))


def define_views(ledger: Ledger, count: int, **schedule: object) -> None:
    sources = [source_def(f"s{n}") for n in range(count)]
    views = [view_def(f"v{n}", f"s{n}", **schedule) for n in range(count)]  # type: ignore[arg-type]
    define(ledger, [*sources, *views])
