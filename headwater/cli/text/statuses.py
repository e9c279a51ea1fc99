"""How every view stands."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from headwater.answers.status import ViewStatus
from headwater.cli import figures
from headwater.cli.blocks import Table, table


def status_table(statuses: Iterable[ViewStatus], now: datetime) -> Table:
    """A line per view, newest knowledge first to read: is it behind, and when did it last move."""
    return table(
        "view state behind lag last_refresh technique next_run owner alert running error",
        [
            (
                status.view,
                status.state,
                _behind(status),
                _lag(status),
                figures.ago(status.last_success, now),
                status.last_technique or "",
                figures.until(status.next_run, now) or status.trigger.lower(),
                status.owner or "",
                "" if status.alert == "fine" else status.alert,
                status.running or "",
                status.last_error or "",
            )
            for status in statuses
        ],
        empty="no views yet; `headwater apply` builds those of the project",
    )


def _behind(status: ViewStatus) -> str:
    """Commits that each source is ahead by; `?` where its log cannot be read."""
    ahead = {source: count for source, count in status.behind.items() if count != 0}
    if not ahead:
        return "up to date" if status.behind else ""
    return ", ".join(
        f"{source} +{'?' if count is None else count}"
        f"{' (batch)' if source in status.dictionaries else ''}"
        for source, count in ahead.items()
    )


def _lag(status: ViewStatus) -> str:
    """How old the content is at most, against what it should be."""
    if status.lag_seconds is None:
        return ""
    shown = figures.seconds(status.lag_seconds) if status.lag_seconds else "0 s"
    target = status.target_lag_seconds
    return shown if target is None else f"{shown} of {figures.seconds(target)}"
