"""Relations that are named once go into the text of whoever names them.

A temporary view is a command of its own to Spark, analysed and recorded like a query: some 5 ms for
each of the dozen small steps of a refresh, most of which one other step reads.

    __hw_2_filter: SELECT * FROM __hw_1_orders WHERE v > 5
    __hw_3_rows:   WITH __hw_2_filter AS (SELECT * FROM __hw_1_orders WHERE v > 5)
                   SELECT k FROM __hw_2_filter
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from headwater.plan.steps import Derive
from headwater.plan.usage import named_in
from headwater.vocabulary.names import quoted

_BEGINS_WITH = re.compile(r"\s*WITH\b", re.IGNORECASE)

Texts = dict[str, str]
"""Relation -> its query, each before those that name it."""


class Inlined:
    """The relations of one plan that are texts so far."""

    def __init__(self, mentions: Mapping[str, int], written: Collection[str]) -> None:
        self._mentions = mentions
        self._written = written
        self._texts: dict[str, Texts] = {}

    def takes(self, step: Derive, sql: str) -> bool:
        """Whether nobody needs the relation but the one step that names it."""
        if step.once or self._mentions.get(step.name, 0) != 1 or step.name in self._written:
            return False
        self._texts[step.name] = {**self._below(sql), step.name: sql}
        return True

    def whole(self, sql: str) -> str:
        """A query with the texts of all that it names."""
        below = self._below(sql)
        if not below:
            return sql
        told = ", ".join(f"{quoted(name)} AS (\n{text}\n)" for name, text in below.items())
        asked = f"SELECT * FROM (\n{sql}\n)" if _BEGINS_WITH.match(sql) else sql
        return f"WITH {told}\n{asked}"

    def _below(self, sql: str) -> Texts:
        found: Texts = {}
        for name in named_in(sql):
            found |= self._texts.get(name, {})
        return found
