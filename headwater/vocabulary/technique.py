"""The ways a view can follow its sources, and the policies that limit them."""

from __future__ import annotations

from enum import StrEnum


class Technique(StrEnum):
    """How one refresh moves a view to its new frontier."""

    SKIP = "skip"  # nothing the view uses has changed
    APPEND = "append"  # only inserts into a monotone view: blind append
    DELTA = "delta"  # signed rows of linear operators and inner joins
    MERGE = "merge"  # add the change of the aggregates' state
    REKEY = "rekey"  # recompute the touched keys only
    REPLACE = "replace"  # overwrite whole partitions
    REBUILD = "rebuild"  # recompute everything


class Policy(StrEnum):
    """What a view's owner allows the planner to choose."""

    AUTO = "auto"  # the cheapest sound technique
    INCREMENTAL = "incremental"  # prefer incremental even where a rebuild looks cheaper
    STRICT = "strict"  # fail rather than rebuild
    FULL = "full"  # always rebuild
