"""What execution hands to the commit: relations ready to be written, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.steps import RefreshPlan
from headwater.vocabulary.receipt import StepCost

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Staged:
    """A plan whose relations exist in a session of their own; nothing has touched the view."""

    session: SparkSession
    plan: RefreshPlan
    rows: Mapping[str, int]  # relation -> rows, for those that were made once
    costs: tuple[StepCost, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return self.rows.get(self.plan.write.relation, 1) == 0
