"""Where and how a view's table is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.vocabulary.stamp import Stamp


@dataclass(frozen=True)
class Target:
    """The table of a view and the stamp of the refresh that writes it."""

    path: str
    stamp: Stamp
    partitioned_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    reshapes: bool = False  # the table's columns are not those of the view any more
    plain_text: bool = False  # a new table keeps no note of CHAR columns


TABLE_PROPERTIES: Mapping[str, str] = {
    "delta.enableChangeDataFeed": "true",
    "delta.checkpointInterval": "50",
}
"""A change feed for whoever follows the view; few checkpoints, because each takes longer than a
small refresh."""
