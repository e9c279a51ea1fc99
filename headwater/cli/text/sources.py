"""What the views are made from."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.answers.sources import SourceStatus
from headwater.cli.blocks import Table, table


def sources_table(sources: Iterable[SourceStatus]) -> Table:
    """A line per source; without a change feed its snapshots have to be compared."""
    return table(
        "source place cadence version feed key read_by error",
        [
            (
                source.name,
                source.place,
                source.cadence,
                "" if source.version is None else str(source.version),
                {True: "on", False: "off", None: ""}[source.has_feed],
                ", ".join(source.key),
                ", ".join(source.readers),
                f"{source.error.code} {source.error.what}" if source.error else "",
            )
            for source in sources
        ],
        right="version",
        empty="no sources yet; `headwater apply` registers those of the project",
    )
